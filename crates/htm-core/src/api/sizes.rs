//! The sizes of searched namespaces, known for a second: reading them anew takes a tenth of a small search.

use std::time::Duration;

use moka::sync::Cache;

use crate::store::recall::Size;

/// The longest time for which a size is known. The statistics are a minute old themselves.
const KEPT: Duration = Duration::from_secs(1);

/// The least number of counted nodes of a size that is kept. In a smaller namespace a new memory matters, and one in a
/// language that was not there.
const LEAST: f64 = 500.0;

/// Namespaces, and whether the size has what a search for words needs.
type Key = (Vec<String>, bool);

/// The known sizes.
pub(crate) struct Sizes(Cache<Key, Size>);

impl Default for Sizes {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(10_000).time_to_live(KEPT).build())
    }
}

impl Sizes {
    pub(crate) fn key(namespaces: &[&str], has_words: bool) -> Key {
        (namespaces.iter().map(|it| (*it).to_owned()).collect(), has_words)
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Size> {
        self.0.get(key)
    }

    /// Keeps a size if it is that of large namespaces that were counted.
    pub(crate) fn keep(&self, key: Key, size: &Size) {
        if size.is_counted && size.nodes >= LEAST {
            self.0.insert(key, size.clone());
        }
    }
}
