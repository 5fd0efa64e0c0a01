//! The priorities of jobs; the highest is claimed first. The table allows only these (`jobs_htm_priority_known`): a
//! claim looks each of them up by the index.

use std::collections::HashMap;

use super::connections::Db;
use super::named::sql;
use crate::model::error::Result;

/// Jobs of memories that were just written.
pub const LIVE: i32 = 0;

/// Jobs of bulk writes to a namespace with many open jobs: behind namespaces with few.
pub const BULK: i32 = -1;

/// Jobs of bulk writes to a namespace with a great many open jobs: behind every other import.
pub const FLOOD: i32 = -2;

/// Jobs of backfills.
pub const BACKFILL: i32 = -10;

/// All priorities, the highest first.
pub const ALL: [i32; 4] = [LIVE, BULK, FLOOD, BACKFILL];

/// The number of open jobs of a namespace, including the new ones, from which bulk writes are [`BULK`]: about as many
/// as a worker embeds in a few seconds.
const MANY: i64 = 1_000;

/// The number from which they are a [`FLOOD`]. No more are counted.
const A_GREAT_MANY: i64 = 10_000;

/// The priorities of the jobs of bulk writes, which must not hold up others: the more open jobs a namespace has, the later
/// the jobs of its next nodes are claimed. `written` has the namespace of each new node.
pub(crate) async fn in_bulk<'a>(
    db: impl Into<Db<'_>>,
    written: impl Iterator<Item = &'a str>,
) -> Result<HashMap<&'a str, i32>> {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    for namespace in written {
        *counts.entry(namespace).or_default() += 1;
    }
    // A namespace with ten times as many jobs that are open or dead letters counts as one with the most: no more rows are
    // read.
    let open: Vec<(String, i64)> = sql!(include_str!("sql/count_open.sql"))
        .bind("namespaces", counts.keys().copied().collect::<Vec<_>>())?
        .bind("most", A_GREAT_MANY)?
        .bind("read", 10 * A_GREAT_MANY)?
        .fetch_all(db)
        .await?;
    let open: HashMap<String, i64> = open.into_iter().collect();
    Ok(counts.into_iter().map(|(namespace, new)| (namespace, of_bulk(open[namespace] + new))).collect())
}

/// The priority of bulk writes, by the open jobs of their namespace, including the new ones.
fn of_bulk(open: i64) -> i32 {
    match open {
        A_GREAT_MANY.. => FLOOD,
        MANY.. => BULK,
        _ => LIVE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_jobs_are_open_the_later_are_the_next_ones() {
        assert_eq!([0, 999, 1_000, 9_999, 10_000].map(of_bulk), [LIVE, LIVE, BULK, BULK, FLOOD]);
        assert!(ALL.is_sorted_by(|one, next| one > next), "the highest first");
    }
}
