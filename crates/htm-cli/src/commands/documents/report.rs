//! The report of a load, for people and programs.

use std::collections::BTreeMap;
use std::process::ExitCode;

use htm_core::{LoadOutcome, LoadedDocument};
use serde::Serialize;

use crate::output::{count, one_line};

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
    /// Documents whose files are gone, and which were forgotten.
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
    pub(super) seconds: f64,
    /// Whether documents were spared below a directory where the last pass has spared none.
    #[serde(skip)]
    pub(super) spares_more: bool,
}

/// A file that was not loaded.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LeftOut {
    pub(super) path: String,
    /// A stable code.
    pub(super) reason: String,
    /// The reason, for people.
    pub(super) detail: String,
    /// Whether it is the caller's concern, because the command line names it or the memory refuses it.
    #[serde(skip)]
    pub(super) named: bool,
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

    pub(super) fn leave_out(&mut self, file: LeftOut) {
        self.left_out.push(file);
    }

    /// Whether nothing was done, and nothing was spared that was not before.
    pub(super) fn is_quiet(&self) -> bool {
        self.documents.is_empty() && self.removed.is_empty() && !self.spares_more
    }

    /// 2 if a file that the caller has named was not loaded, or the memory refused one.
    pub(super) fn exit_code(&self) -> ExitCode {
        if self.left_out.iter().any(|it| it.named) { ExitCode::from(2) } else { ExitCode::SUCCESS }
    }

    /// The text for people: what was left out, the changes, and the sums.
    pub(super) fn describe(&self) -> String {
        let mut text = self.describe_changes();
        for (path, tags) in self.tags_left_out.iter().take(SHOWN) {
            let tags = tags.iter().map(|tag| one_line(tag, 40)).collect::<Vec<_>>().join(", ");
            text.push_str(&format!(
                "{}: tags left out, as they are not valid: {tags}\n",
                one_line(path, 100)
            ));
        }
        text.push_str(&self.describe_left_out(|_| true));
        let [loaded, would] =
            if self.dry_run { ["to load", " (nothing was written)"] } else { ["loaded", ""] };
        text.push_str(&format!(
            "{} {loaded}, {} changed, {} unchanged, {} left out",
            count(self.loaded, "document"),
            self.changed,
            self.unchanged,
            count(self.left_out.len(), "file")
        ));
        if !self.removed.is_empty() {
            text.push_str(&format!(", {} removed", self.removed.len()));
        }
        text.push_str(&format!(
            "\n{} written, {} kept, {} forgotten in {:.1} s{would}",
            count(self.written, "passage"),
            self.kept,
            self.forgotten,
            self.seconds
        ));
        text
    }

    /// The news of a later pass of a watch.
    pub(super) fn describe_news(&self) -> String {
        let spared = self.describe_left_out(|it| self.spares_more && it.reason == NO_FILES);
        format!("{}{spared}", self.describe_changes())
    }

    /// A line for each document that changed.
    fn describe_changes(&self) -> String {
        let mut text = String::new();
        for document in self.documents.iter().take(SHOWN) {
            let LoadedDocument { path, outcome, written, kept, forgotten, .. } = document;
            let path = one_line(path, 100);
            text.push_str(&match outcome {
                LoadOutcome::Changed => {
                    let written = count(*written, "passage");
                    format!("changed  {path}: {written} written, {kept} kept, {forgotten} forgotten\n")
                }
                _ => format!("new      {path}: {}\n", count(document.passages, "passage")),
            });
        }
        text.push_str(&more(self.documents.len(), "document"));
        for path in self.removed.iter().take(SHOWN) {
            text.push_str(&format!("removed  {}\n", one_line(path, 100)));
        }
        text.push_str(&more(self.removed.len(), "document"));
        text
    }

    /// The files that were left out, those with the same reason together.
    fn describe_left_out(&self, is_shown: impl Fn(&LeftOut) -> bool) -> String {
        let mut reasons: BTreeMap<&str, Vec<&LeftOut>> = BTreeMap::new();
        for file in self.left_out.iter().filter(|it| is_shown(it)) {
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
