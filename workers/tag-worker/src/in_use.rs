//! The tags of a namespace, in a cache. A reading with more tags is kept for longer.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use htm_core::tag::{KnownTag, TagPath};
use moka::Expiry;
use moka::future::Cache;

/// The most tags that are read of a namespace: the most used ones.
pub(crate) const MOST: u32 = 100_000;
/// The time for which a reading is kept, per tag in it. Reading takes about 10 µs per tag. A young ontology is read for
/// each call, since each new tag counts. One of 100,000 tags is read twice a minute. Concurrent calls that propose the
/// same new tag still create it once.
const KEPT_A_TAG: Duration = Duration::from_micros(300);
/// The time for which a slow reading is kept, as a multiple of its duration beyond [`QUICK`]. Reading takes up to 150
/// µs per tag if each has a thousand uses.
const KEPT_A_READING: u32 = 30;
/// A reading that takes no longer is not slow.
const QUICK: Duration = Duration::from_millis(20);
/// The most tags in the cache, of all namespaces together.
const KEPT_TAGS: u64 = 1_000_000;
/// A word in more tags than this is too common to select tags.
const COMMON: usize = 2_000;

/// The tags in use in a namespace.
#[derive(Debug, Default)]
pub(crate) struct InUse {
    /// The most used first.
    pub(crate) tags: Vec<KnownTag>,
    /// The descriptions of described tags.
    pub(crate) about: HashMap<TagPath, String>,
    /// The places in [`tags`](Self::tags) of the tags with a word, in the name or the description.
    by_word: HashMap<String, Vec<u32>>,
}

/// Readings of namespaces' tags.
pub(crate) struct Readings<T>(Cache<(String, i64), Arc<Reading<T>>>);

/// A reading of a namespace's tags.
#[derive(Debug)]
pub(crate) struct Reading<T> {
    pub(crate) value: T,
    tags: usize,
    read_in: Duration,
}

impl<T: Send + Sync + 'static> Readings<T> {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .weigher(|_, reading: &Arc<Reading<T>>| reading.tags.max(1).try_into().unwrap_or(u32::MAX))
            .max_capacity(KEPT_TAGS)
            .expire_after(BySize)
            .build();
        Self(cache)
    }

    /// The reading of a namespace after its last change, from the cache or by `read` and `make`. Concurrent calls share
    /// one reading.
    pub(crate) async fn of(
        &self,
        (namespace, change): (&str, i64),
        read: impl Future<Output = htm_core::Result<Vec<KnownTag>>>,
        make: impl FnOnce(Vec<KnownTag>) -> T,
    ) -> Result<Arc<Reading<T>>, Arc<htm_core::Error>> {
        let reading = async {
            let started = Instant::now();
            let tags = read.await?;
            let (count, read_in) = (tags.len(), started.elapsed());
            Ok(Arc::new(Reading { value: make(tags), tags: count, read_in }))
        };
        self.0.try_get_with((namespace.to_owned(), change), reading).await
    }
}

struct BySize;

impl<T> Expiry<(String, i64), Arc<Reading<T>>> for BySize {
    fn expire_after_create(
        &self,
        _: &(String, i64),
        reading: &Arc<Reading<T>>,
        _: Instant,
    ) -> Option<Duration> {
        Some(kept(reading.tags, reading.read_in))
    }
}

fn kept(tags: usize, read_in: Duration) -> Duration {
    let for_its_tags = KEPT_A_TAG * tags.try_into().unwrap_or(u32::MAX);
    for_its_tags.max(read_in.saturating_sub(QUICK) * KEPT_A_READING)
}

impl InUse {
    pub(crate) fn new(tags: Vec<KnownTag>) -> Self {
        let mut by_word: HashMap<String, Vec<u32>> = HashMap::new();
        for (place, tag) in (0..).zip(&tags) {
            for word in words(&tag.words()) {
                by_word.entry(word).or_default().push(place);
            }
        }
        let about = |tag: &KnownTag| Some((tag.path.clone(), tag.description.clone()?));
        Self { about: tags.iter().filter_map(about).collect(), tags, by_word }
    }

    /// Places in [`tags`](Self::tags), the likeliest first: tags that share words with the texts, by the rarity of the
    /// words, then the others by use.
    pub(crate) fn likeliest(&self, texts: &[String]) -> Vec<usize> {
        let spoken: HashSet<String> = texts.iter().flat_map(|text| words(text)).collect();
        let mut shared: HashMap<u32, f32> = HashMap::new();
        for places in spoken.iter().filter_map(|word| self.by_word.get(word)) {
            if places.len() <= COMMON {
                for place in places {
                    *shared.entry(*place).or_default() += 1.0 / places.len() as f32;
                }
            }
        }
        let mut first: Vec<(u32, f32)> = shared.iter().map(|(place, score)| (*place, *score)).collect();
        first.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let others = (0..self.tags.len()).filter(|place| !shared.contains_key(&(*place as u32)));
        first.iter().map(|(place, _)| *place as usize).chain(others).collect()
    }

    /// The roots, then the tags of the second level, both by the use of the most used tag at or below them.
    pub(crate) fn top(&self) -> impl Iterator<Item = TagPath> {
        let mut seen = HashSet::new();
        let levels = [1, 2].into_iter().flat_map(|depth| {
            self.tags.iter().map(|tag| &tag.path).filter_map(move |path| match path.depth() {
                own if own < depth => None,
                own if own == depth => Some(path.clone()),
                _ => path.ancestors().into_iter().nth(depth - 1),
            })
        });
        levels.filter(move |path| seen.insert(path.clone()))
    }
}

/// The distinct words of a text or a path, in lower case and without a final `s`.
fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 2);
    let stem = |word: &str| {
        let word = word.to_lowercase();
        word.strip_suffix('s').filter(|stem| stem.len() > 2).map(str::to_owned).unwrap_or(word)
    };
    words.map(stem).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn in_use(paths: &[&str]) -> InUse {
        InUse::new(paths.iter().map(|path| path.parse::<TagPath>().unwrap().into()).collect())
    }

    #[test]
    fn a_slow_reading_is_kept_longer() {
        let (quick, slow) = (Duration::from_millis(5), Duration::from_millis(620));
        assert_eq!(kept(10, quick), Duration::from_millis(3));
        assert_eq!(kept(4_000, quick), Duration::from_millis(1_200));
        assert_eq!(kept(4_000, slow), Duration::from_secs(18));
    }

    #[tokio::test]
    async fn a_slow_reading_is_not_repeated_for_each_call() {
        let reads = AtomicUsize::new(0);
        let readings = Readings::new();
        let read = async || {
            reads.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(QUICK * 5).await;
            Ok(vec![KnownTag::from("a:b".parse::<TagPath>().unwrap())])
        };
        for _ in 0..3 {
            assert_eq!(readings.of(("default", 7), read(), |tags| tags).await.unwrap().value.len(), 1);
        }
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        // A split tag is not shown once more.
        readings.of(("default", 8), read(), |tags| tags).await.unwrap();
        assert_eq!(reads.load(Ordering::Relaxed), 2);
        assert_eq!(readings.of(("other", 0), async { Ok(Vec::new()) }, |tags| tags).await.unwrap().value, []);
    }

    #[test]
    fn shared_words_come_before_use_and_rare_ones_before_common_ones() {
        let ontology = in_use(&["a:b", "food:japan", "food:italy", "travel:japan:ramen"]);
        let texts = ["Ramens in Japan are good food".to_owned()];
        assert_eq!(ontology.likeliest(&texts), [3, 1, 2, 0]);
        assert_eq!(ontology.likeliest(&[]), [0, 1, 2, 3]);
    }

    #[test]
    fn the_top_of_the_tree_is_each_beginning_once() {
        let ontology = in_use(&["b:x:y", "a", "b:z", "c:d"]);
        let top: Vec<String> = ontology.top().map(String::from).collect();
        assert_eq!(top, ["b", "a", "c", "b:x", "b:z", "c:d"]);
    }
}
