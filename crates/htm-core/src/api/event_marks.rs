//! The times of the cursors of events.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

use crate::model::events::EventCursor;
use crate::store::events::Horizon;

/// The most marks that are kept, and the least time between two.
const MAX_MARKS: usize = 4_096;
const APART: TimeDelta = TimeDelta::seconds(1);

/// Earlier looks at the transactions. A cursor needs a time that no later row is older than. The time of a look holds for
/// the transactions that had no id then. While an old transaction is open, younger ones end, so this time holds for a cursor
/// only when all that had an id at the look have ended.
#[derive(Default)]
pub(crate) struct Marks(Mutex<VecDeque<Mark>>);

struct Mark {
    /// The first transaction that the time holds for.
    transaction: i64,
    since: DateTime<Utc>,
}

impl Marks {
    /// The cursor of a horizon.
    pub(crate) fn cursor(&self, seen: Horizon) -> EventCursor {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |last: &Mark| seen.transaction == seen.next || seen.since - last.since >= APART;
        // Looks of several callers may end in another order than they began.
        let is_later = |last: &Mark| seen.next >= last.transaction && seen.since >= last.since;
        if marks.back().is_none_or(|last| is_new(last) && is_later(last)) {
            marks.push_back(Mark { transaction: seen.next, since: seen.since });
        }
        while marks.len() > MAX_MARKS || marks.get(1).is_some_and(|next| next.transaction <= seen.transaction)
        {
            marks.pop_front();
        }
        let holds = marks.front().filter(|mark| mark.transaction <= seen.transaction);
        // Without a time every row is looked at that is still there.
        let since = holds.map_or(DateTime::UNIX_EPOCH, |mark| mark.since);
        EventCursor { transaction: seen.transaction, since, row: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(transaction: i64, next: i64, second: i64) -> Horizon {
        Horizon { transaction, next, since: DateTime::from_timestamp(second, 0).unwrap() }
    }

    /// The time of the cursor of each look.
    fn times(marks: &Marks, looks: &[(i64, i64, i64)]) -> Vec<i64> {
        looks
            .iter()
            .map(|&(oldest, next, at)| marks.cursor(look(oldest, next, at)).since.timestamp())
            .collect()
    }

    #[test]
    fn a_time_holds_when_all_that_had_an_id_have_ended() {
        // 10 is open from before the first look; it ends between 106 and 107.
        let looks =
            [(10, 12, 100), (10, 15, 105), (10, 20, 106), (14, 21, 107), (22, 22, 108), (30, 30, 108)];
        assert_eq!(times(&Marks::default(), &looks), [0, 0, 0, 100, 108, 108]);
    }

    #[test]
    fn a_quiet_database_has_the_time_of_its_look() {
        assert_eq!(
            times(&Marks::default(), &[(7, 7, 50), (7, 7, 51), (9, 9, 51), (9, 9, 60)]),
            [50, 51, 51, 60]
        );
    }

    #[test]
    fn looks_that_end_in_another_order_do_no_harm() {
        assert_eq!(
            times(&Marks::default(), &[(9, 9, 60), (7, 7, 50), (8, 12, 55), (12, 12, 61)]),
            [60, 0, 0, 61]
        );
    }
}
