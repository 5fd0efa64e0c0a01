//! How good the local tagger's tags are, on texts that a person tagged: `tests/data/tagging/`.
//!
//! A line of a file has `text`, `domain`, the `tags` that must be found (`a|b`: either), the tags that are right
//! `also`, and for a text that no template knows the words of a `new` tag. Rules and thresholds were tuned on
//! `tuning.jsonl` alone. The descriptions of the templates were written by somebody who knew `held_out.jsonl` too, so
//! its figures flatter them; `fresh.jsonl` was written after the last description and is what a stranger's texts get.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use htm_core::provider::{Purpose, TagSuggestion};
use htm_providers::local;
use serde_json::Value;

use crate::embedding::local_settings;

/// A file and the least precision and recall of roots, then of full paths, a little below what was measured.
const SETS: [(&str, &str, [f64; 4]); 3] = [
    ("tuning", include_str!("../../data/tagging/tuning.jsonl"), [0.86, 0.85, 0.83, 0.82]),
    ("held out", include_str!("../../data/tagging/held_out.jsonl"), [0.85, 0.81, 0.81, 0.80]),
    ("fresh", include_str!("../../data/tagging/fresh.jsonl"), [0.69, 0.61, 0.66, 0.56]),
];

#[tokio::test]
async fn local_tags_are_as_good_as_they_were() {
    let Some(settings) = local_settings() else { return };
    let tagger = local::tagger(settings).unwrap();
    println!("{:<10}{:>16}{:>16}{:>10}{:>10}{:>8}", "", "root P / R", "path P / R", "nothing", "new", "tags");
    let mut fallen = Vec::new();
    for (name, file, floors) in SETS {
        let labelled: Vec<Labelled> = file.lines().map(Labelled::parse).collect();
        let texts: Vec<String> = labelled.iter().map(|label| label.text.clone()).collect();
        let lists = tagger.extract(&texts, &htm_core::tag::KnownTags::default()).await.unwrap();
        let mut score = Score::default();
        for (label, tags) in labelled.iter().zip(&lists) {
            score.add(label, tags);
            if std::env::var_os("HTM_SHOW_TAGS").is_some() {
                let tags: Vec<String> =
                    tags.iter().map(|tag| format!("{} {:.2}", tag.path, tag.confidence.unwrap())).collect();
                println!("{}\n    {tags:?}, a person: {:?} {:?}", label.text, label.tags, label.new);
            }
        }
        let found =
            [score.roots.precision(), score.roots.recall(), score.paths.precision(), score.paths.recall()];
        println!(
            "{name:<10}{:>16}{:>16}{:>10}{:>10}{:>8.2}",
            format!("{:.2} / {:.2}", found[0], found[1]),
            format!("{:.2} / {:.2}", found[2], found[3]),
            format!("{}/{}", score.quiet, score.nothing),
            format!("{}/{}", score.named, score.new),
            score.paths.given as f64 / texts.len() as f64,
        );
        let fell = found.iter().zip(floors).any(|(found, floor)| *found < floor);
        if fell || score.quiet < score.nothing {
            fallen.push(format!("{name}: {found:.3?} below {floors:?}, or small talk was tagged"));
        }
    }
    assert!(fallen.is_empty(), "{fallen:#?}");
}

/// A text and the tags that a person gives it.
struct Labelled {
    text: String,
    /// Each entry is one tag that must be found; any of its alternatives will do.
    tags: Vec<Vec<String>>,
    also: Vec<String>,
    new: Vec<String>,
}

impl Labelled {
    fn parse(line: &str) -> Self {
        let line: Value = serde_json::from_str(line).unwrap();
        let list = |key: &str| -> Vec<String> {
            let items = line.get(key).and_then(Value::as_array).into_iter().flatten();
            items.map(|item| item.as_str().unwrap().to_owned()).collect()
        };
        let tags = list("tags").iter().map(|tag| tag.split('|').map(str::to_owned).collect()).collect();
        Self { text: line["text"].as_str().unwrap().to_owned(), tags, also: list("also"), new: list("new") }
    }

    /// Whether the tag is a new one that names what the text is about.
    fn is_new(&self, tag: &str) -> bool {
        let leaf = tag.rsplit(':').next().unwrap_or(tag);
        self.new.iter().any(|word| leaf.contains(word.as_str()))
    }

    fn known(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().flatten().chain(&self.also).map(String::as_str)
    }
}

#[derive(Default)]
struct Counts {
    given: usize,
    right: usize,
    wanted: usize,
    found: usize,
}

impl Counts {
    fn precision(&self) -> f64 {
        self.right as f64 / self.given.max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.found as f64 / self.wanted.max(1) as f64
    }
}

#[derive(Default)]
struct Score {
    roots: Counts,
    paths: Counts,
    /// Texts without a topic, and how many of them got no tag.
    nothing: usize,
    quiet: usize,
    /// Texts that no template knows, and how many of them got the right new tag.
    new: usize,
    named: usize,
}

impl Score {
    fn add(&mut self, label: &Labelled, tags: &[TagSuggestion]) {
        let paths: Vec<&str> = tags.iter().map(|tag| tag.path.as_str()).collect();
        let mut roots: BTreeMap<&str, bool> = BTreeMap::new();
        for path in &paths {
            *roots.entry(root(path)).or_default() |= label.is_new(path);
        }
        let known_roots: BTreeSet<&str> = label.known().map(root).collect();
        self.roots.given += roots.len();
        self.roots.right += roots.iter().filter(|(root, new)| **new || known_roots.contains(*root)).count();
        let wanted: BTreeSet<BTreeSet<&str>> =
            label.tags.iter().map(|either| either.iter().map(|tag| root(tag)).collect()).collect();
        self.roots.wanted += wanted.len();
        self.roots.found +=
            wanted.iter().filter(|either| either.iter().any(|it| roots.contains_key(it))).count();

        self.paths.given += paths.len();
        self.paths.right +=
            paths.iter().filter(|path| label.is_new(path) || label.known().any(|tag| tag == **path)).count();
        self.paths.wanted += label.tags.len();
        let found = |either: &&Vec<String>| either.iter().any(|tag| paths.contains(&tag.as_str()));
        self.paths.found += label.tags.iter().filter(found).count();

        match (label.tags.is_empty(), label.new.is_empty()) {
            (true, true) => {
                self.nothing += 1;
                self.quiet += usize::from(paths.iter().all(|path| label.known().any(|tag| tag == *path)));
            }
            (true, false) => {
                self.new += 1;
                self.named += usize::from(paths.iter().any(|path| label.is_new(path)));
            }
            _ => {}
        }
    }
}

fn root(tag: &str) -> &str {
    tag.split(':').next().unwrap_or(tag)
}

/// `cargo nextest run -p htm-tests --test providers speed_of_local_tags --run-ignored only --no-capture`
#[tokio::test]
#[ignore = "a measurement"]
async fn speed_of_local_tags() {
    let Some(settings) = local_settings() else { return };
    let embedder = local::embedder(settings.clone()).unwrap();
    let tagger = local::tagger(settings).unwrap();
    let mut texts: Vec<String> =
        SETS.iter().flat_map(|(_, file, _)| file.lines()).map(|line| Labelled::parse(line).text).collect();
    texts.extend(texts.clone());
    let started = Instant::now();
    tagger.extract(&texts[..1], &htm_core::tag::KnownTags::default()).await.unwrap();
    println!("the first text, with the templates: {:.2} s", started.elapsed().as_secs_f64());
    for round in 0..5 {
        let started = Instant::now();
        for batch in texts.chunks(64) {
            embedder.embed(batch, Purpose::Document).await.unwrap();
        }
        let embedded = started.elapsed().as_secs_f64();
        let started = Instant::now();
        for batch in texts.chunks(64) {
            tagger.extract(batch, &htm_core::tag::KnownTags::default()).await.unwrap();
        }
        let (count, tagged) = (texts.len() as f64, started.elapsed().as_secs_f64());
        println!(
            "round {round}: {:.0} texts/s tagged, {:.0} embedded only",
            count / tagged,
            count / embedded
        );
    }
}
