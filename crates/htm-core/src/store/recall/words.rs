//! The words of a query as lexemes of full text, and their numbers of nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::types::Json;

use super::reader::{Plans, Reader, Size};
use crate::model::error::Result;
use crate::model::lexeme::quoted;
use crate::model::rank::Lexeme;
use crate::model::spelling::Frequencies;
use crate::model::words::Sign;
use crate::store::filter::unindexed;
use crate::store::named::{Named, sql};

const LEXEMES: &str = include_str!("../sql/recall/lexemes.sql");

/// A sign of the query in the form of full text.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct Lexed {
    /// As a `tsquery`; none if it has no lexeme.
    pub(crate) query: Option<String>,
    /// Whether some language drops all of it.
    pub(crate) is_short: bool,
    pub(crate) lexemes: Vec<String>,
    /// The node counts of all words with this prefix, in total; 0 for other signs.
    pub(crate) nodes: f64,
}

impl Reader {
    /// The lexemes of a text, and of words in it that full text would not see, without their numbers of nodes.
    pub(crate) async fn uncounted_lexemes(
        &mut self,
        languages: &[String],
        text: &str,
        parts: &[&str],
    ) -> Result<Vec<Lexeme>> {
        let rows: Vec<(String, bool, Vec<i32>, Vec<i32>)> = sql!(LEXEMES)
            .bind("languages", languages)?
            .bind("text", text)?
            .bind("parts", parts)?
            .fetch_all(self.once().await?)
            .await?;
        let lexeme = |(lexeme, is_part, languages, places)| Lexeme {
            lexeme,
            nodes: 0.0,
            is_part,
            places: places_of(languages, places),
        };
        Ok(rows.into_iter().map(lexeme).collect())
    }

    /// The lexemes of a text, and of words in it that full text would not see.
    pub(crate) async fn lexemes(
        &mut self,
        namespaces: &[&str],
        size: &Size,
        text: &str,
        parts: &[&str],
    ) -> Result<Vec<Lexeme>> {
        let sql = include_str!("../sql/recall/words.sql").replace("{{lexemes}}", LEXEMES);
        let mut rows: Vec<LexemeRow> = Named::new(&sql)
            .bind("namespaces", namespaces)?
            .bind("languages", &size.languages)?
            .bind("text", text)?
            .bind("parts", parts)?
            .bind("is_small_part", size.is_small_part())?
            .fetch_all(self.once().await?)
            .await?;
        let mut new: Vec<&mut LexemeRow> = rows.iter_mut().filter(|row| !row.unread.is_empty()).collect();
        // These namespaces are the same for each.
        if let Some(unread) = new.first().map(|row| row.unread.clone()) {
            let words: Vec<String> = new.iter().map(|row| quoted(&row.lexeme)).collect();
            let on_node = "m.namespace = any (:namespaces)";
            let (plans, on_node) = match size.is_nearly_all() && unread.len() == namespaces.len() {
                true => (Plans::Once, unindexed(on_node)),
                false => (Plans::Anew, on_node.to_owned()),
            };
            let sql = include_str!("../sql/recall/new_words.sql").replace("{{conditions}}", &on_node);
            let nodes: Vec<f64> = Named::new(&sql)
                .bind("words", words)?
                .bind("namespaces", unread)?
                .fetch_scalars(self.planned(plans).await?)
                .await?;
            new.iter_mut().zip(nodes).for_each(|(row, nodes)| row.nodes = nodes);
        }
        Ok(rows.into_iter().map(LexemeRow::lexeme).collect())
    }

    /// The stems of each word in all languages; none of a word that a language drops, for it is a word of that language.
    pub(crate) async fn stems(&mut self, languages: &[String], words: &[&str]) -> Result<Vec<Vec<String>>> {
        let by_language: Vec<Vec<String>> = sql!(include_str!("../sql/recall/stems.sql"))
            .bind("words", words)?
            .bind("languages", languages)?
            .fetch_scalars(self.once().await?)
            .await?;
        let mut all = vec![Vec::new(); words.len()];
        for (at, stems) in all.iter_mut().enumerate() {
            let of_word = || by_language.iter().filter_map(|words| words.get(at));
            if of_word().any(String::is_empty) {
                continue;
            }
            for stem in of_word().flat_map(|stems| stems.lines()) {
                if !stems.iter().any(|known| known == stem) {
                    stems.push(stem.to_owned());
                }
            }
        }
        Ok(all)
    }

    /// The named lexemes that are known, and those with these first letters, each with its fewest and most letters.
    pub(crate) async fn vocabulary(
        &mut self,
        namespaces: &[&str],
        named: &[&str],
        lengths: &BTreeMap<char, (usize, usize)>,
    ) -> Result<Frequencies> {
        let firsts: Vec<String> = lengths.keys().map(char::to_string).collect();
        let shortest: Vec<i32> = lengths.values().map(|(shortest, _)| *shortest as i32).collect();
        let longest: Vec<i32> = lengths.values().map(|(_, longest)| *longest as i32).collect();
        let rows: Vec<(String, f64)> = sql!(include_str!("../sql/recall/vocabulary.sql"))
            .bind("namespaces", namespaces)?
            .bind("named", named)?
            .bind("firsts", firsts)?
            .bind("shortest", shortest)?
            .bind("longest", longest)?
            .fetch_all(self.once().await?)
            .await?;
        Ok(rows.into_iter().collect())
    }

    /// The counted lexemes that begin with each of these letters.
    pub(crate) async fn counted_words(
        &mut self,
        namespaces: &[&str],
        firsts: &[char],
    ) -> Result<Vec<(char, CountedWords)>> {
        let texts: Vec<String> = firsts.iter().map(char::to_string).collect();
        let rows: Vec<LetterRow> = sql!(include_str!("../sql/recall/counted_words.sql"))
            .bind("namespaces", namespaces)?
            .bind("firsts", texts)?
            .fetch_all(self.once().await?)
            .await?;
        let read = |row: LetterRow| {
            let words = row.lexemes.into_iter().zip(row.nodes).collect();
            let counted_at = row.counted_at.unwrap_or_default();
            Some((row.first.chars().next()?, CountedWords { words: Arc::new(words), counted_at }))
        };
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// The signs in the form of full text, in the given order.
    pub(crate) async fn signs(
        &mut self,
        namespaces: &[&str],
        languages: &[String],
        signs: &[Sign],
    ) -> Result<Vec<Lexed>> {
        sql!(include_str!("../sql/recall/signs.sql"))
            .bind("namespaces", namespaces)?
            .bind("languages", languages)?
            .bind("signs", Json(signs))?
            .fetch_all(self.once().await?)
            .await
    }
}

/// The counted lexemes of some namespaces that begin with one letter.
#[derive(Clone, Debug)]
pub(crate) struct CountedWords {
    pub(crate) words: Arc<Frequencies>,
    /// The times of the counts, in the order of the namespaces.
    pub(crate) counted_at: Vec<DateTime<Utc>>,
}

#[derive(sqlx::FromRow)]
struct LetterRow {
    first: String,
    lexemes: Vec<String>,
    nodes: Vec<f64>,
    counted_at: Option<Vec<DateTime<Utc>>>,
}

#[derive(sqlx::FromRow)]
struct LexemeRow {
    lexeme: String,
    is_part: bool,
    languages: Vec<i32>,
    places: Vec<i32>,
    nodes: f64,
    /// If no node is known to have it: the namespaces that were not read for it.
    unread: Vec<String>,
}

impl LexemeRow {
    fn lexeme(self) -> Lexeme {
        let places = places_of(self.languages, self.places);
        Lexeme { lexeme: self.lexeme, nodes: self.nodes, is_part: self.is_part, places }
    }
}

fn places_of(languages: Vec<i32>, places: Vec<i32>) -> Vec<(usize, i32)> {
    languages.into_iter().map(|language| language as usize).zip(places).collect()
}
