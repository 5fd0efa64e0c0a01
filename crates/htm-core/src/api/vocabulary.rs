//! The counted words of searched namespaces, by their first letter. They are kept between two counts: reading those that a
//! misspelled word may mean takes a seventh of the search of a small namespace.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use moka::sync::Cache;

use crate::model::error::Result;
use crate::model::spelling::Vocabulary;
use crate::store::recall::{CountedWords, Reader};

/// The time for which words are kept without being read.
const KEPT: Duration = Duration::from_secs(60);

/// The most bytes of kept words.
const MOST_BYTES: u64 = 32 << 20;

/// The bytes of a kept word beside its letters: a place in a table that is half full, and an allocation.
const WORD: usize = 80;

/// Namespaces and a letter.
type Key = (Vec<String>, char);

/// The known words.
pub(crate) struct KnownWords(Cache<Key, CountedWords>);

impl Default for KnownWords {
    fn default() -> Self {
        Self(Cache::builder().weigher(bytes).max_capacity(MOST_BYTES).time_to_idle(KEPT).build())
    }
}

fn bytes((namespaces, _): &Key, counted: &CountedWords) -> u32 {
    let names = namespaces.iter().chain(counted.words.keys());
    names.map(|name| name.len() + WORD).sum::<usize>().try_into().unwrap_or(u32::MAX)
}

impl KnownWords {
    /// The words of namespaces that begin with one of these letters. `counted_at` are the times of the last counts.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn beginning_with(
        &self,
        firsts: BTreeSet<char>,
        reader: &mut Reader,
        namespaces: &[&str],
        counted_at: &[DateTime<Utc>],
    ) -> Result<Vocabulary> {
        let key = |first| (namespaces.iter().map(|it| (*it).to_owned()).collect(), first);
        let (mut known, mut unknown) = (Vocabulary::new(), Vec::new());
        for first in firsts {
            match self.0.get(&key(first)).filter(|counted| counted.counted_at == counted_at) {
                Some(counted) => drop(known.insert(first, counted.words)),
                None => unknown.push(first),
            }
        }
        if !unknown.is_empty() {
            for (first, counted) in reader.counted_words(namespaces, &unknown).await? {
                known.insert(first, Arc::clone(&counted.words));
                self.0.insert(key(first), counted);
            }
        }
        Ok(known)
    }

    /// Drops all words.
    pub(crate) fn clear(&self) {
        self.0.invalidate_all();
        // They are freed now and not with the next use.
        self.0.run_pending_tasks();
    }
}
