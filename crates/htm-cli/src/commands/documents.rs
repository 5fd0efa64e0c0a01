//! `htm load`, `htm unload` and `htm documents`.

mod files;
mod report;
mod tried;
mod watch;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use htm_core::{Caller, DocumentInfo, Htm, TagPath};
use htm_documents::{Cutting, MAX_FILE_BYTES, PdfReader, Unreadable, read_with};
use htm_runtime::commands::{in_namespace, quoted};
use htm_runtime::config::Config;

use self::files::{File, Files, Missing};
use self::report::{LeftOut, NO_FILES, Report};
use self::tried::{Holds, Stamp, Tried};
use super::notes::tell_unknown;
use super::runtime::{with_htm, with_runtime};
use crate::args::{DocumentsArgs, LoadArgs, UnloadArgs, parse_tags};
use crate::codes;
use crate::error::CliError;
use crate::output::{Output, count, limited, one_line, plain, table};

/// The documents that one call lists.
const PAGE: usize = 1_000;

/// The age at which an empty file is left as it is. A program may write the text after it has emptied the file.
const SETTLED: Duration = Duration::from_secs(10);

/// The stamp of a file that is gone.
const GONE: Option<Stamp> = Some((0, SystemTime::UNIX_EPOCH));

pub(crate) async fn load(config: &Config, args: LoadArgs, output: &Output) -> Result<ExitCode, CliError> {
    let most = args.size / 2;
    if args.overlap > most {
        let what = format!("--overlap {} is more than half of --size {}", args.overlap, args.size);
        return Err(CliError::new(codes::USAGE, what).with_hint(format!("give an overlap of at most {most}")));
    }
    let files = Files::new(&args.paths, &args.globs)?;
    let report = with_runtime(config, async |runtime| {
        let mut loader = Loader::new(runtime.htm(), args)?;
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

/// Loads files, again and again if it has to.
struct Loader {
    htm: Htm,
    args: LoadArgs,
    tags: Vec<TagPath>,
    caller: Caller,
    tried: Tried,
    /// The documents that the memory refuses to forget, by their paths.
    refused: Tried,
}

impl Loader {
    fn new(htm: Htm, args: LoadArgs) -> Result<Self, CliError> {
        let tags = parse_tags(htm.tag_rules(), &args.tags)?;
        let caller = Caller::from(args.caller.clone());
        Ok(Self { htm, args, tags, caller, tried: Tried::default(), refused: Tried::default() })
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
                    report.leave_out(LeftOut { path, reason, detail, passages: 0, named })
                }
            }
        }
        self.tried.retain(all.iter().map(|file| file.place.as_path()));
        let bar = output.progress(all.len() as u64, "files");
        for file in &all {
            report.leave(output);
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
        if let Some(last) = self.tried.last(&file.place, stamp, Instant::now()) {
            match &last.left_out {
                Some(left_out) => report.leave_out(left_out.clone()),
                None => report.unchanged += 1,
            }
            return Ok(());
        }
        let left_out = self.load(file, report).await?;
        if let Some((left_out, _)) = &left_out {
            report.leave_out(left_out.clone());
        }
        self.tried.note(&file.place, stamp, left_out, Instant::now());
        Ok(())
    }

    /// Loads a file. Returns why it was left out, if it was.
    async fn load(&self, file: &File, report: &mut Report) -> Result<Option<(LeftOut, Holds)>, CliError> {
        let bytes = match file.read(MAX_FILE_BYTES as u64) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return self.leave_out(file, Unreadable::TooLarge, report).await.map(Some),
            Err(error) => {
                let (path, named) = (file.path.clone(), file.named);
                let (reason, detail) = (files::reason(&error).to_owned(), error.to_string());
                return Ok(Some((LeftOut { path, reason, detail, passages: 0, named }, Holds::Briefly)));
            }
        };
        let cutting = Cutting {
            size: self.args.size as usize,
            overlap: self.args.overlap as usize,
            ..Cutting::default()
        };
        let (path, size) = (file.path.clone(), bytes.len() as u64);
        let read = move || read_with(&path, &bytes, &cutting, &PdfReader::this_program());
        let read = tokio::task::spawn_blocking(read).await;
        let mut read = match read.unwrap_or(Err(Unreadable::Damaged)) {
            Ok(read) => read,
            Err(reason) => return self.leave_out(file, reason, report).await.map(Some),
        };
        let (pages, date) = (std::mem::take(&mut read.pages_left_out), read.date_left_out.take());
        let front_matter = read.front_matter_left_out.take();
        let (mut document, tags) = read.document(&file.path, size, self.htm.tag_rules(), &self.tags);
        document.namespace = self.namespace().map(Into::into);
        let loaded = match self.args.dry_run {
            true => self.htm.plan_document(&document, &self.caller).await,
            false => self.htm.load_document(&document, &self.caller).await,
        };
        match loaded {
            Ok(loaded) => report.add(loaded),
            Err(error) => return Ok(Some((LeftOut::refused(&file.path, error)?, Holds::AWhile))),
        }
        let path = || file.path.clone();
        report.tags_left_out.extend((!tags.is_empty()).then(|| (path(), tags)));
        report.pages_left_out.extend((!pages.is_empty()).then(|| (path(), pages)));
        report.dates_left_out.extend(date.map(|date| (path(), date)));
        report.front_matters_left_out.extend(front_matter.map(|reason| (path(), reason)));
        Ok(None)
    }

    /// Leaves out a file that is no document. One without a text has none of its former passages any more. Nothing is known
    /// of the text of another one, so what the memory has of it stays, and so it does while a watch waits for a new text.
    async fn leave_out(
        &self,
        file: &File,
        reason: Unreadable,
        report: &mut Report,
    ) -> Result<(LeftOut, Holds), CliError> {
        let (mut detail, mut passages) = (reason.describe(), 0);
        let is_empty = reason == Unreadable::Empty;
        let is_awaited = is_empty && self.args.watch && !is_settled(file);
        let known = self.htm.documents(self.namespace(), Some(&file.path), None, 1).await?;
        if let Some(known) = known.iter().find(|it| it.path == file.path) {
            if is_empty && !is_awaited {
                if let Some(refused) = self.forget(known, report).await? {
                    return Ok((refused, Holds::AWhile));
                }
            } else if known.passages > 0 {
                passages = known.passages;
                let kept = count(passages, "passage");
                detail.push_str(&format!("; the memory keeps {kept} of its former text"));
            }
        }
        let holds = match reason {
            Unreadable::TooSlow | Unreadable::NoReader => Holds::AWhile,
            _ if is_awaited => Holds::Briefly,
            _ => Holds::WhileSame,
        };
        let (path, reason, named) = (file.path.clone(), reason.as_ref().to_owned(), file.named);
        Ok((LeftOut { path, reason, detail, passages, named }, holds))
    }

    /// Forgets a document. Returns why the memory refuses it, if it does.
    async fn forget(
        &self,
        document: &DocumentInfo,
        report: &mut Report,
    ) -> Result<Option<LeftOut>, CliError> {
        if !self.args.dry_run {
            let unloaded = self.htm.unload_documents(self.namespace(), &document.path, &self.caller).await;
            if let Err(error) = unloaded {
                return LeftOut::refused(&document.path, error).map(Some);
            }
        }
        report.removed.push(document.path.clone());
        report.forgotten += document.passages;
        Ok(None)
    }

    /// Forgets the document of a file that is gone. If the memory refuses it, it is tried less and less often.
    async fn forget_gone(
        &mut self,
        document: &DocumentInfo,
        report: &mut Report,
    ) -> Result<Option<LeftOut>, CliError> {
        let path = Path::new(&document.path);
        if let Some(last) = self.refused.last(path, GONE, Instant::now()) {
            return Ok(last.left_out.clone());
        }
        let refused = self.forget(document, report).await?;
        if let Some(refused) = refused.clone() {
            self.refused.note(path, GONE, Some((refused, Holds::AWhile)), Instant::now());
        }
        Ok(refused)
    }

    /// Unloads the documents at or below the paths whose files are gone, but none where not one file was found.
    async fn forget_removed(&mut self, files: &Files, report: &mut Report) -> Result<(), CliError> {
        let mut spared = BTreeSet::new();
        let mut stay = BTreeSet::new();
        for root in files.roots() {
            let mut after: Option<String> = None;
            loop {
                let page = self.htm.documents(self.namespace(), Some(root), after.as_deref(), PAGE).await?;
                let gone = files.gone(root, &page);
                spared.extend(gone.empty.into_iter().map(str::to_owned));
                for document in gone.removed {
                    if let Some(refused) = self.forget_gone(document, report).await? {
                        stay.insert(refused.path.clone());
                        report.leave_out(refused);
                    }
                }
                match page.last().filter(|_| page.len() == PAGE) {
                    Some(last) => after = Some(last.path.clone()),
                    None => break,
                }
            }
        }
        self.refused.retain(stay.iter().map(Path::new));
        for root in spared {
            let detail = format!(
                "no file was found there, as where a drive is not mounted, so none of its documents was forgotten; \
                 `htm unload {}{}` forgets them",
                quoted(&root),
                self.args.caller.typed()
            );
            report.leave_out(LeftOut {
                path: root,
                reason: NO_FILES.to_owned(),
                detail,
                passages: 0,
                named: true,
            });
        }
        Ok(())
    }
}

/// Whether a file was not changed lately.
fn is_settled(file: &File) -> bool {
    file.stamp().is_some_and(|(_, changed)| changed.elapsed().is_ok_and(|age| age >= SETTLED))
}

pub(crate) async fn unload(config: &Config, args: UnloadArgs, output: &Output) -> Result<ExitCode, CliError> {
    let namespace = args.caller.namespace.clone();
    let caller = Caller::from(args.caller);
    let unloaded =
        with_htm(config, async |htm| htm.unload_documents(namespace.as_deref(), &args.path, &caller).await)
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
    let documents = with_htm(config, async |htm| {
        let namespace = args.namespace.as_deref();
        let found = htm.documents(namespace, args.below.as_deref(), None, args.limit).await?;
        if found.is_empty() {
            tell_unknown(htm, namespace.as_slice(), output).await?;
        }
        Ok(found)
    })
    .await?;
    let zone = config.time.settings().zone;
    output.value(&documents, || {
        if documents.is_empty() {
            let of = plain(&in_namespace(args.namespace.as_deref()));
            return format!("no documents; load some: `htm load PATH{of}`");
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
        text + &limited(documents.len(), args.limit)
    });
    Ok(ExitCode::SUCCESS)
}
