//! The report of an import from another system.

use std::collections::BTreeMap;

use htm_sources::{Counts, Foreign, Left, Lines, Model, Why};
use serde::Serialize;
use serde_json::json;

use super::{AGAIN, LISTED};
use crate::output::{Output, count, one_line, table};

/// The memories that a dry run shows.
const FIRST: usize = 3;
/// The most keys of changed memories that people read.
const CHANGED: usize = 3;
/// The most namespaces and refused memories that people read.
const SHOWN: usize = 20;

/// The result of an import from another system.
#[derive(Debug, Default, Serialize)]
pub(super) struct ForeignReport {
    from: &'static str,
    dry_run: bool,
    /// The items that were read, by subject.
    pub(super) read: Counts,
    /// The memories that come.
    pub(super) memories: u64,
    /// Those, by their namespace.
    namespaces: BTreeMap<String, u64>,
    /// New memories.
    pub(super) written: u64,
    /// Memories that existed already.
    pub(super) existing: u64,
    /// The number of memories that have another text here than there.
    changed_count: u64,
    /// The keys of the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
    /// The number of times that could not be read, and are in the metadata.
    unread_times: u64,
    /// Written former texts.
    pub(super) former_texts: u64,
    /// Written relations.
    pub(super) relations: u64,
    /// The number of relations of kinds that HTM does not have, which are in the metadata.
    other_relations: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    vectors: Option<Vectors>,
    /// The length of vectors whose model nobody names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unnamed_vectors: Option<usize>,
    /// The number of things that do not come.
    left_count: u64,
    /// Those, by subject and reason.
    left: Vec<LeftOut>,
    /// The number of memories that HTM refused.
    pub(super) refused_count: u64,
    /// The first of them.
    refused: Vec<Refused>,
    /// The first memories, in a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    first: Vec<First>,
    pub(super) seconds: f64,
}

/// The vectors of a source.
#[derive(Debug, Serialize)]
struct Vectors {
    model: String,
    dimensions: usize,
    /// Whether HTM uses the model.
    is_in_use: bool,
    /// Whether HTM has an embedding model.
    has_model: bool,
    /// The number of memories that bring their vector.
    taken: u64,
}

/// Things that do not come, for one reason.
#[derive(Debug, Serialize)]
struct LeftOut {
    subject: &'static str,
    why: Why,
    reason: &'static str,
    count: u64,
    /// The first of them.
    examples: Vec<Example>,
}

#[derive(Debug, Serialize)]
struct Example {
    id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
}

/// A refused memory.
#[derive(Debug, Serialize)]
pub(super) struct Refused {
    /// Its key, or its id there.
    memory: String,
    code: &'static str,
    reason: String,
}

impl Refused {
    pub(super) fn new(memory: String, error: &htm_core::Error) -> Self {
        Self { memory, code: error.code(), reason: error.to_string() }
    }
}

/// A memory as it would be written.
#[derive(Debug, Serialize)]
struct First {
    namespace: String,
    key: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
}

impl ForeignReport {
    pub(super) fn new(from: &'static str, dry_run: bool) -> Self {
        Self { from, dry_run, ..Self::default() }
    }

    /// Whether nothing is written.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    pub(super) fn has_vectors_of(&mut self, model: &Model, is_in_use: bool, has_model: bool) {
        let name = format!("{}/{}", model.provider, model.name);
        let dimensions = model.dimensions;
        self.vectors = Some(Vectors { model: name, dimensions, is_in_use, has_model, taken: 0 });
    }

    /// Counts a memory that comes.
    pub(super) fn take(&mut self, memory: &Foreign, lines: &Lines) {
        self.memories += 1;
        self.unread_times += memory.unread_times;
        self.other_relations += memory.other_relations;
        *self.namespaces.entry(lines.namespace.clone()).or_default() += 1;
        if let Some(vectors) = &mut self.vectors {
            vectors.taken += u64::from(lines.has_vector);
        }
        if self.dry_run && self.first.len() < FIRST {
            self.first.push(First {
                namespace: lines.namespace.clone(),
                key: lines.key.clone(),
                text: memory.text.clone(),
                created_at: memory.at.map(|at| at.format("%F %R").to_string()),
                speaker: memory.speaker.clone(),
            });
        }
    }

    pub(super) fn leave(&mut self, left: Left) {
        self.left_count += 1;
        let Left { subject, id, why, detail } = left;
        let is_same = |it: &&mut LeftOut| (it.subject, it.why) == (subject, why);
        let example = Example { id, detail };
        match self.left.iter_mut().find(is_same) {
            Some(same) => {
                same.count += 1;
                if same.examples.len() < LISTED {
                    same.examples.push(example);
                }
            }
            None => {
                let reason = why.words();
                self.left.push(LeftOut { subject, why, reason, count: 1, examples: vec![example] });
            }
        }
    }

    pub(super) fn change(&mut self, key: String) {
        self.changed_count += 1;
        if self.changed.len() < LISTED {
            self.changed.push(key);
        }
    }

    pub(super) fn refuse(&mut self, refused: Refused) {
        self.refused_count += 1;
        if self.refused.len() < LISTED {
            self.refused.push(refused);
        }
    }

    /// Whether the source ended before anything of it was read.
    pub(super) fn is_empty(&self) -> bool {
        self.memories + self.left_count + self.refused_count == 0
    }

    /// The number of things that could not be read.
    pub(super) fn unreadable(&self) -> u64 {
        self.left.iter().filter(|it| it.why == Why::Unreadable).map(|it| it.count).sum()
    }

    /// Has a command that a signal stops say how far it is.
    pub(super) fn leaves(&self, output: &Output) {
        let Self { written, existing, changed_count, refused_count, .. } = self;
        let answer = json!({
            "stopped": true, "written": written, "existing": existing, "changed_count": changed_count,
            "refused_count": refused_count,
        });
        let text = match self.dry_run {
            true => "nothing is written".into(),
            false => format!(
                "{written} written, {existing} existing, {changed_count} changed, {refused_count} rejected until then; {AGAIN}"
            ),
        };
        output.leaves(answer, text);
    }

    /// The report for people.
    pub(super) fn describe(&self) -> String {
        let mut text = Vec::new();
        if self.dry_run {
            text.push("dry run: nothing is written".into());
        }
        let read: Vec<String> = self.read.iter().map(|(subject, number)| count(*number, subject)).collect();
        text.push(format!(
            "read from {}: {}",
            self.from,
            if read.is_empty() { "nothing".into() } else { read.join(", ") }
        ));
        text.extend(self.vectors.as_ref().map(Vectors::describe));
        text.extend(self.unnamed_vectors.map(|dimensions| {
            format!("vectors of {dimensions} numbers, of no named model: workers make new ones, unless --model names it")
        }));
        if self.former_texts > 0 {
            text.push(format!("{} written", count(self.former_texts, "former text")));
        }
        if self.relations > 0 {
            text.push(format!("{} written", count(self.relations, "relation")));
        }
        if self.other_relations > 0 {
            let relations = count(self.other_relations, "relation");
            text.push(format!("{relations} of kinds that HTM does not have: kept in the metadata"));
        }
        if self.unread_times > 0 {
            let times = count(self.unread_times, "time");
            text.push(format!("{times} that HTM cannot read: kept in the metadata"));
        }
        text.extend(self.where_they_go());
        text.extend(self.what_is_left());
        text.extend(self.what_is_refused());
        if self.changed_count > 0 {
            let some = self.changed.iter().take(CHANGED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let memories = count(self.changed_count, "memory");
            text.push(format!(
                "\n{memories} changed here or there since an earlier import, and kept as here: {}",
                one_line(&some, 200)
            ));
        }
        text.extend(self.first_ones());
        text.push(match self.dry_run {
            true => format!(
                "\n{} to import (existing ones are skipped), {} left out, {} rejected",
                count(self.memories, "memory"),
                self.left_count,
                self.refused_count
            ),
            false => format!(
                "\n{} written, {} existing, {} changed, {} left out, {} rejected in {:.1} s",
                self.written,
                self.existing,
                self.changed_count,
                self.left_count,
                self.refused_count,
                self.seconds
            ),
        });
        text.join("\n")
    }

    fn where_they_go(&self) -> Option<String> {
        if self.namespaces.is_empty() {
            return None;
        }
        let mut most: Vec<(&String, &u64)> = self.namespaces.iter().collect();
        most.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), name.as_str()));
        let rows = most.iter().take(SHOWN).map(|(name, number)| vec![one_line(name, 80), number.to_string()]);
        let mut text = format!("\n{}", table(&["namespace", "memories"], &[1], rows.collect()));
        text.push_str(&more(most.len() as u64, SHOWN, "namespace"));
        Some(text)
    }

    fn what_is_left(&self) -> Option<String> {
        let mut left: Vec<&LeftOut> = self.left.iter().collect();
        left.sort_by_key(|it| (std::cmp::Reverse(it.count), it.subject, it.why));
        let row = |it: &&LeftOut| {
            let example = it.examples.first().map_or(String::new(), |it| match it.detail.is_empty() {
                true => it.id.clone(),
                false => format!("{} ({})", it.id, it.detail),
            });
            vec![it.count.to_string(), it.subject.into(), it.reason.into(), one_line(&example, 100)]
        };
        let rows: Vec<Vec<String>> = left.iter().map(row).collect();
        let header = ["left out", "what", "because it", "for example"];
        (!rows.is_empty()).then(|| format!("\n{}", table(&header, &[0], rows)))
    }

    fn what_is_refused(&self) -> Option<String> {
        if self.refused.is_empty() {
            return None;
        }
        let line = |it: &Refused| {
            format!("\nrejected {}: {} [{}]", one_line(&it.memory, 80), one_line(&it.reason, 200), it.code)
        };
        let mut text: String = self.refused.iter().take(SHOWN).map(line).collect();
        text.push_str(&more(self.refused_count, SHOWN, "rejected memory"));
        Some(text)
    }

    fn first_ones(&self) -> Option<String> {
        if self.first.is_empty() {
            return None;
        }
        let row = |it: &First| {
            let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
            vec![
                or_dash(&it.created_at),
                one_line(&or_dash(&it.speaker), 20),
                one_line(&it.namespace, 40),
                one_line(&it.text, 80),
            ]
        };
        let header = ["time (UTC)", "speaker", "namespace", "first memories"];
        Some(format!("\n{}", table(&header, &[], self.first.iter().map(row).collect())))
    }
}

impl Vectors {
    fn describe(&self) -> String {
        let Self { model, dimensions, is_in_use, has_model, taken } = self;
        let fate = match (is_in_use, has_model) {
            (true, _) => format!("{taken} taken; workers make the others"),
            (false, true) => "HTM does not use this model, so workers make new ones".into(),
            (false, false) => {
                "left out: HTM has no embedding model yet; with one, workers make new ones. To bring these, start HTM once \
                 (`htm up`) before the import"
                    .into()
            }
        };
        format!("vectors of {model} ({dimensions} numbers): {fate}")
    }
}

/// How many more there are than are shown.
fn more(number: u64, shown: usize, what: &str) -> String {
    match number.saturating_sub(shown as u64) {
        0 => String::new(),
        more => format!("\n… and {}; --json lists them", count(more, &format!("more {what}"))),
    }
}
