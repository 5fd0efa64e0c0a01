//! Scoring: the share of the right answers that was found, and their ranks.

use std::collections::HashSet;

use serde::Serialize;

use super::collection::Question;
use crate::output::table;

/// The figures of one kind of search.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    /// Share of the right answers within the first 5, averaged over the questions.
    recall_at_5: f64,
    /// The same within the first 10.
    recall_at_10: f64,
    /// 1 / the place of the first right answer within the first 10, averaged (mean reciprocal rank).
    mrr_at_10: f64,
    /// The recall at 10 of each category.
    categories: Vec<(String, f64)>,
    /// The median time of the search, without the embedding of the question.
    search_ms: f64,
}

/// Scores the answers. Each has the keys of its hits, and the time of the search in milliseconds.
pub(super) fn row(name: String, questions: &[Question], answers: &[(Vec<String>, f64)]) -> Row {
    let of = |metric: &dyn Fn(&Question, &[String]) -> f64, category: Option<&str>| {
        let asked: Vec<f64> = questions
            .iter()
            .zip(answers)
            .filter(|(question, _)| category.is_none_or(|category| question.category == category))
            .map(|(question, (keys, _))| metric(question, keys))
            .collect();
        asked.iter().sum::<f64>() / asked.len().max(1) as f64
    };
    let mut names: Vec<&str> = questions.iter().map(|question| question.category.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let at_10 = |question: &Question, keys: &[String]| recall_at(10, question, keys);
    let mut times: Vec<f64> = answers.iter().map(|(_, ms)| *ms).collect();
    times.sort_by(f64::total_cmp);
    Row {
        name,
        recall_at_5: of(&|question, keys| recall_at(5, question, keys), None),
        recall_at_10: of(&at_10, None),
        mrr_at_10: of(&reciprocal_rank, None),
        categories: names.iter().map(|name| ((*name).into(), of(&at_10, Some(name)))).collect(),
        search_ms: times.get(times.len() / 2).copied().unwrap_or(0.0),
    }
}

/// The table for people.
pub(super) fn describe(rows: &[Row]) -> String {
    let categories: Vec<String> = rows
        .first()
        .map(|row| row.categories.iter().map(|(name, _)| name.clone()).collect())
        .unwrap_or_default();
    let mut header: Vec<&str> = vec!["strategy", "R@5", "R@10", "MRR@10"];
    header.extend(categories.iter().map(String::as_str));
    header.push("search ms");
    let right: Vec<usize> = (1..header.len()).collect();
    let cells = rows
        .iter()
        .map(|row| {
            let mut cells = vec![row.name.clone()];
            let figures = [row.recall_at_5, row.recall_at_10, row.mrr_at_10];
            let by_category = row.categories.iter().map(|(_, figure)| *figure);
            cells.extend(figures.into_iter().chain(by_category).map(|figure| format!("{figure:.3}")));
            cells.push(format!("{:.1}", row.search_ms));
            cells
        })
        .collect();
    table(&header, &right, cells)
}

fn recall_at(depth: usize, question: &Question, keys: &[String]) -> f64 {
    let relevant: HashSet<&String> = question.relevant.iter().collect();
    let found = keys.iter().take(depth).filter(|key| relevant.contains(key)).count();
    found as f64 / relevant.len().max(1) as f64
}

fn reciprocal_rank(question: &Question, keys: &[String]) -> f64 {
    let place = keys.iter().take(10).position(|key| question.relevant.contains(key));
    place.map_or(0.0, |place| 1.0 / (place + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(relevant: &[&str]) -> Question {
        serde_json::from_value(serde_json::json!({
            "ns": "n", "text": "t", "category": "c", "relevant": relevant
        }))
        .unwrap()
    }

    #[test]
    fn the_formulas() {
        let asked = question(&["a", "b"]);
        let keys: Vec<String> = ["x", "a", "y", "z", "w", "b"].map(Into::into).to_vec();
        assert_eq!(recall_at(5, &asked, &keys), 0.5);
        assert_eq!(recall_at(10, &asked, &keys), 1.0);
        assert_eq!(reciprocal_rank(&asked, &keys), 0.5);
        assert_eq!(reciprocal_rank(&asked, &[]), 0.0);
    }
}
