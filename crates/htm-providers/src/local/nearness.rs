//! The similarity of texts to the terms of the ontology, and the choice of the nearest ones.
//!
//! A text's similarity to a described term is the mean of two cosines: with the whole description, and with its nearest
//! clause. The similarity to an undescribed tag in use is the larger of two cosines: with the whole path, and with its
//! last level. The text's background is subtracted: half of its mean similarity to all terms of the templates, because
//! some sentences are a little near to everything. The result is the tag's confidence. A term is proposed by its name
//! in the namespace ([`Naming`]).
//!
//! An undescribed tag also needs a word of its name in the text, or a much larger similarity, unless it is in the place of
//! a split tag. In a language that the model does not know, short names are near to most texts.
//!
//! Precision / recall of full paths on the labelled texts (`tests/data/tagging`, without key phrases; the texts of the
//! third column were written after all choices):
//!
//! | | tuning | held out | fresh |
//! |---|---|---|---|
//! | short descriptions, whole only, at 0.28 | 0.71 / 0.63 | 0.69 / 0.67 | 0.63 / 0.55 |
//! | and clauses, at 0.30 | 0.80 / 0.63 | 0.72 / 0.65 | 0.65 / 0.66 |
//! | and less background, at 0.26 | 0.79 / 0.67 | 0.75 / 0.68 | 0.67 / 0.61 |
//! | and descriptions with examples, at 0.28 | 0.90 / 0.84 | 0.87 / 0.83 | 0.77 / 0.59 |
//!
//! Tried without any gain on the tuning half: the parents' names before the description, a mix with the parent's
//! vector, and subtracting each term's mean similarity to the others (hubness). Tried with a gain of 0.01 at most:
//! vectors less their mean, and words that text and description share.

use std::collections::HashSet;
use std::sync::Arc;

use htm_core::provider::TagSuggestion;
use htm_core::tag::{FormerNames, TagPath, TagRules};

use super::matmul::{Matrix, multiply};
use super::phrases::Words;

/// The least similarity of a tag. Precision and recall are equal here on the tuning half.
pub(super) const DEFAULT_THRESHOLD: f32 = 0.28;
/// The version of the rules below. It changes with them, so that texts can be tagged again.
pub(super) const RULES: &str = "6";
/// The least similarity of an undescribed tag that the text does not name.
const UNNAMED: f32 = 0.55;
/// Terms with a similarity further below the best one are not proposed.
const MARGIN: f32 = 0.09;
/// The part of a text's mean similarity that is subtracted.
const BACKGROUND: f32 = 0.5;
/// The advantage of a tag in use over an unused term. It only affects the order.
const IN_USE: f32 = 0.02;
/// The least cosine of a text and its key phrase.
const CENTRAL: f32 = 0.5;
/// The least cosine of a text and its key phrase below a known root. It is lower, because the root is evidence too.
const CENTRAL_BELOW: f32 = 0.4;
/// The least similarity of a term to both the text and the key phrase, for the phrase to stand below the term's root.
const ROOT: f32 = 0.23;

/// Terms with their vectors. The first vector of a term is that of its name and description, the others are its
/// clauses'.
pub(super) struct Terms {
    paths: Vec<TagPath>,
    width: usize,
    /// One matrix, so that all similarities are one product.
    vectors: Vec<f32>,
    /// The end of each term's rows, exclusive.
    ends: Vec<usize>,
}

/// The names of proposed tags, by the configured rules and the namespace's changes of names.
#[derive(Clone)]
pub(super) struct Naming {
    pub(super) rules: TagRules,
    pub(super) former: FormerNames,
}

impl Naming {
    /// The tag's name; none if it must not be proposed.
    pub(super) fn of(&self, path: &str) -> Option<TagPath> {
        self.former.called_now(&self.rules, path)
    }
}

/// The terms and tags to compare texts with.
pub(super) struct Nearness {
    /// The terms of the templates.
    pub(super) terms: Arc<Terms>,
    /// The name of each of these terms; none if it must not be proposed.
    pub(super) called: Vec<Option<TagPath>>,
    /// Tags with a description in the namespace.
    pub(super) described: Terms,
    /// Tags in use without a description.
    pub(super) undescribed: Terms,
    pub(super) naming: Naming,
    pub(super) used: HashSet<TagPath>,
    pub(super) threshold: f32,
}

impl Terms {
    pub(super) fn new(width: usize) -> Self {
        Self { paths: Vec::new(), width, vectors: Vec::new(), ends: Vec::new() }
    }

    /// Adds a term. `rows` are the components of its vectors, one vector after another.
    pub(super) fn push(&mut self, path: TagPath, rows: impl Iterator<Item = f32>) {
        self.paths.push(path);
        self.vectors.extend(rows);
        self.ends.push(self.vectors.len() / self.width);
    }

    /// A similarity for each text and each term. `combine` makes it from the cosines with the term's vectors.
    fn similarities(&self, texts: &[Vec<f32>], combine: impl Fn(&[f32]) -> f32) -> Vec<Vec<f32>> {
        let rows = self.vectors.len() / self.width;
        if rows == 0 {
            return vec![Vec::new(); texts.len()];
        }
        let mut cosines = vec![0.0; texts.len() * rows];
        let left = texts.concat();
        let left = Matrix::rows(&left, texts.len(), self.width, self.width);
        multiply(
            &mut cosines,
            rows,
            left,
            Matrix::rows(&self.vectors, rows, self.width, self.width).transposed(),
        );
        let of_text = |cosines: &[f32]| {
            let mut start = 0;
            let of_term = |end: &usize| {
                let similarity = combine(&cosines[start..*end]);
                start = *end;
                similarity
            };
            self.ends.iter().map(of_term).collect()
        };
        cosines.chunks_exact(rows).map(of_text).collect()
    }
}

impl Nearness {
    /// The tags of each text, the best first. None is an ancestor of another.
    pub(super) fn tags(
        &self,
        texts: &[Words],
        vectors: &[Vec<f32>],
        max_tags: usize,
    ) -> Vec<Vec<TagSuggestion>> {
        let described = self.similarities(vectors);
        let named = self.undescribed.similarities(vectors, greatest);
        let each =
            texts.iter().zip(&described).zip(named).map(|((text, (similarities, background)), named)| {
                let of_terms = self.described_as().zip(similarities.iter().copied());
                let of_terms = of_terms.filter_map(|(path, similarity)| Some((path?, similarity)));
                let of_names =
                    self.undescribed.paths.iter().zip(named.iter().map(|cosine| cosine - background));
                let of_names = of_names.filter(|(path, similarity)| {
                    *similarity >= UNNAMED
                        || (*similarity >= self.threshold && (self.is_of_a_split(path) || text.name(path)))
                });
                self.nearest(of_terms.chain(of_names), max_tags)
            });
        each.collect()
    }

    /// Whether a tag is in the place of a split one. Somebody has said that the texts of that one are its own.
    fn is_of_a_split(&self, path: &TagPath) -> bool {
        self.naming.former.split.values().any(|split| split.has(path))
    }

    /// The key phrase of a text without a near term. It stands below the root of a term that is somewhat near to both
    /// text and phrase, else alone.
    pub(super) fn key_phrase(
        &self,
        text: &[f32],
        phrases: &[String],
        vectors: &[Vec<f32>],
    ) -> Option<TagSuggestion> {
        let best = vectors.iter().map(|vector| cosine(text, vector)).zip(0..).max_by(|a, b| {
            // The earlier one of equally near phrases.
            a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))
        });
        let (similarity, index): (f32, usize) =
            best.filter(|(similarity, _)| *similarity >= CENTRAL_BELOW)?;
        let both = self.similarities(&[text.to_vec(), vectors[index].clone()]);
        let near = both[0]
            .0
            .iter()
            .zip(&both[1].0)
            .map(|(text, phrase)| text.min(*phrase))
            .zip(self.described_as())
            .filter_map(|(near, path)| Some((near, path?)));
        let root =
            near.filter(|(near, _)| *near >= ROOT).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)));
        let path = match root {
            Some((_, term)) => self.naming.of(&format!("{}:{}", term.root(), phrases[index])),
            None if similarity >= CENTRAL => self.naming.of(&phrases[index]),
            None => None,
        };
        Some(TagSuggestion { path: path?, confidence: Some(similarity.clamp(0.0, 1.0)) })
    }

    /// The names of the terms, then those of the described tags.
    fn described_as(&self) -> impl Iterator<Item = Option<&TagPath>> {
        self.called.iter().map(Option::as_ref).chain(self.described.paths.iter().map(Some))
    }

    /// The similarities of each text to the terms and the described tags, less its background, together with the
    /// background.
    fn similarities(&self, texts: &[Vec<f32>]) -> Vec<(Vec<f32>, f32)> {
        let whole_and_clause = |cosines: &[f32]| match cosines {
            [whole, clauses @ ..] if !clauses.is_empty() => 0.5 * (whole + greatest(clauses)),
            _ => greatest(cosines),
        };
        let less_background = |(mut similarities, own): (Vec<f32>, Vec<f32>)| {
            let mean = similarities.iter().sum::<f32>() / similarities.len().max(1) as f32;
            let background = BACKGROUND * mean;
            similarities.extend(own);
            similarities.iter_mut().for_each(|similarity| *similarity -= background);
            (similarities, background)
        };
        let own = self.described.similarities(texts, whole_and_clause);
        self.terms.similarities(texts, whole_and_clause).into_iter().zip(own).map(less_background).collect()
    }

    /// Chooses terms with at least the threshold, within [`MARGIN`] of the best, and without ancestors of chosen ones.
    /// A split tag is replaced by its near successors, even if it is much nearer. Without a near successor, it becomes
    /// the split's tag for the rest.
    fn nearest<'a>(
        &self,
        terms: impl Iterator<Item = (&'a TagPath, f32)>,
        max_tags: usize,
    ) -> Vec<TagSuggestion> {
        let near = terms.filter(|(_, similarity)| *similarity >= self.threshold);
        let ahead = |path| if self.used.contains(path) { IN_USE } else { 0.0 };
        let mut near: Vec<(f32, f32, &TagPath)> =
            near.map(|(path, similarity)| (similarity, similarity + ahead(path), path)).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.2.cmp(b.2)));
        let best = near.iter().map(|(similarity, _, _)| *similarity).fold(0.0, f32::max);
        let mut chosen: Vec<TagSuggestion> = Vec::new();
        let split = |path: &TagPath| self.naming.former.split.get(path.as_str());
        let is_close = |similarity: f32| similarity >= best - MARGIN;
        let (mut close, far): (Vec<_>, Vec<_>) =
            near.iter().partition(|(similarity, _, _)| is_close(*similarity));
        let given_way: Vec<_> = close.iter().filter_map(|(_, _, path)| split(path)).collect();
        close.extend(far.into_iter().filter(|(_, _, path)| given_way.iter().any(|split| split.has(path))));
        for (similarity, _, path) in close {
            let path = match split(path) {
                Some(split) if near.iter().any(|(_, _, other)| split.has(other)) => continue,
                Some(split) => split.rest(path),
                None => path,
            };
            if chosen.iter().any(|tag| *path == tag.path || tag.path.is_below(path)) {
                continue;
            }
            chosen.retain(|tag| !path.is_below(&tag.path));
            if chosen.len() >= max_tags {
                break;
            }
            chosen.push(TagSuggestion { path: path.clone(), confidence: Some(similarity.clamp(0.0, 1.0)) });
        }
        chosen
    }
}

fn greatest(cosines: &[f32]) -> f32 {
    cosines.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use htm_core::tag::{Leftover, SplitTag};

    use super::*;

    fn terms(terms: &[(&str, &[[f32; 2]])]) -> Terms {
        let mut made = Terms::new(2);
        for (path, rows) in terms {
            made.push(path.parse().unwrap(), rows.as_flattened().iter().copied());
        }
        made
    }

    fn nearness(terms: Terms, undescribed: Terms, used: &[&str]) -> Nearness {
        Nearness {
            called: terms.paths.iter().cloned().map(Some).collect(),
            terms: Arc::new(terms),
            described: Terms::new(2),
            undescribed,
            naming: Naming { rules: TagRules::default(), former: FormerNames::default() },
            used: used.iter().map(|path| path.parse().unwrap()).collect(),
            threshold: 0.3,
        }
    }

    /// The tags of a text that names all tags in use.
    fn tags(near: &Nearness, vector: [f32; 2], max_tags: usize) -> Vec<TagSuggestion> {
        let names = near.undescribed.paths.iter().map(TagPath::as_str).collect::<Vec<_>>().join(" ");
        near.tags(&[Words::of(&names, &near.naming.rules)], &[vector.to_vec()], max_tags).remove(0)
    }

    fn paths(tags: &[TagSuggestion]) -> Vec<&str> {
        tags.iter().map(|tag| tag.path.as_str()).collect()
    }

    #[test]
    fn ancestors_give_way_and_far_terms_stay_out() {
        let names = terms(&[
            ("data", &[[0.9, 0.0]]),
            ("data:sql", &[[0.88, 0.0]]),
            ("data-x", &[[0.86, 0.0], [0.5, 0.0]]),
            ("far", &[[0.5, 0.0]]),
        ]);
        let near = nearness(terms(&[]), names, &[]);
        assert_eq!(paths(&tags(&near, [1.0, 0.0], 5)), ["data:sql", "data-x"]);
        assert_eq!(paths(&tags(&near, [1.0, 0.0], 1)), ["data:sql"]);
        assert!(tags(&near, [0.0, 1.0], 5).is_empty());
    }

    #[test]
    fn a_tag_without_a_description_is_named_by_the_text_or_very_near() {
        let of = |similarity: f32| nearness(terms(&[]), terms(&[("food:tea", &[[similarity, 0.0]])]), &[]);
        let count = |near: &Nearness, text: &str| {
            near.tags(&[Words::of(text, &near.naming.rules)], &[vec![1.0, 0.0]], 5)[0].len()
        };
        assert_eq!(count(&of(0.5), "How about a lentil curry?"), 0);
        assert_eq!(count(&of(0.5), "How about teas?"), 1);
        assert_eq!(count(&of(0.6), "How about a lentil curry?"), 1);
    }

    #[test]
    fn a_tag_in_use_wins_a_near_tie() {
        let near =
            nearness(terms(&[]), terms(&[("new", &[[0.81, 0.0]]), ("used", &[[0.80, 0.0]])]), &["used"]);
        let tags = tags(&near, [1.0, 0.0], 1);
        assert_eq!((tags[0].path.as_str(), tags[0].confidence), ("used", Some(0.80)));
    }

    #[test]
    fn a_clause_counts_as_much_as_the_whole_and_the_background_is_taken() {
        let described = terms(&[("a", &[[0.4, 0.0], [0.1, 0.0], [0.8, 0.0]]), ("b", &[[0.2, 0.0]])]);
        let near = nearness(described, terms(&[]), &[]);
        let (similarities, background) = &near.similarities(&[vec![1.0, 0.0]])[0];
        // 0.6 and 0.2: a mean of 0.4.
        assert!((background - 0.2).abs() < 1e-6);
        assert!((similarities[0] - 0.4).abs() < 1e-6 && similarities[1].abs() < 1e-6);
    }

    #[test]
    fn a_phrase_stands_below_a_root_that_is_near_to_both_else_alone() {
        let described = || terms(&[("pet:cat", &[[1.0, 0.0]]), ("far", &[[-1.0, 0.0]])]);
        let near = nearness(described(), terms(&[]), &[]);
        let phrases = ["Spots".to_owned(), "guinea pigs".to_owned()];
        let choose = |text: [f32; 2], vectors: [[f32; 2]; 2]| {
            let tag = near.key_phrase(&text, &phrases, &vectors.map(|vector| vector.to_vec()))?;
            Some((tag.path.as_str().to_owned(), tag.confidence.unwrap()))
        };
        // Both have a similarity of 0.3 to the cat.
        let both = choose([0.3, 0.9], [[0.0, 0.1], [0.3, 0.9]]);
        assert_eq!(both.map(|(path, _)| path).as_deref(), Some("pet:guinea-pig"));
        let alone = choose([0.1, 0.9], [[0.3, 0.2], [0.0, 0.9]]);
        assert_eq!(alone.map(|(path, _)| path).as_deref(), Some("guinea-pig"));
        assert_eq!(choose([0.0, 1.0], [[0.0, 0.1], [0.0, 0.45]]), None);
    }

    #[test]
    fn a_phrase_is_written_by_the_rules_that_are_set_and_never_as_what_was_removed() {
        let mut near = nearness(terms(&[("pet:cat", &[[1.0, 0.0]])]), terms(&[]), &[]);
        near.naming.rules.singular.insert("pigs".into(), "swine".into());
        let choose = |near: &Nearness| {
            let tag = near.key_phrase(&[0.1, 0.9], &["guinea pigs".into()], &[vec![0.0, 0.9]])?;
            Some(tag.path.as_str().to_owned())
        };
        assert_eq!(choose(&near).as_deref(), Some("guinea-swine"));
        near.naming.former.synonyms.insert("guinea-swine".into(), "animal:rodent".into());
        assert_eq!(choose(&near).as_deref(), Some("animal:rodent"));
        near.naming.former.removed.insert("animal".into());
        assert_eq!(choose(&near), None);
    }

    #[test]
    fn a_split_tag_gives_way_to_what_is_in_its_place_and_is_the_rest() {
        let all = [
            ("work", &[[0.9, 0.0]][..]),
            ("task", &[[0.5, 0.0]]),
            ("talk:small", &[[0.1, 0.0]]),
            ("x", &[[0.5, 0.0]]),
        ];
        let mut near = nearness(terms(&[]), terms(&all), &[]);
        let split = |into: &[&str], leftover| {
            let into = into.iter().map(|path| path.parse().unwrap()).collect();
            [("work".to_owned(), SplitTag { into, leftover })].into()
        };
        let all_tags = |near: &Nearness| {
            tags(near, [1.0, 0.0], 5).iter().map(|it| it.path.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(all_tags(&near), ["work"]);
        near.naming.former.split = split(&["task", "talk"], Leftover::Keep);
        assert_eq!(all_tags(&near), ["task"], "what is not in its place is no nearer for that");
        near.naming.former.split = split(&["talk", "other"], Leftover::Keep);
        assert_eq!(all_tags(&near), ["work"]);
        near.naming.former.split = split(&["talk", "other"], Leftover::First);
        assert_eq!(all_tags(&near), ["talk"]);
    }

    #[test]
    fn a_term_is_proposed_by_what_it_is_called_and_a_described_tag_beside_it() {
        let all = [("a", &[[0.9, 0.0]][..]), ("b", &[[0.88, 0.0]]), ("c", &[[0.86, 0.0]])];
        let mut near = nearness(terms(&all), terms(&[]), &[]);
        near.called = vec![None, Some("z:b".parse().unwrap()), Some("c".parse().unwrap())];
        // The same background is subtracted from its similarity as from the terms'.
        near.described = terms(&[("mine", &[[0.8, 0.0], [0.95, 0.0]])]);
        let tags = tags(&near, [1.0, 0.0], 5);
        assert_eq!(paths(&tags), ["z:b", "mine", "c"]);
        assert!((tags[1].confidence.unwrap() - (0.875 - 0.44)).abs() < 1e-6, "{tags:?}");
    }
}
