//! Files below `/memories`, with the commands of Anthropic's memory tool. A file is the memory whose key is its path: it
//! has revisions, it is embedded, and recall finds it.

use std::collections::HashSet;

use sqlx::PgConnection;

use crate::api::edit::{Edit, Edited};
use crate::api::htm::Htm;
use crate::model::caller::{Caller, refuse_others};
use crate::model::error::{Error, Result, codes};
use crate::model::files::listing::listing;
use crate::model::files::path::FilePath;
use crate::model::files::text::{self, FileChange};
use crate::model::files::{
    BLANK_TEXT, FileReply, KIND, destination_exists, exists, is_directory, is_root, not_found,
    nothing_to_read, stored,
};
use crate::model::forget::ForgetReason;
use crate::model::id::NodeId;
use crate::model::learning::Signal;
use crate::model::memory::Memory;
use crate::model::operations::Kept;
use crate::model::remember::Outcome;
use crate::store::connections::Tx;
use crate::store::files::{self as store, File};
use crate::store::{forget, operations};

/// The attempts of an edit whose file others edit at the same time. Of the edits of a file at one moment, one succeeds in
/// each round.
const ATTEMPTS: u32 = 32;

/// The files of a namespace. Directories exist through the files in them.
///
/// The replies and the errors have the texts of Anthropic's memory tool.
///
/// ```no_run
/// # async fn example(htm: htm_core::Htm) -> htm_core::Result<()> {
/// let files = htm.files(Some("mara"), htm_core::Caller::AnyRobot)?;
/// files.create("/memories/notes.md", "Mara prefers tabs.\n").await?;
/// files.str_replace("/memories/notes.md", "tabs", "spaces").await?;
/// println!("{}", files.view("/memories", None).await?.content);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Files<'a> {
    htm: &'a Htm,
    namespace: &'a str,
    caller: Caller,
    kept: Option<Kept<'a, FileReply>>,
}

impl Htm {
    /// The files of a namespace (default: the handle's), for a caller who may change those that it created.
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, `robot_forbidden`.
    pub fn files<'a>(&'a self, namespace: Option<&'a str>, caller: Caller) -> Result<Files<'a>> {
        self.admit_caller(&caller)?;
        Ok(Files { htm: self, namespace: self.namespace_or_own(namespace)?, caller, kept: None })
    }
}

impl<'a> Files<'a> {
    /// Lets a command commit with its answer to a retry, for an operation that was
    /// [begun](Htm::begin_operation). After a crash between the two, a retry would otherwise insert a text twice.
    pub fn keeping(self, kept: Option<Kept<'a, FileReply>>) -> Self {
        Self { kept, ..self }
    }

    /// Reads a file with its line numbers, or lists a directory to two levels. `range` has the first and the last line
    /// of a file, from 1; -1 is the end of the file.
    ///
    /// # Errors
    /// `file_path_invalid`, `file_not_found`, `file_line_invalid`, `file_too_many_lines`, or a database error.
    pub async fn view(&self, path: &str, range: Option<&[i64]>) -> Result<FileReply> {
        let path = FilePath::parse(path)?;
        let mut connection = self.htm.pool().acquire().await?;
        if let Some(file) = store::at(&mut connection, self.namespace, &path).await? {
            let content = text::view(&path, &file.text, range)?;
            return Ok(FileReply { content, nodes: vec![file.node], revision: Some(file.revision) });
        }
        let files = store::below(&mut connection, self.namespace, &path).await?;
        if files.is_empty() && !path.is_root() {
            return Err(nothing_to_read(&path));
        }
        let sizes = files.iter().map(|file| (file.key.as_str(), file.bytes as u64));
        Ok(FileReply { content: listing(&path, sizes), nodes: Vec::new(), revision: None })
    }

    /// Creates a file. A file of up to 1 MiB may be created, also an empty one.
    ///
    /// # Errors
    /// `file_path_invalid`, `file_exists`, and those of [`Htm::remember`].
    pub async fn create(&self, path: &str, text: &str) -> Result<FileReply> {
        let path = FilePath::parse(path)?;
        let mut tx = self.hold().await?;
        if path.is_root() || self.is_taken(&mut tx, &path).await? {
            return Err(exists(&path));
        }
        self.refuse_files_above(&mut tx, &path).await?;
        let (content, blank) = stored(text);
        let mut memory = Memory {
            kind: Some(KIND.into()),
            ..Memory::new(content)
                .namespace(self.namespace)
                .robot(self.caller.robot(self.htm.settings()))
                .key(path.as_str())
        };
        if !blank.is_null() {
            memory = memory.metadata(BLANK_TEXT, blank);
        }
        let pending = match self.htm.remember_within(&mut tx, memory).await {
            Ok(pending) if pending.receipt().outcome == Outcome::Written => pending,
            // Another call has remembered something with this key meanwhile.
            Ok(_) => return Err(exists(&path)),
            Err(error) if error.is(codes::KEY_TAKEN) => return Err(exists(&path)),
            Err(error) => return Err(error),
        };
        let content = format!("File created successfully at: {path}");
        let reply = FileReply { content, nodes: vec![pending.receipt().node], revision: Some(1) };
        self.commit(tx, &reply).await?;
        pending.notify();
        Ok(reply)
    }

    /// Replaces a text that occurs exactly once in a file. The edits of several callers at the same time are all kept.
    ///
    /// # Errors
    /// `file_path_invalid`, `file_not_found`, `file_is_directory`, `file_edit_unfit`, and those of [`Htm::edit`].
    pub async fn str_replace(&self, path: &str, old: &str, new: &str) -> Result<FileReply> {
        self.change(path, |path, text| text::replace(path, text, old, new)).await
    }

    /// Inserts lines after the line of this number; 0 is the beginning of the file.
    ///
    /// # Errors
    /// `file_path_invalid`, `file_not_found`, `file_is_directory`, `file_line_invalid`, and those of [`Htm::edit`].
    pub async fn insert(&self, path: &str, line: i64, inserted: &str) -> Result<FileReply> {
        self.change(path, |path, text| text::insert(path, text, line, inserted)).await
    }

    /// Forgets a file, or all files below a directory. [`Htm::restore`] brings each back until it is purged.
    ///
    /// # Errors
    /// `file_path_invalid`, `file_not_found`, `not_owner`, or a database error. Nothing is forgotten then.
    pub async fn delete(&self, path: &str) -> Result<FileReply> {
        let path = FilePath::parse(path)?;
        if path.is_root() {
            return Err(is_root("delete"));
        }
        let mut tx = self.hold().await?;
        let files = self.files_of(&mut tx, &path).await?;
        let locked = self.lock(&mut tx, &files).await?;
        let nodes: Vec<NodeId> = files.into_iter().map(|(node, _)| node).collect();
        forget::forget_in_tx(&mut tx, &locked, ForgetReason::Asked).await?;
        let reply = FileReply { content: format!("Successfully deleted {path}"), nodes, revision: None };
        self.keep_in_tx(&mut tx, &reply).await?;
        forget::note_in_tx(&mut tx, &locked).await?;
        tx.commit().await?;
        self.htm.give_room_of(&locked).await;
        self.htm.signal(self.namespace, Signal::Forgotten, &reply.nodes).await;
        Ok(reply)
    }

    /// Renames a file, or a directory with all files below it.
    ///
    /// # Errors
    /// `file_path_invalid`, `file_not_found`, `file_exists`, `not_owner`, or a database error. Nothing is renamed then.
    pub async fn rename(&self, old: &str, new: &str) -> Result<FileReply> {
        let (old, new) = (FilePath::parse(old)?, FilePath::parse(new)?);
        if old.is_root() {
            return Err(is_root("rename"));
        }
        let mut tx = self.hold().await?;
        if new.is_root() || self.is_taken(&mut tx, &new).await? {
            return Err(destination_exists(&new));
        }
        let files = self.files_of(&mut tx, &old).await?;
        if new.is_below(&old) {
            let message = format!("Cannot rename {old} to {new}, which is below it");
            return Err(Error::new(codes::FILE_PATH_INVALID, message));
        }
        self.refuse_files_above(&mut tx, &new).await?;
        self.lock(&mut tx, &files).await?;
        let (nodes, keys): (Vec<NodeId>, Vec<String>) = files.into_iter().unzip();
        let paths = keys.iter().map(|key| old.moved(key, &new)).collect::<Result<Vec<FilePath>>>()?;
        match store::rename_in_tx(&mut tx, self.namespace, &nodes, &paths).await {
            // Another call has remembered something with such a key meanwhile.
            Err(error) if error.violates("nodes_namespace_key_key") => return Err(destination_exists(&new)),
            result => result?,
        }
        let content = format!("Successfully renamed {old} to {new}");
        let reply = FileReply { content, nodes, revision: None };
        self.commit(tx, &reply).await?;
        Ok(reply)
    }

    /// Commits a command with its answer.
    async fn commit(&self, mut tx: Tx, reply: &FileReply) -> Result<()> {
        self.keep_in_tx(&mut tx, reply).await?;
        Ok(tx.commit().await?)
    }

    async fn keep_in_tx(&self, connection: &mut PgConnection, reply: &FileReply) -> Result<()> {
        operations::keep_in_tx(connection, self.kept, reply).await
    }

    /// Begins a transaction that no other command that creates, renames or deletes runs beside.
    async fn hold(&self) -> Result<Tx> {
        let mut tx = self.htm.pool().begin().await?;
        store::hold_in_tx(&mut tx, self.namespace).await?;
        Ok(tx)
    }

    /// Whether there is a file or a directory at the path.
    async fn is_taken(&self, tx: &mut PgConnection, path: &FilePath) -> Result<bool> {
        let file = store::files_among(tx, self.namespace, std::slice::from_ref(path)).await?;
        Ok(!file.is_empty() || !store::below(tx, self.namespace, path).await?.is_empty())
    }

    /// Refuses a path with a file in the place of a directory.
    async fn refuse_files_above(&self, tx: &mut PgConnection, path: &FilePath) -> Result<()> {
        let above = path.above();
        let found = store::files_among(tx, self.namespace, &above).await?;
        let file = above.iter().find(|path| found.iter().any(|(_, key)| key == path.as_str()));
        file.map_or(Ok(()), |file| Err(exists(file)))
    }

    /// The file at the path, or all files below it, with their keys.
    async fn files_of(&self, tx: &mut PgConnection, path: &FilePath) -> Result<Vec<(NodeId, String)>> {
        let mut files = store::files_among(tx, self.namespace, std::slice::from_ref(path)).await?;
        if files.is_empty() {
            let below = store::below(tx, self.namespace, path).await?;
            files = below.into_iter().map(|file| (file.node, file.key)).collect();
        }
        if files.is_empty() { Err(not_found(path)) } else { Ok(files) }
    }

    /// Locks files that the caller may change. Fails if an edit has moved one meanwhile, or one was forgotten.
    async fn lock(&self, tx: &mut PgConnection, files: &[(NodeId, String)]) -> Result<Vec<forget::Locked>> {
        let nodes: Vec<NodeId> = files.iter().map(|(node, _)| *node).collect();
        let locked = forget::lock_in_tx(tx, &nodes).await?;
        for node in &locked {
            refuse_others(self.caller.owner(self.htm.settings()), node.id, node.owner())?;
        }
        let paths: Vec<FilePath> =
            files.iter().map(|(_, key)| FilePath::parse(key)).collect::<Result<_>>()?;
        let now: HashSet<(NodeId, String)> =
            store::files_among(tx, self.namespace, &paths).await?.into_iter().collect();
        if !files.iter().all(|file| now.contains(file)) {
            return Err(Error::contended());
        }
        Ok(locked)
    }

    /// Edits a file's text, again if others edited it meanwhile.
    async fn change(
        &self,
        path: &str,
        change: impl Fn(&FilePath, &str) -> Result<FileChange>,
    ) -> Result<FileReply> {
        let path = FilePath::parse(path)?;
        for _ in 0..ATTEMPTS {
            let file = self.read(&path).await?;
            let FileChange { text, reply } = change(&path, &file.text)?;
            let (content, blank) = stored(&text);
            let edit = Edit::new()
                .content(content)
                .metadata(BLANK_TEXT, blank)
                .expected_revision(file.revision)
                .caller(self.caller.clone());
            let reply = |edited: &Edited| FileReply {
                content: reply.clone(),
                nodes: vec![file.node],
                revision: Some(edited.revision),
            };
            let keep = async |connection: &mut PgConnection, edited: &Edited| {
                self.keep_in_tx(connection, &reply(edited)).await
            };
            match self.htm.edit_and(file.node, &edit, keep).await {
                Ok(edited) => return Ok(reply(&edited)),
                // It is read again: it has another text, or it is deleted.
                Err(error) if error.is(codes::REVISION_CONFLICT) || error.is(codes::NODE_NOT_FOUND) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::contended())
    }

    /// The file at a path.
    async fn read(&self, path: &FilePath) -> Result<File> {
        let mut connection = self.htm.pool().acquire().await?;
        if let Some(file) = store::at(&mut connection, self.namespace, path).await? {
            return Ok(file);
        }
        let is_listed =
            path.is_root() || !store::below(&mut connection, self.namespace, path).await?.is_empty();
        Err(if is_listed { is_directory(path) } else { nothing_to_read(path) })
    }
}
