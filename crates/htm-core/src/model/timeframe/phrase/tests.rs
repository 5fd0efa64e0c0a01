use super::*;

/// The phrase that is taken, and the rest of the query.
fn taken(query: &str) -> Option<(String, String)> {
    let phrase = phrases(query, 2027).into_iter().next()?;
    Some((phrase.expression.to_string(), without(query, &phrase.span)))
}

#[test]
fn what_is_clearly_a_time_is_taken() {
    for (query, phrase, rest) in [
        ("what did we decide last week about billing", "last week", "what did we decide about billing"),
        ("What did we decide last week?", "last week", "What did we decide?"),
        ("Last week, what did we decide?", "Last week", "what did we decide?"),
        ("what did we, last week, decide", "last week", "what did we, decide"),
        ("yesterday's deploy", "yesterday's", "deploy"),
        ("why did yesterday’s deploy fail", "yesterday’s", "why did deploy fail"),
        ("what was decided in yesterday's meeting", "yesterday's", "what was decided in meeting"),
        ("errors in the last 3 days", "in the last 3 days", "errors"),
        ("errors over the past two weeks in staging", "over the past two weeks", "errors in staging"),
        ("who broke it a few days ago?", "a few days ago", "who broke it?"),
        ("3 weeks ago the port changed", "3 weeks ago", "the port changed"),
        ("decisions of last month", "of last month", "decisions"),
        ("notes from yesterday on billing", "from yesterday", "notes on billing"),
        ("what was said on Monday about Postgres", "on Monday", "what was said about Postgres"),
        ("what was said on monday morning", "on monday morning", "what was said"),
        ("what was decided in March", "in March", "what was decided"),
        ("decided in January about billing", "in January", "decided about billing"),
        ("march 2026 incidents", "march 2026", "incidents"),
        ("incidents on 3 March 2026", "on 3 March 2026", "incidents"),
        ("incidents on March 3, 2026?", "on March 3, 2026", "incidents?"),
        ("incidents (last night)", "last night", "incidents"),
        ("incidents since 2026-03-01 in staging", "since 2026-03-01", "incidents in staging"),
        ("incidents 2026-03-01..2026-03-05", "2026-03-01..2026-03-05", "incidents"),
        ("incidents between March and May", "between March and May", "incidents"),
        ("releases from Monday to Wednesday", "from Monday to Wednesday", "releases"),
        ("what changed since 2024 about auth", "since 2024", "what changed about auth"),
        ("what did we ship in 2025?", "in 2025", "what did we ship?"),
        ("last week or yesterday: what broke", "last week or yesterday", ": what broke"),
        ("what did we discuss recently", "recently", "what did we discuss"),
        ("what happened over the weekend", "over the weekend", "what happened"),
        ("what broke the day before yesterday", "the day before yesterday", "what broke"),
        ("what broke the weekend before last", "the weekend before last", "what broke"),
        ("what shipped in March last year", "in March last year", "what shipped"),
        ("what shipped in march last year", "in march last year", "what shipped"),
        ("what shipped in March of this year?", "in March of this year", "what shipped?"),
        ("what did we decide on Monday last week", "on Monday last week", "what did we decide"),
        ("errors every day since Monday", "since Monday", "errors every day"),
        ("what was used recently?", "recently", "what was used?"),
        ("between 1999 and 2027, what broke", "between 1999 and 2027", "what broke"),
        ("rows in 1000 since yesterday", "since yesterday", "rows in 1000"),
        ("WHAT BROKE LAST WEEK", "LAST WEEK", "WHAT BROKE"),
        ("what did \"Mara\" say today", "today", "what did \"Mara\" say"),
        ("Mara's notes and Ben's of last week", "of last week", "Mara's notes and Ben's"),
        ("the outage of 2026-03", "of 2026-03", "the outage"),
        ("the outage of 2026-03-01 in Berlin?", "of 2026-03-01", "the outage in Berlin?"),
        ("what broke in Q4 2026 in Berlin", "in Q4 2026", "what broke in Berlin"),
        ("what broke since 2026 Q3", "since 2026 Q3", "what broke"),
        ("sales from Q1 2025 to Q2 2025", "from Q1 2025 to Q2 2025", "sales"),
        ("what shipped in Q4 last year?", "in Q4 last year", "what shipped?"),
        ("what shipped last quarter?", "last quarter", "what shipped?"),
        ("what did we ship this quarter in Berlin", "this quarter", "what did we ship in Berlin"),
        ("what broke 2 quarters ago", "2 quarters ago", "what broke"),
        ("what shipped in the last two quarters", "in the last two quarters", "what shipped"),
        // The time is no filter, and may be a word of the memory.
        ("what did I note yesterday at 17:00", "yesterday", "what did I note at 17:00"),
        ("the call on Monday 12:30", "on Monday", "the call 12:30"),
        ("notes on Monday at 09:00 and Tuesday at 10:00", "on Monday at 09:00 and Tuesday", "notes at 10:00"),
        ("what changed between Monday and now", "between Monday and now", "what changed"),
        ("errors from yesterday to now", "from yesterday to now", "errors"),
        ("what broke since yesterday at 17:00", "since yesterday at 17:00", "what broke"),
        ("what did I decide on Nov 29 at noon", "on Nov 29", "what did I decide at noon"),
        ("what broke in 2026-03", "in 2026-03", "what broke"),
        ("what broke on 2026-03-01 at noon", "on 2026-03-01", "what broke at noon"),
        ("what broke before 2026-03", "before 2026-03", "what broke"),
        ("what broke after 2026-03-01", "after 2026-03-01", "what broke"),
        ("what did I decide in October and November", "in October and November", "what did I decide"),
        ("what did I decide in October or November?", "in October or November", "what did I decide?"),
        ("what broke in October, and in November", "in October, and in November", "what broke"),
        ("what broke in May, June and July", "in May, June and July", "what broke"),
        ("what broke in 2024 and 2025?", "in 2024 and 2025", "what broke?"),
        ("what did I decide in October & November", "in October & November", "what did I decide"),
        ("what broke in 2024 & 2025?", "in 2024 & 2025", "what broke?"),
        ("what broke in October as well as November", "in October as well as November", "what broke"),
        ("what broke in 2024 as well as in 2025", "in 2024 as well as in 2025", "what broke"),
        ("what broke in either October or November", "in either October or November", "what broke"),
        ("what broke in both October and November?", "in both October and November", "what broke?"),
        ("what broke either yesterday or today", "either yesterday or today", "what broke"),
        ("what broke both yesterday and before", "yesterday", "what broke both and before"),
        ("what broke on Monday and Friday", "on Monday and Friday", "what broke"),
        ("in March, May asked for it", "in March", "May asked for it"),
        ("yesterday and the day after", "yesterday", "and the day after"),
        ("what did we decide yesterday and March budget", "yesterday", "what did we decide and March budget"),
        ("decided in March and the weekend project", "in March", "decided and the weekend project"),
        ("what broke yesterday and may break", "yesterday", "what broke and may break"),
        ("plans since 1 October and before today", "since 1 October and before today", "plans"),
        ("what did I decide on Nov 29", "on Nov 29", "what did I decide"),
        ("what did I decide on 29 nov?", "on 29 nov", "what did I decide?"),
        ("what broke since Mar 3", "since Mar 3", "what broke"),
        ("what did I decide on Sep. 5?", "on Sep. 5", "what did I decide?"),
        ("what broke in Sept. 2026", "in Sept. 2026", "what broke"),
        ("what broke on 5 Sep. 2026.", "on 5 Sep. 2026", "what broke."),
        ("what broke between Jan 3 and 5 Feb", "between Jan 3 and 5 Feb", "what broke"),
        // Nothing is left: the filter alone.
        ("2026-03-01", "2026-03-01", ""),
        (" 2026-03? ", "2026-03", ""),
        ("1.3.2026", "1.3.2026", ""),
        ("2026-03-01 12:00", "2026-03-01 12:00", ""),
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z", ""),
        ("2026-03-01, 2026-03-05 or 2026-04", "2026-03-01, 2026-03-05 or 2026-04", ""),
        ("last week", "last week", ""),
        ("Yesterday?", "Yesterday", ""),
    ] {
        assert_eq!(taken(query), Some((phrase.into(), rest.into())), "{query}");
    }
}

#[test]
fn what_may_be_something_else_stays() {
    for query in [
        "this may fail",
        "the last may fail",
        "step 5 may fail",
        "check in may fail",
        "march forward",
        "in march step",
        "an august company",
        "the second attempt",
        "a second thought",
        "the weekend project",
        "over the weekend project",
        "the Monday meeting",
        "Q1 2026",
        "revenue of Q1 2026",
        "how fast is Mixtral in Q4",
        "boot space in the Q3",
        "which slide comes before Q2",
        "is this Q4 quant slow",
        "in this Q4 quant",
        "photos of the last quarter moon",
        "what changed in the last quarter century",
        "logs of the last quarter hour",
        "the last quarter of the film",
        "regression in 1.4.1024",
        "what broke before 6.1.7601",
        "upgrade from 1.3.2026 to 1.4.2026",
        "voltage between Q1 and Q2",
        "Monday meeting notes",
        "last minute changes",
        "last-minute changes",
        "the last hour of the film",
        "at the last minute",
        "the last day of the contract",
        "the last week of March",
        "the first day of last month",
        "the end of last week",
        "the end of the last week",
        "by last week",
        "slower than last week",
        "as of today",
        "in 2000 rows",
        "in both March releases",
        "the talk in Sep. 5 people came",
        "after 2000 requests",
        "error 2024",
        "port 5433 after restart",
        "the release 2026-03-01",
        "2026-03-01 release",
        "2026-03 ledger",
        "ticket 2026-03",
        "invoice 2026-03-01 total",
        "the end of 2026-03",
        "as of 2026-03-01",
        "2026-03-01 \"ledger\"",
        "\"2026-03-01\"",
        "-2026-03-01",
        "2026-13",
        "1234-05",
        "the part of 1234-05",
        "screws of 5433-01",
        "2026",
        "5433",
        "report-2026-03-01.md",
        "backup 2026-03-01.tar.gz",
        "USA Today",
        "Last Week Tonight",
        "what did \"last week\" mean",
        "what did “yesterday” mean",
        "grep `last week` in notes",
        "the phrase 'since yesterday' is vague",
        "every day",
        "day by day",
        "now and then",
        "two weeks",
        "retry 3 times",
        "3 days",
        "half past 3",
        "Jan and Mar agreed",
        "ask Jan",
        "what was decided since Jan",
        "ask Jan 3 times",
        "between Jan and Mar 3",
        "over two weeks ago",
        "before last Monday's deploy",
        // Recent things, and numbers.
        "how does the least recently used cache work",
        "the most recently written page",
        "recently used files",
        "which recently built images are large",
        "in recently changed files",
        "what ran between 1500 and 2000",
        "ports from 1000 to 2000",
        "requests between 1000 and 2000?",
        "sort the rows in 1000",
        "since 1000",
        "before 3000",
        "between 2000 and 3000",
        "1500..2000",
        // Two times that touch are one that is not understood.
        "what shipped in May 2 years ago",
        "what happened one year ago today",
        "what was decided on Monday in March",
        "what was said on Monday morning last week",
        "by March last year",
        "the end of March last year",
        // Distances from a time.
        "what was said two days before last Monday",
        "what was said the week before last week",
        "errors a few hours after yesterday's deploy",
        "errors 2 weeks since Monday",
        "errors a couple of days before yesterday",
        "since then",
        // A part alone would hide the memories of the other.
        "what broke since March and April",
        "what broke since March and April releases",
        "what broke last Monday and Friday standup",
        "what broke yesterday and Monday",
        "what broke in March and Monday",
        "the past is prologue",
        "walk past day care",
        "",
        "...",
    ] {
        assert_eq!(taken(query), None, "{query}");
    }
}

#[test]
fn participles_are_known() {
    assert!(IRREGULAR.is_sorted());
    assert!(["used", "built", "become", "written"].into_iter().all(is_participle));
    assert!(!["in", "red", "about"].into_iter().any(is_participle));
}

#[test]
fn the_longest_is_first_and_none_is_within_another() {
    let phrases = phrases("yesterday or the weekend before last, what broke last week", 2027);
    let texts: Vec<String> = phrases.iter().map(|phrase| phrase.expression.to_string()).collect();
    assert_eq!(texts, ["yesterday or the weekend before last", "last week"]);
}

#[test]
fn a_phrase_of_too_many_times_is_none() {
    let days = |count| vec!["today"; count].join(" or ");
    assert_eq!(taken(&days(MAX_PARTS)), Some((days(MAX_PARTS), String::new())));
    assert_eq!(taken(&format!("what broke {}", days(MAX_PARTS + 1))), None);
    assert_eq!(taken(&days(10_000)), None);
}

#[test]
fn a_long_text_is_read() {
    assert_eq!(phrases(&"today x ".repeat(20_000), 2027).len(), 20_000);
    assert!(phrases(&"\"x\" ".repeat(20_000), 2027).is_empty());
    assert_eq!(taken(&format!("{} yesterday", "“".repeat(100_000))).unwrap().0, "yesterday");
}

proptest::proptest! {
    #[test]
    fn no_text_panics_and_cuts_fit(text in "\\PC{0,60}") {
        for phrase in phrases(&text, 2027) {
            without(&text, &phrase.span);
        }
    }

    /// Sentences of the words that matter.
    #[test]
    fn what_is_cut_is_cut_and_no_more(words in proptest::collection::vec(0..WORDS.len(), 1..12)) {
        let text = words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
        for phrase in phrases(&text, 2027) {
            let rest = without(&text, &phrase.span);
            proptest::prop_assert!(rest.len() <= text.len());
            proptest::prop_assert!(rest.chars().any(char::is_alphanumeric) || rest.is_empty());
        }
    }
}

const WORDS: [&str; 27] = [
    "last",
    "week",
    "\"",
    "'",
    "yesterday",
    "ago",
    "3",
    "days",
    "in",
    "March",
    "may",
    ",",
    "what",
    "(",
    ")",
    "é",
    "or",
    "since",
    "Monday",
    "the",
    "…",
    "2026",
    "year",
    "before",
    "two",
    "of",
    "“",
];
