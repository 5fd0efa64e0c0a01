//! The terms and conditions of a query's text, weighted by their frequency in the namespaces.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};

use super::search::Search;
use super::small_scope::ScopeTexts;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::rank::{self, Asked, Lexeme, Sought};
use crate::model::recall::Correction;
use crate::model::spelling::{self, Meant, Typed, Vocabulary};
use crate::model::timeframe::{NamedMonth, Zone, named_months};
use crate::model::words::{Sign, SignKind, Words};
use crate::store::filter::{Conditions, Required};
use crate::store::recall::{Choosing, Lexed, Reader, Size, TextSearch};

/// The most lexemes of a query that is corrected: a longer text has enough words.
const MOST_CORRECTED: usize = 64;

/// The most unknown words that are corrected.
const MOST_UNKNOWN: usize = 8;

/// The first letter of Thai. Scripts without spaces between words, which full text divides by itself, come from there on.
const FIRST_WITHOUT_SPACES: char = '\u{e00}';

/// The terms and conditions of a query's text.
pub(super) struct Text<'a> {
    pub(super) words: &'a Words,
    /// Each sign in the form of full text.
    lexed: Vec<Lexed>,
    pub(super) asked: Asked,
    /// The indexes of the signs that rank: terms, quotations, prefixes.
    ranking: Vec<usize>,
    pub(super) required: Required,
    pub(super) choosing: Vec<Choosing>,
    pub(super) mentions: Mentions,
    /// The words for an index of pg_textsearch.
    spoken: String,
}

impl<'a> Text<'a> {
    fn new(words: &'a Words, lexed: Vec<Lexed>) -> Self {
        let mut required = Required::default();
        let mut phrases = Vec::new();
        for (sign, lexed) in words.signs.iter().zip(&lexed) {
            let is_as_written = sign.is_as_written(lexed.query.is_none() || lexed.is_short);
            match sign.kind {
                SignKind::Phrase => {
                    // The texts of a language that drops the phrase whole do not have it in full text.
                    let query = lexed.query.as_ref().filter(|_| !lexed.is_short);
                    phrases.extend(query.map(|query| format!("({query})")));
                    required.patterns.extend(is_as_written.then(|| sign.pattern().to_owned()));
                }
                SignKind::Without | SignKind::WithoutPrefix if is_as_written => {
                    required.barred_patterns.push(sign.pattern().to_owned());
                }
                SignKind::Without | SignKind::WithoutPrefix => required.barred.extend(lexed.query.clone()),
                SignKind::Prefix | SignKind::Term | SignKind::Quotation => {}
            }
        }
        required.phrases = (!phrases.is_empty()).then(|| phrases.join(" & "));
        let ranks = |at: &usize| {
            matches!(words.signs[*at].kind, SignKind::Prefix | SignKind::Term | SignKind::Quotation)
        };
        let ranking = (0..lexed.len()).filter(ranks).collect();
        Self {
            words,
            lexed,
            asked: Asked::default(),
            ranking,
            required,
            choosing: Vec::new(),
            mentions: Mentions::default(),
            spoken: String::new(),
        }
    }

    fn weigh(&mut self, mut asked: Asked) {
        asked.has_phrase = self.required.has_phrase();
        let nodes = asked.corpus.nodes;
        asked.sought = self
            .ranking
            .iter()
            .map(|&at| match self.words.signs[at].kind {
                // A prefix weighs as much as a word that is in as many nodes as all of its words together.
                SignKind::Prefix => Sought {
                    is_prefix: true,
                    idf: rank::idf(nodes, self.lexed[at].nodes.max(1.0).min(nodes)),
                },
                _ => Sought { is_prefix: false, idf: asked.weight_of(&self.lexed[at].lexemes) },
            })
            .collect();
        self.choosing = asked
            .choosing()
            .iter()
            .map(|word| Choosing { query: word.query(), weight: word.idf, is_exact: false })
            .collect();
        for (&at, sought) in self.ranking.iter().zip(&asked.sought) {
            if let Some(query) = &self.lexed[at].query {
                let (query, weight) = (query.clone(), sought.idf);
                self.choosing.push(Choosing { query, weight, is_exact: !sought.is_prefix });
            }
        }
        self.asked = asked;
    }

    /// Whether candidates can be chosen by the text.
    pub(super) fn can_choose(&self) -> bool {
        !self.choosing.is_empty() || self.required.has_phrase()
    }

    /// The only choosing word and the number of newest nodes to search for it, if that is faster than the index. The number
    /// is four times the expected one. A word that was only used long ago is not found there.
    pub(super) fn frequent(
        &self,
        size: &Size,
        conditions: &Conditions,
        pool: usize,
    ) -> Option<(&Choosing, usize)> {
        let ([word], [asked]) = (&self.choosing[..], self.asked.choosing()) else { return None };
        let needed = pool as f64 * size.nodes / asked.nodes;
        let is_faster = needed < asked.nodes / 2.0;
        (conditions.is_wide() && is_faster).then_some((word, (4.0 * needed) as usize))
    }

    /// The index of pg_textsearch to search, and the text to search it for; none: the query needs what that index does not
    /// have. It sees no words in scripts without spaces, no signs, and no former texts.
    pub(super) fn by_bm25<'s>(
        &'s self,
        size: &'s Size,
        conditions: &Conditions,
    ) -> Option<(&'s str, &'s str)> {
        let has_spaces = self.spoken.chars().all(|letter| letter < FIRST_WITHOUT_SPACES);
        let sees_all = conditions.is_wide() && has_spaces && self.words.signs.is_empty();
        let index = size.usable_bm25().filter(|_| sees_all)?;
        Some((index, &self.spoken))
    }

    /// By the index, which does not know namespaces and returns the nodes of all; or by reading each node in scope, if
    /// these are few in comparison. Words are assumed to be as frequent elsewhere as they are here. A node with one of
    /// them often has another, so the sum is too large.
    pub(super) fn search(&self, size: &Size, conditions: &Conditions) -> TextSearch {
        if conditions.required().has_phrase() {
            return TextSearch::Scope;
        }
        let here: f64 = self.asked.choosing().iter().map(|word| word.nodes).sum();
        let indexed = size.nodes.max(size.all_nodes) * here / size.nodes.max(1.0);
        let is_wide = conditions.is_wide();
        match is_wide && size.nodes <= indexed / 3.0 {
            true => TextSearch::Scope,
            false if is_wide && size.is_nearly_all() => TextSearch::Words,
            false => TextSearch::Index,
        }
    }

    /// The occurrences of the ranking signs in some nodes: the node, the index of the sign, and the count.
    pub(super) async fn sought(
        &self,
        reader: &mut Reader,
        nodes: &[NodeId],
    ) -> Result<Vec<(NodeId, usize, f64)>> {
        if self.asked.sought.is_empty() {
            return Ok(Vec::new());
        }
        let queries: Vec<Option<String>> =
            self.ranking.iter().map(|&at| self.lexed[at].query.clone()).collect();
        let patterns: Vec<&str> = self.ranking.iter().map(|&at| self.words.signs[at].pattern()).collect();
        let prefixes: Vec<bool> = self.asked.sought.iter().map(|sought| sought.is_prefix).collect();
        reader.sought(nodes, &queries, &patterns, &prefixes).await
    }

    /// The terms that a snippet marks, as a `tsquery`.
    pub(super) fn shown(&self) -> String {
        let signs = self.words.signs.iter().zip(&self.lexed);
        let signs = signs
            .filter(|(sign, _)| !sign.kind.excludes())
            .filter_map(|(_, lexed)| Some(format!("({})", lexed.query.as_ref()?)));
        self.asked.words.iter().map(rank::Word::query).chain(signs).collect::<Vec<_>>().join(" | ")
    }
}

impl Search<'_> {
    /// The conditions of the query's signs. Its words have no weights yet.
    pub(super) async fn signs(&self, reader: &mut Reader, size: &Size) -> Result<Text<'_>> {
        let signs = &self.words.signs[..];
        let lexed = match signs.is_empty() {
            true => Vec::new(),
            false => reader.signs(self.namespaces, &size.languages, signs).await?,
        };
        Ok(Text::new(self.words, lexed))
    }

    /// The lexemes of the query's words, with their numbers of nodes unless these are `counted_later`.
    pub(super) async fn lexemes(
        &self,
        reader: &mut Reader,
        size: &Size,
        counted_later: bool,
    ) -> Result<Vec<Lexeme>> {
        let parts: Vec<&str> = self.words.signs.iter().filter_map(Sign::parts).collect();
        self.lexemes_of(reader, size, counted_later, &self.words.searched(), &parts).await
    }

    async fn lexemes_of(
        &self,
        reader: &mut Reader,
        size: &Size,
        counted_later: bool,
        text: &str,
        parts: &[&str],
    ) -> Result<Vec<Lexeme>> {
        match counted_later {
            true => reader.uncounted_lexemes(&size.languages, text, parts).await,
            false => reader.lexemes(self.namespaces, size, text, parts).await,
        }
    }

    /// Weighs the query's words by their frequency in these namespaces, which is counted in `texts` if these are all.
    /// Returns the corrections.
    pub(super) async fn weigh(
        &self,
        text: &mut Text<'_>,
        mut lexemes: Vec<Lexeme>,
        texts: Option<&ScopeTexts>,
        reader: &mut Reader,
        size: &Size,
    ) -> Result<Vec<Correction>> {
        let mut corrected = Vec::new();
        let searched = self.words.searched();
        let mut corpus = size.corpus();
        // The statistics may be older than the texts.
        if let Some(texts) = texts {
            corpus.nodes = corpus.nodes.max(texts.count() as f64);
            texts.count_nodes(&mut lexemes);
        }
        if self.then.is_past() {
            // The counts are of current texts. A word of a former text may be in none of them.
            lexemes.iter_mut().for_each(|lexeme| lexeme.nodes = lexeme.nodes.max(1.0));
            corpus.nodes = lexemes.iter().map(|lexeme| lexeme.nodes).fold(corpus.nodes, f64::max);
        }
        let is_short = lexemes.len() <= MOST_CORRECTED;
        if is_short && lexemes.iter().any(|lexeme| lexeme.nodes == 0.0) {
            let compounds = spelling::compounds(&searched).into_iter();
            let unknown =
                compounds.filter(|(name, _)| is_unknown(&lexemes, name)).flat_map(|(_, parts)| parts);
            let parts: Vec<String> = unknown.collect();
            if !parts.is_empty() {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                let mut added = self.lexemes_of(reader, size, texts.is_some(), "", &parts).await?;
                texts.inspect(|texts| texts.count_nodes(&mut added));
                lexemes.extend(added);
            }
            if self.query.correct && self.settings.recall.correct {
                corrected = self.correct(reader, size, texts, &searched, &mut lexemes).await?;
            }
        }
        // Words that are searched as beginnings, as those of Hangul are, may be names too.
        text.mentions = Mentions::of(&self.words.plain, &self.settings.time.zone);
        text.spoken = spoken(&searched, &corrected);
        text.weigh(Asked::new(corpus, lexemes));
        Ok(corrected)
    }

    /// Corrects words that no node has: adds the lexemes that were probably meant, and returns the corrections.
    async fn correct(
        &self,
        reader: &mut Reader,
        size: &Size,
        texts: Option<&ScopeTexts>,
        searched: &str,
        lexemes: &mut Vec<Lexeme>,
    ) -> Result<Vec<Correction>> {
        let words = spelling::words(searched);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Vec<&str> = words.iter().map(String::as_str).collect();
        let stems = reader.stems(&size.languages, &asked).await?;
        // A word that is unknown in one language may be a word of another.
        let has = |stem: &String| lexemes.iter().any(|lexeme| lexeme.lexeme == *stem && lexeme.nodes > 0.0);
        let has_none = |stems: &Vec<String>| !stems.is_empty() && !stems.iter().any(has);
        let unknown = words.into_iter().zip(stems).filter(|(_, stems)| has_none(stems)).take(MOST_UNKNOWN);
        let unknown: Vec<(String, Vec<String>)> = unknown.collect();
        if unknown.is_empty() {
            return Ok(Vec::new());
        }
        let variants = |word: &str| match spelling::is_ordinary(word) {
            true => Vec::new(),
            false => spelling::variants(word),
        };
        let variants: Vec<Vec<String>> = unknown.iter().map(|(word, _)| variants(word)).collect();
        let all: Vec<&str> = variants.iter().flatten().map(String::as_str).collect();
        let mut of_variants = reader.stems(&size.languages, &all).await?.into_iter();
        let typed = unknown.into_iter().zip(variants);
        let typed = typed.map(|((word, stems), variants)| {
            Typed::new(word, stems, variants.into_iter().zip(of_variants.by_ref()))
        });
        let typed = typed.collect();
        let mut corrected = Vec::new();
        for (asked, Meant { used, lexeme, nodes }) in self.meant(reader, size, texts, typed).await? {
            lexemes.push(Lexeme { lexeme, nodes, ..Lexeme::default() });
            corrected.push(Correction { asked, used });
        }
        corrected.sort_by(|a, b| (&a.asked, &a.used).cmp(&(&b.asked, &b.used)));
        Ok(corrected)
    }

    /// The known words that were meant by unknown ones, each with the unknown one.
    async fn meant(
        &self,
        reader: &mut Reader,
        size: &Size,
        texts: Option<&ScopeTexts>,
        typed: Vec<Typed>,
    ) -> Result<Vec<(String, Meant)>> {
        let meant_in = |known: &Vocabulary| -> Vec<(String, Meant)> {
            let meant =
                |typed: &Typed| Some((typed.word.clone(), spelling::meant(typed, known, size.nodes)?));
            typed.iter().filter_map(meant).collect()
        };
        if let Some(texts) = texts {
            return Ok(meant_in(&spelling::by_first_letter(texts.vocabulary(&typed))));
        }
        let lengths = spelling::lengths(&typed);
        let Some(counted_at) = &size.counted_at else {
            let known = reader.vocabulary(self.namespaces, &[], &lengths).await?;
            return Ok(meant_in(&spelling::by_first_letter(known)));
        };
        let firsts = lengths.into_keys().collect();
        let known = self.known_words.beginning_with(firsts, reader, self.namespaces, counted_at).await?;
        let mut meant = meant_in(&known);
        if !meant.is_empty() {
            // A kept word may be of a memory that was erased meanwhile.
            let lexemes: Vec<&str> = meant.iter().map(|(_, meant)| meant.lexeme.as_str()).collect();
            let now = reader.vocabulary(self.namespaces, &lexemes, &BTreeMap::new()).await?;
            meant.retain(|(_, meant)| now.get(&meant.lexeme).is_some_and(|nodes| *nodes > 0.0));
        }
        Ok(meant)
    }
}

/// The searched words, each once because a word counts as often as it is there, and those that were meant by unknown ones.
fn spoken(searched: &str, corrected: &[Correction]) -> String {
    let used = corrected.iter().map(|correction| correction.used.as_str());
    let mut seen = HashSet::new();
    let words = searched.split_whitespace().chain(used).filter(|word| seen.insert(word.to_lowercase()));
    words.collect::<Vec<_>>().join(" ")
}

fn is_unknown(lexemes: &[Lexeme], word: &str) -> bool {
    lexemes.iter().any(|lexeme| lexeme.lexeme == word && lexeme.nodes == 0.0)
}

/// Speakers and months that a query names.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentions {
    /// The words of the query, in lower case: each may be a name.
    names: HashSet<String>,
    months: Vec<NamedMonth>,
    /// The zone of the months.
    zone: Zone,
}

impl Mentions {
    fn of(text: &str, zone: &Zone) -> Self {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().nth(1).is_some());
        let names = words.map(str::to_lowercase).collect();
        Self { names, months: named_months(text), zone: zone.clone() }
    }

    /// Whether a memory of this time may be about a month of the query.
    pub(super) fn has_month(&self, at: DateTime<Utc>) -> bool {
        !self.months.is_empty() && {
            let local = self.zone.local(at);
            self.months.iter().any(|month| month.is_spoken_of(local))
        }
    }

    pub(super) fn has_speaker(&self, speaker: &str) -> bool {
        self.names.contains(speaker)
            || speaker.split(' ').next().is_some_and(|first| self.names.contains(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_those_of_the_zone() {
        // The first of July in Auckland.
        let at = "2026-06-30T20:00:00Z".parse().unwrap();
        let has = |text: &str, zone: &str| Mentions::of(text, &zone.parse().unwrap()).has_month(at);
        assert!(has("a walk in July", "Pacific/Auckland"));
        assert!(!has("a walk in July", "UTC"));
        assert!(has("a walk in June 2026", "UTC"));
        assert!(!has("a walk", "UTC"));
    }
}
