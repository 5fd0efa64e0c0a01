//! `htm load`, `htm unload` and `htm documents`.

mod files;
mod report;
mod watch;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Instant, SystemTime};

use htm_core::fault::Fault;
use htm_core::{Caller, DocumentInfo, Htm, LoadedDocument, TagPath};
use htm_documents::{Cutting, MAX_FILE_BYTES, Unreadable, read};
use htm_runtime::config::Config;

use self::files::{File, Files, Missing};
use self::report::{LeftOut, NO_FILES, Report};
use super::session::with_session;
use crate::args::{DocumentsArgs, LoadArgs, UnloadArgs, parse_tags};
use crate::error::CliError;
use crate::output::{Output, count, one_line, table};

/// The documents that one call lists.
const PAGE: usize = 1_000;

pub(crate) async fn load(config: &Config, args: LoadArgs, output: &Output) -> Result<ExitCode, CliError> {
    let files = Files::new(&args.paths, &args.globs)?;
    let report = with_session(config, async |session| {
        let mut loader = Loader::new(session.htm(), args)?;
        match loader.args.watch {
            true => watch::run(&mut loader, &files, output).await,
            false => loader.pass(&files, output).await.map(Some),
        }
    })
    .await?;
    let Some(report) = report else { return Ok(ExitCode::SUCCESS) };
    output.value(&report, || report.describe());
    Ok(report.exit_code())
}

/// The size and the time of change of a file.
type Stamp = (u64, SystemTime);

/// Loads files, again and again if it has to.
struct Loader {
    htm: Htm,
    args: LoadArgs,
    tags: Vec<TagPath>,
    caller: Caller,
    /// The files that were loaded as they are.
    loaded: HashMap<PathBuf, Stamp>,
    /// The roots without files whose documents the last pass has spared.
    spared: BTreeSet<String>,
}

impl Loader {
    fn new(htm: Htm, args: LoadArgs) -> Result<Self, CliError> {
        let tags = parse_tags(htm.tag_rules(), &args.tags)?;
        let caller = Caller::from(args.caller.clone());
        Ok(Self { htm, args, tags, caller, loaded: HashMap::new(), spared: BTreeSet::new() })
    }

    fn namespace(&self) -> Option<&str> {
        self.args.caller.namespace.as_deref()
    }

    /// Loads what has changed since the last pass.
    async fn pass(&mut self, files: &Files, output: &Output) -> Result<Report, CliError> {
        let started = Instant::now();
        let mut report = Report::new(self.args.dry_run);
        let mut all = Vec::new();
        for found in files.find() {
            match found {
                Ok(file) => all.push(file),
                Err(Missing { path, reason, detail, named }) => {
                    report.leave_out(LeftOut { path, reason, detail, named })
                }
            }
        }
        // A file that comes back with its former size and time is loaded again.
        let found: HashSet<_> = all.iter().map(|file| &file.place).collect();
        self.loaded.retain(|place, _| found.contains(place));
        let bar = output.progress(all.len() as u64, "files");
        for file in &all {
            bar.set_message("load");
            self.file(file, &mut report).await?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        if self.args.forget_removed {
            self.forget_removed(files, &mut report).await?;
        }
        report.seconds = started.elapsed().as_secs_f64();
        Ok(report)
    }

    async fn file(&mut self, file: &File, report: &mut Report) -> Result<(), CliError> {
        let stamp = file.stamp();
        if stamp.is_some() && self.loaded.get(&file.place) == stamp.as_ref() {
            report.unchanged += 1;
            return Ok(());
        }
        let leave_out = |reason: &str, detail: String| LeftOut {
            path: file.path.clone(),
            reason: reason.to_owned(),
            detail,
            named: file.named,
        };
        let unreadable = |reason: Unreadable| leave_out(reason.as_ref(), reason.describe());
        let cutting = Cutting {
            size: self.args.size as usize,
            overlap: self.args.overlap as usize,
            ..Cutting::default()
        };
        let cut = match file.read(MAX_FILE_BYTES as u64) {
            Ok(Some(bytes)) => {
                let path = file.path.clone();
                let size = bytes.len() as u64;
                let read = tokio::task::spawn_blocking(move || read(&path, &bytes, &cutting)).await;
                read.unwrap_or(Err(Unreadable::Damaged)).map(|read| (read, size)).map_err(unreadable)
            }
            Ok(None) => Err(unreadable(Unreadable::TooLarge)),
            Err(error) => Err(leave_out(files::reason(&error), error.to_string())),
        };
        let (read, size) = match cut {
            Ok(cut) => cut,
            Err(left_out) => {
                report.leave_out(left_out);
                self.remember(file, stamp);
                return Ok(());
            }
        };
        let (mut document, tags) = read.document(&file.path, size, self.htm.tag_rules(), &self.tags);
        document.namespace = self.namespace().map(Into::into);
        if !tags.is_empty() {
            report.tags_left_out.insert(file.path.clone(), tags);
        }
        let loaded: htm_core::Result<LoadedDocument> = match self.args.dry_run {
            true => self.htm.plan_document(&document, &self.caller).await,
            false => self.htm.load_document(&document, &self.caller).await,
        };
        match loaded {
            Ok(loaded) => {
                report.add(loaded);
                self.remember(file, stamp);
            }
            Err(error) if error.fault() == Fault::User => {
                report.leave_out(LeftOut { named: true, ..leave_out(error.code(), error.to_string()) });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn remember(&mut self, file: &File, stamp: Option<Stamp>) {
        if let Some(stamp) = stamp {
            self.loaded.insert(file.place.clone(), stamp);
        }
    }

    /// Unloads the documents at or below the paths whose files are gone, but none where not one file was found.
    async fn forget_removed(&mut self, files: &Files, report: &mut Report) -> Result<(), CliError> {
        let mut spared = BTreeSet::new();
        for root in files.roots() {
            let below = (root != ".").then_some(root);
            let mut after: Option<String> = None;
            loop {
                let page = self.htm.documents(self.namespace(), below, after.as_deref(), PAGE).await?;
                let gone = files.gone(root, &page);
                spared.extend(gone.empty.into_iter().map(str::to_owned));
                for document in gone.removed {
                    report.removed.push(document.path.clone());
                    report.forgotten += document.passages;
                    if !self.args.dry_run {
                        self.htm.unload_documents(self.namespace(), &document.path, &self.caller).await?;
                    }
                }
                match page.last().filter(|_| page.len() == PAGE) {
                    Some(last) => after = Some(last.path.clone()),
                    None => break,
                }
            }
        }
        for root in &spared {
            report.leave_out(LeftOut {
                path: root.clone(),
                reason: NO_FILES.to_owned(),
                detail: "no file was found there, as where a drive is not mounted, so none of its documents was forgotten; \
                         `htm unload` forgets them"
                    .to_owned(),
                named: true,
            });
        }
        report.spares_more = !spared.is_subset(&self.spared);
        self.spared = spared;
        Ok(())
    }
}

pub(crate) async fn unload(config: &Config, args: UnloadArgs, output: &Output) -> Result<ExitCode, CliError> {
    let namespace = args.caller.namespace.clone();
    let caller = Caller::from(args.caller);
    let unloaded = with_session(config, async |session| {
        Ok(session.htm().unload_documents(namespace.as_deref(), &args.path, &caller).await?)
    })
    .await?;
    output.value(&unloaded, || {
        let documents = count(unloaded.documents.len(), "document");
        let shown: Vec<String> = unloaded.documents.iter().take(10).map(|path| one_line(path, 100)).collect();
        let more = unloaded.documents.len() - shown.len();
        let more = if more > 0 { format!("\n… and {more} more") } else { String::new() };
        format!(
            "{documents} unloaded, {} forgotten:\n{}{more}",
            count(unloaded.forgotten, "passage"),
            shown.join("\n")
        )
    });
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn list(
    config: &Config,
    args: DocumentsArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let documents = with_session(config, async |session| {
        let (namespace, below) = (args.namespace.as_deref(), args.below.as_deref());
        Ok(session.htm().documents(namespace, below, None, args.limit).await?)
    })
    .await?;
    let zone = config.time.settings().zone;
    output.value(&documents, || {
        if documents.is_empty() {
            return "no documents; load some: `htm load PATH`".into();
        }
        let row = |it: &DocumentInfo| {
            vec![
                one_line(&it.path, 80),
                it.kind.to_string(),
                it.passages.to_string(),
                zone.local(it.changed_at).format("%Y-%m-%d %H:%M").to_string(),
                one_line(it.title.as_deref().unwrap_or_default(), 60),
            ]
        };
        let header = ["path", "kind", "passages", "changed", "title"];
        let passages: u64 = documents.iter().map(|it| it.passages).sum();
        let mut text = table(&header, &[2], documents.iter().map(row).collect());
        text.push_str(&format!(
            "\n{} with {}",
            count(documents.len(), "document"),
            count(passages, "passage")
        ));
        if documents.len() == args.limit {
            text.push_str("; there may be more: --limit");
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}
