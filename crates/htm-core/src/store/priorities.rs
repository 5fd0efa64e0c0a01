//! What is claimed first. The table knows these priorities alone (`jobs_htm_priority_known`): a claim looks each of them
//! up by the index.

/// What somebody has just written.
pub const LIVE: i32 = 0;

/// Written in bulk into a namespace that has many jobs waiting: behind whoever has few.
pub const BULK: i32 = -1;

/// Written in bulk into a namespace that has a great many jobs waiting: behind every other import.
pub const FLOOD: i32 = -2;

/// A backfill's.
pub const BACKFILL: i32 = -10;

/// All of them, the highest first.
pub const ALL: [i32; 4] = [LIVE, BULK, FLOOD, BACKFILL];

/// From this many open jobs of a namespace on, counting those that are being written, what is written in bulk is
/// [`BULK`]: about what a worker embeds in a few seconds.
const MANY: i64 = 1_000;

/// From this many on, it is a [`FLOOD`]. No more are counted.
pub(crate) const A_GREAT_MANY: i64 = 10_000;

/// The priority of nodes written in bulk, by the open jobs of their namespace with theirs.
pub(crate) fn in_bulk(open: i64) -> i32 {
    match open {
        A_GREAT_MANY.. => FLOOD,
        MANY.. => BULK,
        _ => LIVE,
    }
}
