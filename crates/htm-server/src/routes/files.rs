//! `/v1/files`: files below `/memories`, with the commands of Anthropic's memory tool. A body is the input of the tool as
//! the language model gave it.

use axum::Json;
use htm_core::{FileReply, Files};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::codes;
use crate::extract::{Asked, Body};
use crate::idempotency::{Once, answer_of};
use crate::problem::{Problem, Result};
use crate::routes::memories::caller;

/// The path that only reads.
pub(crate) fn reads() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(view))
}

pub(crate) fn writes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(create))
        .routes(routes!(str_replace))
        .routes(routes!(insert))
        .routes(routes!(delete))
        .routes(routes!(rename))
}

/// The files that are written, and who writes.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Writing {
    /// The namespace. Default: the server's.
    namespace: Option<String>,
    /// The robot that writes: it may change the files that it created. Default: the server's.
    robot: Option<String>,
    /// Whether files of any robot may be changed.
    #[serde(default)]
    any_robot: bool,
}

impl Writing {
    fn files<'a>(&'a self, app: &'a App, once: &'a Once) -> Result<Files<'a>> {
        let caller = caller(app, self.namespace.clone(), self.robot.clone(), self.any_robot);
        let files = app.htm.files(self.namespace.as_deref(), caller)?;
        Ok(files.keeping(once.keeps(answer_of)))
    }
}

/// The command of an input has to be that of the path.
fn check_command(given: Option<&str>, of_path: &str) -> Result<()> {
    match given {
        Some(given) if given != of_path => {
            let problem = format!("the command is `{given}`, and the path is that of `{of_path}`");
            Err(Problem::new(codes::BODY_INVALID, problem))
        }
        _ => Ok(()),
    }
}

/// A file or a directory to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FileView {
    /// `view`, or not given.
    command: Option<String>,
    /// Its path, `/memories` or below.
    path: String,
    /// The first and the last line of a file, from 1. -1 is the end of the file.
    view_range: Option<Vec<i64>>,
}

/// View a file with its line numbers, or list a directory.
#[utoipa::path(post, path = "/v1/files/view", tag = "files", params(Writing), request_body = FileView,
    responses((status = 200, body = FileReply)))]
async fn view(
    app: App,
    // A caller may have one query string for all commands. The reader's name is ignored.
    Asked(Writing { namespace, .. }): Asked<Writing>,
    Body(body): Body<FileView>,
) -> Result<Json<FileReply>> {
    check_command(body.command.as_deref(), "view")?;
    let files = app.htm.files(namespace.as_deref(), Default::default())?;
    Ok(Json(files.view(&body.path, body.view_range.as_deref()).await?))
}

/// A file to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FileCreation {
    /// `create`, or not given.
    command: Option<String>,
    /// Its path, below `/memories`.
    path: String,
    /// Its text, at most 1 MiB.
    file_text: String,
}

/// Create a file.
#[utoipa::path(post, path = "/v1/files/create", tag = "files", params(Writing), request_body = FileCreation,
    responses((status = 200, body = FileReply)))]
async fn create(
    app: App,
    Asked(who): Asked<Writing>,
    once: Once,
    Body(body): Body<FileCreation>,
) -> Result<Json<FileReply>> {
    check_command(body.command.as_deref(), "create")?;
    Ok(Json(who.files(&app, &once)?.create(&body.path, &body.file_text).await?))
}

/// A text of a file to replace.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FileReplacement {
    /// `str_replace`, or not given.
    command: Option<String>,
    /// The path of the file.
    path: String,
    /// The text to replace, which occurs exactly once.
    old_str: String,
    /// The text in its place.
    new_str: String,
}

/// Replace a text of a file.
#[utoipa::path(post, path = "/v1/files/str_replace", tag = "files", params(Writing),
    request_body = FileReplacement, responses((status = 200, body = FileReply)))]
async fn str_replace(
    app: App,
    Asked(who): Asked<Writing>,
    once: Once,
    Body(body): Body<FileReplacement>,
) -> Result<Json<FileReply>> {
    check_command(body.command.as_deref(), "str_replace")?;
    Ok(Json(who.files(&app, &once)?.str_replace(&body.path, &body.old_str, &body.new_str).await?))
}

/// Lines to insert into a file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FileInsertion {
    /// `insert`, or not given.
    command: Option<String>,
    /// The path of the file.
    path: String,
    /// The number of the line that they follow; 0 is the beginning.
    insert_line: i64,
    /// The lines.
    insert_text: String,
}

/// Insert lines into a file.
#[utoipa::path(post, path = "/v1/files/insert", tag = "files", params(Writing), request_body = FileInsertion,
    responses((status = 200, body = FileReply)))]
async fn insert(
    app: App,
    Asked(who): Asked<Writing>,
    once: Once,
    Body(body): Body<FileInsertion>,
) -> Result<Json<FileReply>> {
    check_command(body.command.as_deref(), "insert")?;
    Ok(Json(who.files(&app, &once)?.insert(&body.path, body.insert_line, &body.insert_text).await?))
}

/// A file or a directory to delete.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FileDeletion {
    /// `delete`, or not given.
    command: Option<String>,
    /// Its path, below `/memories`.
    path: String,
}

/// Delete a file, or a directory with all files below it.
///
/// Their memories are forgotten. Each can be restored until it is purged.
#[utoipa::path(post, path = "/v1/files/delete", tag = "files", params(Writing), request_body = FileDeletion,
    responses((status = 200, body = FileReply)))]
async fn delete(
    app: App,
    Asked(who): Asked<Writing>,
    once: Once,
    Body(body): Body<FileDeletion>,
) -> Result<Json<FileReply>> {
    check_command(body.command.as_deref(), "delete")?;
    Ok(Json(who.files(&app, &once)?.delete(&body.path).await?))
}

/// A file or a directory to rename.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FileRenaming {
    /// `rename`, or not given.
    command: Option<String>,
    /// Its path, below `/memories`.
    old_path: String,
    /// Its new path, where nothing is.
    new_path: String,
}

/// Rename a file, or a directory with all files below it.
#[utoipa::path(post, path = "/v1/files/rename", tag = "files", params(Writing), request_body = FileRenaming,
    responses((status = 200, body = FileReply)))]
async fn rename(
    app: App,
    Asked(who): Asked<Writing>,
    once: Once,
    Body(body): Body<FileRenaming>,
) -> Result<Json<FileReply>> {
    check_command(body.command.as_deref(), "rename")?;
    Ok(Json(who.files(&app, &once)?.rename(&body.old_path, &body.new_path).await?))
}
