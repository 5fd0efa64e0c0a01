use chrono::TimeDelta;
use proptest::prelude::*;

use super::*;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap()
}

fn frame(ranges: &[(Option<i64>, Option<i64>)]) -> Timeframe {
    let one =
        |(from, until): &(Option<i64>, Option<i64>)| Timeframe::new(from.map(at), until.map(at)).unwrap();
    ranges.iter().map(one).reduce(|all, one| all.or(&one)).unwrap()
}

#[test]
fn ranges_that_touch_are_one() {
    assert_eq!(frame(&[(Some(0), Some(5)), (Some(5), Some(9))]).ranges().len(), 1);
    assert_eq!(frame(&[(Some(0), Some(5)), (Some(6), Some(9))]).ranges().len(), 2);
    let open = frame(&[(None, Some(5)), (Some(7), None)]);
    assert_eq!((open.from(), open.until(), open.ranges().len()), (None, None, 2));
    assert_eq!(frame(&[(None, Some(5)), (Some(3), None)]), Timeframe::ALL);
}

#[test]
fn it_reads_as_people_write_it() {
    let two = frame(&[(Some(0), Some(90)), (Some(86_400), None)]);
    assert_eq!(two.to_string(), "1970-01-01T00:00:00Z..1970-01-01T00:01:30Z, 1970-01-02T00:00:00Z..");
    let berlin = "Europe/Berlin".parse().unwrap();
    assert_eq!(
        two.describe(&berlin),
        "1970-01-01 01:00 until 1970-01-01 01:01:30, or since 1970-01-02 01:00"
    );
    assert_eq!(Timeframe::ALL.describe(&berlin), "always");
    // The written form can be parsed again.
    let again = two.to_string().parse::<TimeExpression>().unwrap();
    assert_eq!(again.resolve(at(0), &TimeSettings::default()).unwrap(), two);
}

#[test]
fn a_time_that_cannot_be_stored_is_refused() {
    let first = DateTime::<Utc>::MIN_UTC;
    assert_eq!(Timeframe::new(Some(first), None).unwrap_err().code(), "time_out_of_range");
    let beyond = "+10000-01-01T00:00:00Z".parse().unwrap();
    assert_eq!(Timeframe::new(None, Some(beyond)).unwrap_err().code(), "time_out_of_range");
    assert_eq!(Timeframe::new(Some(at(1)), Some(at(1))).unwrap_err().code(), "timeframe_reversed");
}

#[test]
fn an_error_tells_its_times_in_the_zone() {
    let tokyo = "Asia/Tokyo".parse().unwrap();
    let error = |from, until| TimeRange::told_in(&tokyo, Some(at(from)), Some(at(until))).unwrap_err();
    let (first, second) = ("1970-01-01T09:00:00+09:00", "1970-01-01T09:01:00+09:00");
    let reversed = format!("the timeframe ends ({first}) before it starts ({second})");
    assert_eq!(error(60, 0).to_string(), reversed);
    assert_eq!(error(0, 0).to_string(), format!("the timeframe ends where it starts, at {first}"));
}

fn any_ranges() -> impl Strategy<Value = Vec<(Option<i64>, Option<i64>)>> {
    let side = || prop_oneof![4 => (0i64..40).prop_map(Some), 1 => Just(None)];
    let range = (side(), side()).prop_map(|sides| match sides {
        (Some(one), Some(other)) => (Some(one.min(other)), Some(one.max(other) + 1)),
        open => open,
    });
    proptest::collection::vec(range, 1..6)
}

proptest! {
    #[test]
    fn a_union_has_what_its_members_have(ranges in any_ranges()) {
        let all = frame(&ranges);
        for second in -2..42 {
            let within = ranges
                .iter()
                .any(|(from, until)| from.is_none_or(|it| it <= second) && until.is_none_or(|it| second < it));
            prop_assert_eq!(all.contains(at(second)), within, "{} in {}", second, all);
        }
        for pair in all.ranges().windows(2) {
            prop_assert!(pair[0].until().unwrap() < pair[1].from().unwrap(), "{}", all);
        }
    }

    #[test]
    fn the_order_of_a_union_does_not_matter(ranges in any_ranges()) {
        let mut turned = ranges.clone();
        turned.reverse();
        prop_assert_eq!(frame(&turned), frame(&ranges));
    }

    #[test]
    fn a_zone_shows_the_clock_that_it_has(seconds in -5_000_000_000i64..5_000_000_000) {
        let zone: Zone = "Australia/Lord_Howe".parse().unwrap();
        let independent = at(seconds).with_timezone(&chrono_tz::Australia::Lord_Howe).naive_local();
        // Beyond 2037 and before 1900 the two databases differ in what they keep.
        if (at(-2_208_988_800)..at(2_114_380_800)).contains(&at(seconds)) {
            prop_assert_eq!(zone.local(at(seconds)).naive_local(), independent);
        }
        prop_assert!(zone.local(at(seconds)) - at(seconds).fixed_offset() == TimeDelta::zero());
    }
}

#[test]
fn an_expression_of_very_many_parts_is_refused() {
    let parts = |number: usize| vec!["2026-03-01"; number].join(", ");
    assert!(parts(64).parse::<super::TimeExpression>().is_ok());
    let error = parts(65).parse::<super::TimeExpression>().unwrap_err();
    assert_eq!(error.code(), "timeframe_invalid");
    assert!(error.to_string().contains("65 parts, more than 64"), "{error}");
}

fn resolved(text: &str) -> Result<Timeframe> {
    text.parse::<TimeExpression>()?.resolve(at(1_773_828_000), &TimeSettings::default())
}

#[test]
fn periods_in_words_that_are_swapped_are_told_to_be() {
    for text in [
        "2026-03-02 to 2026-03-01",
        "March 2025 to February 2025",
        "between March 2025 and February 2025",
        "from 2025 to 2024",
        "from 2025 to 2020",
        "Q2 2025 to Q1 2025",
    ] {
        let error = resolved(text).unwrap_err();
        assert_eq!(error.to_string(), format!("the timeframe `{text}` ends before it starts"));
        assert_eq!((error.code(), error.hint()), ("timeframe_reversed", "swap its start and its end"));
    }
    let digits = resolved("2026-03-01..2026-03-01").unwrap_err();
    assert!(digits.hint().contains("for one day give `2026-03-01`"), "{}", digits.hint());
}

#[test]
fn a_quarter_stands_where_a_month_does() {
    for (text, same) in [
        ("2025 Q1", "from 2025-01 to 2025-03"),
        ("in Q4 2025", "from 2025-10 to 2025-12"),
        ("since Q3 2025", "since 2025-07"),
        ("after Q3 2025", "since 2025-10"),
        ("before Q1 2026", "before 2026"),
        ("until Q4 2025", "before 2026"),
        ("Q1 2025 to Q2 2025", "from 2025-01 to 2025-06"),
        ("between Q1 2025 and Q2 2025", "from 2025-01 to 2025-06"),
        ("Q1 2025..Q3 2025", "2025-01..2025-07"),
        // It is March 2026.
        ("in Q1", "from 2026-01 to 2026-03"),
        ("Q4", "from 2025-10 to 2025-12"),
        ("from Q3 to Q4", "from 2025-07 to 2025-12"),
        ("last Q1", "from 2025-01 to 2025-03"),
        ("next Q1", "from 2027-01 to 2027-03"),
        ("this Q3", "from 2026-07 to 2026-09"),
        ("Q2 last year", "from 2025-04 to 2025-06"),
        ("last quarter", "from 2025-10 to 2025-12"),
        ("this quarter", "from 2026-01 to 2026-03"),
        ("next quarter", "from 2026-04 to 2026-06"),
        ("quarter before last", "from 2025-07 to 2025-09"),
        ("2 quarters ago", "from 2025-07 to 2025-09"),
        ("last 2 quarters", "last 6 months"),
        ("past quarter", "last 3 months"),
    ] {
        assert_eq!(resolved(text).unwrap(), resolved(same).unwrap(), "{text}");
    }
}

#[test]
fn a_day_takes_a_time() {
    for (text, same) in [
        ("since yesterday 17:00", "since 2026-03-17T17:00:00Z"),
        ("yesterday at 17:00..today 09:30", "2026-03-17T17:00:00Z..2026-03-18T09:30:00Z"),
        ("before Monday at 08:00", "before 2026-03-16T08:00:00Z"),
        ("after 3 March at 08:00:30", "since 2026-03-03T08:00:30Z"),
        ("Monday last week 12:00..", "2026-03-09T12:00:00Z.."),
        ("3 March 2025 at 12:00..", "2025-03-03T12:00:00Z.."),
        ("1.3.2026 12:00..", "2026-03-01T12:00:00Z.."),
        ("yesterday 17:00", "yesterday"),
        ("29.11.2025", "2025-11-29"),
        ("1.3.2025 to 02.03.2025", "from 2025-03-01 to 2025-03-02"),
    ] {
        assert_eq!(resolved(text).unwrap(), resolved(same).unwrap(), "{text}");
    }
    let no_day = resolved("30.2.2026").unwrap_err();
    assert!(no_day.to_string().ends_with("February 2026 has no day 30"), "{no_day}");
    for text in ["1.13.2026", "1.3.26", "17.2", "last month 17:00", "yesterday 25:00", "yesterday at"] {
        assert_eq!(resolved(text).unwrap_err().code(), "timeframe_invalid", "{text}");
    }
}
