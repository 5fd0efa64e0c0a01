//! The priorities of jobs; the highest is claimed first. The table allows only these (`jobs_htm_priority_known`): a
//! claim looks each of them up by the index.

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
pub(crate) const A_GREAT_MANY: i64 = 10_000;

/// The priority of bulk writes, by the open jobs of their namespace, including the new ones.
pub(crate) fn in_bulk(open: i64) -> i32 {
    match open {
        A_GREAT_MANY.. => FLOOD,
        MANY.. => BULK,
        _ => LIVE,
    }
}
