//! What a PromQL query names: enough of the language to hold ours to the metrics that there are.

use std::collections::BTreeSet;

/// The names in a query.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Query {
    /// The metrics.
    pub(crate) selectors: Vec<Selector>,
    /// The labels of `by`, `on` and their like.
    pub(crate) groupings: BTreeSet<String>,
}

/// `metric{label="value"}`.
#[derive(Debug, PartialEq)]
pub(crate) struct Selector {
    pub(crate) metric: String,
    /// The labels that it names; with the value where it is an exact one.
    pub(crate) labels: Vec<(String, Option<String>)>,
}

impl Query {
    /// Reads a query, or Grafana's `label_values(metric, label)`.
    pub(crate) fn read(text: &str) -> Self {
        let mut query = Self::default();
        let mut rest = text;
        while let Some(start) = rest.find(|it: char| it.is_ascii_alphabetic() || it == '"') {
            rest = &rest[start..];
            if let Some(quoted) = rest.strip_prefix('"') {
                rest = quoted.split_once('"').expect("a quote has an end").1;
                continue;
            }
            let (word, after) = rest.split_at(rest.find(|it| !is_word(it)).unwrap_or(rest.len()));
            rest = after;
            let list = |open, close| Some(after.trim_start().strip_prefix(open)?.split_once(close)?.0);
            if word.starts_with("htm_") {
                let labels = list('{', '}').map(matchers).unwrap_or_default();
                query.selectors.push(Selector { metric: word.to_owned(), labels });
            } else if ["by", "without", "on", "ignoring", "group_left", "group_right"].contains(&word) {
                let labels = list('(', ')').unwrap_or_else(|| panic!("`{word}` without labels: {text}"));
                query.groupings.extend(names(labels));
            } else if word == "label_values" {
                let arguments = list('(', ')').unwrap_or_else(|| panic!("no arguments: {text}"));
                query.groupings.extend(names(arguments).skip(1));
            }
        }
        query
    }
}

/// `a="1",b=~"2"`; no value of ours has a comma in it.
fn matchers(text: &str) -> Vec<(String, Option<String>)> {
    let matcher = |text: &str| {
        let (label, rest) = text.split_at(text.find(|it| !is_word(it)).expect("a label has an operator"));
        let exact = rest.strip_prefix("=\"").map(|value| value.trim_end_matches('"').to_owned());
        (label.to_owned(), exact)
    };
    text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(matcher).collect()
}

fn names(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn is_word(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_'
}

#[test]
fn queries_are_read() {
    let selector = |metric: &str, labels| Selector { metric: metric.into(), labels };
    let query = Query::read(
        "sum by (le, model) (rate(htm_a_total{queue=~\"$queue\",state=\"due\"}[5m])) / on () htm_b > 0.5 or absent(htm_c)",
    );
    let labels = vec![("queue".into(), None), ("state".into(), Some("due".into()))];
    let wanted = [selector("htm_a_total", labels), selector("htm_b", vec![]), selector("htm_c", vec![])];
    assert_eq!(query.selectors, wanted);
    assert_eq!(query.groupings, BTreeSet::from(["le".into(), "model".into()]));
    let query = Query::read("label_values(htm_worker_info, queue)");
    assert_eq!(query.selectors, [selector("htm_worker_info", vec![])]);
    assert_eq!(query.groupings, BTreeSet::from(["queue".into()]));
}
