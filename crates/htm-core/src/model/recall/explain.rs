//! Why a hit stands where it stands, and how PostgreSQL looked for it.

use std::collections::BTreeSet;

use serde_json::Value;

/// What a hit's score is made of: the parts add up to it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// The parts that are not 0.
    pub parts: Vec<ScorePart>,
}

/// A part of a score.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ScorePart {
    /// `vector` (the similarity, normalised and weighted), `words` (BM25 of the query's words, likewise, without what the
    /// text's length alone brings), `together` (words that stand together as in the query), `exact` (exact terms, as
    /// written), `neighbours` (below 0 where they are worse than usual), `speaker`, `time`.
    pub name: &'static str,
    /// What it adds.
    pub score: f64,
}

impl Explanation {
    pub(crate) fn of(parts: &[(&'static str, f64)]) -> Self {
        let parts = parts.iter().filter(|(_, score)| *score != 0.0);
        Self { parts: parts.map(|&(name, score)| ScorePart { name, score }).collect() }
    }

    /// What the parts are together: the score.
    pub fn sum(&self) -> f64 {
        self.parts.iter().map(|part| part.score).sum()
    }
}

/// How PostgreSQL ran the statement.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Plan {
    /// The indexes that were read, by name.
    pub indexes: Vec<String>,
    /// The legs that ran: `exact` (all vectors in scope), `narrow` (those that pass a filter, exactly) or `hnsw`; `text`.
    pub legs: Vec<&'static str>,
    /// Tables that were read whole.
    pub whole_tables: Vec<String>,
}

impl Plan {
    /// As of both.
    pub(crate) fn take_in(&mut self, other: Self) {
        let together = |mut all: Vec<String>, other: Vec<String>| {
            all.extend(other);
            all.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
        };
        self.indexes = together(std::mem::take(&mut self.indexes), other.indexes);
        self.whole_tables = together(std::mem::take(&mut self.whole_tables), other.whole_tables);
        let new: Vec<_> = other.legs.into_iter().filter(|leg| !self.legs.contains(leg)).collect();
        self.legs.extend(new);
    }

    /// From what `explain (analyze, format json)` says.
    pub(crate) fn read(explained: &Value) -> Self {
        let mut found = Found::default();
        if let Some(root) = explained.get(0).and_then(|first| first.get("Plan")) {
            found.walk(root);
        }
        let leg = |(cte, name)| found.legs.contains(cte).then_some(name);
        let legs =
            [("narrow_leg", "narrow"), ("whole_leg", "exact"), ("index_leg", "hnsw"), ("text_leg", "text")];
        Self {
            legs: legs.into_iter().filter_map(leg).collect(),
            indexes: found.indexes.into_iter().collect(),
            whole_tables: found.tables.into_iter().collect(),
        }
    }
}

#[derive(Default)]
struct Found {
    indexes: BTreeSet<String>,
    tables: BTreeSet<String>,
    legs: BTreeSet<String>,
}

impl Found {
    /// Takes in what ran of a plan; whether that read any table.
    fn walk(&mut self, plan: &Value) -> bool {
        let text = |key: &str| plan.get(key).and_then(Value::as_str);
        if plan.get("Actual Loops").and_then(Value::as_f64) == Some(0.0) {
            return false;
        }
        let mut has_read = text("Relation Name").is_some();
        if let Some(index) = text("Index Name") {
            self.indexes.insert(index.into());
            has_read = true;
        } else if let (Some("Seq Scan"), Some(table)) = (text("Node Type"), text("Relation Name")) {
            self.tables.insert(table.into());
        }
        for child in plan.get("Plans").and_then(Value::as_array).into_iter().flatten() {
            has_read |= self.walk(child);
        }
        if let Some(cte) =
            text("Subplan Name").and_then(|name| name.strip_prefix("CTE ")).filter(|_| has_read)
        {
            self.legs.insert(cte.into());
        }
        has_read
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_did_not_run_is_not_said() {
        let scan = |index: &str, loops: u32| json!({ "Node Type": "Index Scan", "Index Name": index, "Actual Loops": loops });
        let leg = |name: &str, child: Value| json!({ "Node Type": "Limit", "Subplan Name": format!("CTE {name}"), "Actual Loops": 1, "Plans": [child] });
        let whole = json!({ "Node Type": "Seq Scan", "Relation Name": "robots", "Actual Loops": 1 });
        let plan = json!([{ "Plan": { "Node Type": "Sort", "Actual Loops": 1, "Plans": [
            leg("whole_leg", scan("scope_idx", 1)), leg("index_leg", scan("hnsw_idx", 0)), leg("text_leg", scan("tsv_idx", 3)), whole
        ] } }]);
        let expected = Plan {
            indexes: vec!["scope_idx".into(), "tsv_idx".into()],
            legs: vec!["exact", "text"],
            whole_tables: vec!["robots".into()],
        };
        assert_eq!(Plan::read(&plan), expected);
        assert_eq!(Plan::read(&json!("nonsense")), Plan::default());
    }
}
