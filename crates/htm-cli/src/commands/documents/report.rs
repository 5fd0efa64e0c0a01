//! The report of a load, for people and programs.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use htm_core::fault::Fault;
use htm_core::{Error, LoadOutcome, LoadedDocument};
use serde::Serialize;
use serde_json::json;

use crate::error::CliError;
use crate::output::{Output, count, one_line};

/// The most paths of a kind that are shown to people.
const SHOWN: usize = 10;

/// The reason of a directory without files, whose documents are not forgotten.
pub(super) const NO_FILES: &str = "no_files";

/// The result of a load.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// Whether it only says what would be done.
    dry_run: bool,
    /// New documents.
    loaded: u64,
    /// Documents with another text.
    changed: u64,
    /// Documents without a change.
    pub(super) unchanged: u64,
    /// Documents whose files are gone, or have no text any more, and which were forgotten.
    pub(super) removed: Vec<String>,
    /// Passages that were written.
    written: u64,
    /// Passages of changed documents that stayed.
    kept: u64,
    /// Passages that were forgotten.
    pub(super) forgotten: u64,
    /// New and changed documents.
    documents: Vec<LoadedDocument>,
    /// The files that were not loaded.
    left_out: Vec<LeftOut>,
    /// The tags of front matters that are not valid, by document.
    pub(super) tags_left_out: BTreeMap<String, Vec<String>>,
    /// The pages that cannot be read, by document.
    pub(super) pages_left_out: BTreeMap<String, Vec<u32>>,
    /// The dates of front matters that cannot be read, by document.
    pub(super) dates_left_out: BTreeMap<String, String>,
    /// Why front matters cannot be read, by document.
    pub(super) front_matters_left_out: BTreeMap<String, String>,
    pub(super) seconds: f64,
}

/// The paths and reasons of left-out files.
pub(super) type Told = BTreeSet<(String, String)>;

/// A file that was not loaded.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LeftOut {
    pub(super) path: String,
    /// A stable code.
    pub(super) reason: String,
    /// The reason, for people.
    pub(super) detail: String,
    /// The passages of its former text, which stay in the memory.
    pub(super) passages: u64,
    /// Whether it is the caller's concern, because the command line names it or the memory refuses it.
    #[serde(skip)]
    pub(super) named: bool,
}

impl LeftOut {
    /// A document that the memory refuses. Other errors are not about it.
    pub(super) fn refused(path: &str, error: Error) -> Result<Self, CliError> {
        if error.fault() != Fault::User {
            return Err(error.into());
        }
        let (path, reason, detail) = (path.to_owned(), error.code().to_owned(), error.to_string());
        Ok(Self { path, reason, detail, passages: 0, named: true })
    }

    fn told(&self) -> (String, String) {
        (self.path.clone(), self.reason.clone())
    }
}

impl Report {
    pub(super) fn new(dry_run: bool) -> Self {
        Self { dry_run, ..Self::default() }
    }

    pub(super) fn add(&mut self, document: LoadedDocument) {
        *match document.outcome {
            LoadOutcome::Loaded => &mut self.loaded,
            LoadOutcome::Changed => &mut self.changed,
            LoadOutcome::Unchanged => &mut self.unchanged,
        } += 1;
        if document.outcome != LoadOutcome::Unchanged {
            self.written += document.written;
            self.kept += document.kept;
            self.forgotten += document.forgotten;
            self.documents.push(document);
        }
    }

    /// Has a command that a signal stops say how far it is.
    pub(super) fn leave(&self, output: &Output) {
        let Self { loaded, changed, unchanged, .. } = self;
        let answer = json!({ "stopped": true, "loaded": loaded, "changed": changed, "unchanged": unchanged });
        let text = match self.dry_run {
            true => "nothing was written".into(),
            false => format!(
                "{} loaded, {changed} changed, {unchanged} unchanged until then; load again: what has not changed is skipped",
                count(loaded, "document")
            ),
        };
        output.leaves(answer, text);
    }

    pub(super) fn leave_out(&mut self, file: LeftOut) {
        self.left_out.push(file);
    }

    pub(super) fn told(&self) -> Told {
        self.left_out.iter().map(LeftOut::told).collect()
    }

    /// Drops what was left out before for the same reason.
    pub(super) fn drop_told(&mut self, told: &Told) {
        self.left_out.retain(|it| !told.contains(&it.told()));
    }

    /// Whether nothing was done and nothing left out.
    pub(super) fn is_quiet(&self) -> bool {
        self.documents.is_empty() && self.removed.is_empty() && self.left_out.is_empty()
    }

    /// 2 if a file that the caller has named was not loaded, or the memory refused one.
    pub(super) fn exit_code(&self) -> ExitCode {
        if self.left_out.iter().any(|it| it.named) { ExitCode::from(2) } else { ExitCode::SUCCESS }
    }

    /// The text for people: the changes, what was left out, and the sums.
    pub(super) fn describe(&self) -> String {
        let mut text = self.describe_news();
        let [would, end] = if self.dry_run { ["would be ", "; nothing was done"] } else { ["", ""] };
        text.push_str(&format!(
            "{} {would}loaded, {} changed, {} unchanged, {} left out",
            count(self.loaded, "document"),
            self.changed,
            self.unchanged,
            count(self.left_out.len(), "file")
        ));
        if !self.removed.is_empty() {
            text.push_str(&format!(", {} removed", self.removed.len()));
        }
        text.push_str(&format!(
            "\n{} {would}written, {} kept, {} forgotten in {:.1} s{end}",
            count(self.written, "passage"),
            self.kept,
            self.forgotten,
            self.seconds
        ));
        text
    }

    /// The changes, and what was left out.
    pub(super) fn describe_news(&self) -> String {
        [self.describe_changes(), self.describe_parts_left_out(), self.describe_left_out()].concat()
    }

    /// A line for each document that changed.
    fn describe_changes(&self) -> String {
        let mut text = String::new();
        let [changed, removed, would] =
            if self.dry_run { ["change", "remove", "would be "] } else { ["changed", "removed", ""] };
        for document in self.documents.iter().take(SHOWN) {
            let LoadedDocument { path, outcome, written, kept, forgotten, .. } = document;
            let path = one_line(path, 100);
            text.push_str(&match outcome {
                LoadOutcome::Changed => {
                    let written = count(*written, "passage");
                    format!(
                        "{changed:7}  {path}: {written} {would}written, {kept} kept, {forgotten} forgotten\n"
                    )
                }
                _ => format!("new      {path}: {}\n", count(document.passages, "passage")),
            });
        }
        text.push_str(&more(self.documents.len(), "document"));
        for path in self.removed.iter().take(SHOWN) {
            text.push_str(&format!("{removed:7}  {}\n", one_line(path, 100)));
        }
        text.push_str(&more(self.removed.len(), "document"));
        text
    }

    /// A line for each document that lacks something of its file.
    fn describe_parts_left_out(&self) -> String {
        let tags = self.tags_left_out.iter();
        let tags = tags.map(|(path, tags)| (path, "tags left out, as they are not valid", tags.join(", ")));
        let pages = self.pages_left_out.iter().map(|(path, pages)| {
            let pages: Vec<String> = pages.iter().map(u32::to_string).collect();
            (path, "pages left out, as they cannot be read", pages.join(", "))
        });
        let dates = self.dates_left_out.iter();
        let dates = dates.map(|(path, date)| (path, "date left out, as it cannot be read", date.clone()));
        let fronts = self.front_matters_left_out.iter();
        let fronts =
            fronts.map(|(path, why)| (path, "front matter left out, as it cannot be read", why.clone()));
        let mut text = String::new();
        let all =
            tags.take(SHOWN).chain(pages.take(SHOWN)).chain(dates.take(SHOWN)).chain(fronts.take(SHOWN));
        for (path, what, parts) in all {
            text.push_str(&format!("{}: {what}: {}\n", one_line(path, 100), one_line(&parts, 200)));
        }
        text
    }

    /// The files that were left out, those with the same reason together.
    fn describe_left_out(&self) -> String {
        let mut reasons: BTreeMap<&str, Vec<&LeftOut>> = BTreeMap::new();
        for file in &self.left_out {
            reasons.entry(&file.reason).or_default().push(file);
        }
        let mut text = String::new();
        for files in reasons.values() {
            for file in files.iter().take(SHOWN) {
                let (path, detail) = (one_line(&file.path, 100), one_line(&file.detail, 200));
                text.push_str(&format!("left out {path}: {detail} [{}]\n", file.reason));
            }
            text.push_str(&more(files.len(), "file"));
        }
        text
    }
}

/// The line for what is not shown.
fn more(number: usize, what: &str) -> String {
    match number.saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("         … and {}; --json lists all\n", count(more, &format!("more {what}"))),
    }
}
