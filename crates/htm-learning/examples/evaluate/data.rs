//! Questions with the features of their candidates, from files of one JSON object a line.

use std::path::Path;

use htm_core::ranking::{FEATURES, FeatureVector, Learnt};

/// A question whose relevant memories are known.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// The conversation that it is about; groups are left out together.
    pub(crate) group: usize,
    /// The number of relevant memories, found or not.
    pub(crate) relevant: usize,
    /// Each candidate, in the default's order: whether it is relevant, and its features.
    pub(crate) candidates: Vec<(bool, FeatureVector)>,
}

/// Reads the questions of a set; none if the file is absent.
pub(crate) fn read(dir: &Path, set: &str) -> Option<Vec<Question>> {
    let text = std::fs::read_to_string(dir.join(format!("{set}.jsonl"))).ok()?;
    let mut groups: Vec<String> = Vec::new();
    let question = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let name = line["group"].as_str().expect("a group").to_owned();
        let group = groups.iter().position(|group| *group == name).unwrap_or_else(|| {
            groups.push(name);
            groups.len() - 1
        });
        let number = |value: &serde_json::Value| value.as_f64().expect("a number");
        let candidate = |row: &serde_json::Value| {
            let features = std::array::from_fn(|at| number(&row[at + 1]) as f32);
            (number(&row[0]) > 0.0, features)
        };
        let rows = line["rows"].as_array().expect("rows");
        assert_eq!(
            rows.first().and_then(|row| row.as_array()).map(Vec::len),
            Some(FEATURES.len() + 1),
            "{set}"
        );
        Question {
            group,
            relevant: number(&line["relevant"]) as usize,
            candidates: rows.iter().map(candidate).collect(),
        }
    };
    Some(text.lines().map(question).collect())
}

impl Question {
    /// Recall and nDCG of the first ten, by a ranking.
    pub(crate) fn quality(&self, ranking: &Learnt) -> [f64; 2] {
        let mut scored: Vec<(f64, usize)> =
            self.candidates.iter().enumerate().map(|(at, (_, row))| (ranking.score(row), at)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let discount = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let first = scored.iter().take(10).enumerate();
        let places: Vec<usize> =
            first.filter(|(_, (_, at))| self.candidates[*at].0).map(|(place, _)| place).collect();
        let ideal: f64 = (0..self.relevant.min(10)).map(discount).sum();
        [places.len() as f64 / self.relevant as f64, places.into_iter().map(discount).sum::<f64>() / ideal]
    }
}
