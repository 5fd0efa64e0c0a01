//! Reads what a worker tells Prometheus.

use std::collections::{BTreeMap, BTreeSet};

/// The samples of a scrape.
pub(crate) struct Scrape {
    /// The type of each metric, as `htm_claims` → `counter`.
    pub(crate) types: BTreeMap<String, String>,
    samples: Vec<Sample>,
}

struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Scrape {
    /// Reads OpenMetrics text.
    pub(crate) fn read(text: &str) -> Self {
        let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        Self {
            types: types.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect(),
            samples: text.lines().filter(|line| !line.starts_with('#')).map(sample).collect(),
        }
    }

    /// The names of all samples, as `htm_claims_total`.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        self.samples.iter().map(|sample| sample.name.as_str()).collect()
    }

    /// The labels that the samples of this name have; none when there is no sample.
    pub(crate) fn labels(&self, name: &str) -> BTreeSet<&str> {
        self.of(name).flat_map(|sample| sample.labels.keys().map(String::as_str)).collect()
    }

    /// The values that a label of this name takes.
    pub(crate) fn values(&self, name: &str, label: &str) -> BTreeSet<&str> {
        self.of(name).filter_map(|sample| sample.labels.get(label).map(String::as_str)).collect()
    }

    /// The sum of the samples of this name with these labels; none when there is no such sample.
    pub(crate) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let has = |sample: &&Sample| {
            labels.iter().all(|(label, value)| sample.labels.get(*label).is_some_and(|it| it == value))
        };
        self.of(name).filter(has).map(|sample| sample.value).reduce(|sum, value| sum + value)
    }

    fn of<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a Sample> + use<'a, 'n> {
        self.samples.iter().filter(move |sample| sample.name == name)
    }
}

/// `name{label="value",…} number`; no value of ours has a quote or a comma in it.
fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
    let (name, labels) = series.split_once('{').unwrap_or((series, ""));
    let labels = labels.trim_end_matches('}').split(',').filter_map(|label| label.split_once('='));
    Sample {
        name: name.to_owned(),
        labels: labels.map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned())).collect(),
        value: value.parse().unwrap_or_else(|error| panic!("{error}: {line}")),
    }
}

#[test]
fn samples_are_read() {
    let scrape =
        Scrape::read("# TYPE a counter\na_total{x=\"1\",y=\"p/q\"} 2\na_total{x=\"2\"} 3.5\nb 1\n# EOF\n");
    assert_eq!(scrape.types["a"], "counter");
    assert_eq!(scrape.names(), BTreeSet::from(["a_total", "b"]));
    assert_eq!(scrape.labels("a_total"), BTreeSet::from(["x", "y"]));
    assert_eq!(scrape.values("a_total", "x"), BTreeSet::from(["1", "2"]));
    assert_eq!(scrape.sum("a_total", &[]), Some(5.5));
    assert_eq!(scrape.sum("a_total", &[("y", "p/q")]), Some(2.0));
    assert_eq!(scrape.sum("b", &[("x", "1")]), None);
}
