//! What the words of a query ask for: phrases, negations, beginnings, exact terms, languages.

use htm_core::worker::statistics;
use htm_core::{Htm, MatchedBy, Memory, RecallQuery, Settings, Stage, Strategy, TimelineQuery};
use htm_tests::{TestDatabase, drain};
use sqlx::PgPool;

const BOTH: [Strategy; 2] = [Strategy::Fulltext, Strategy::Hybrid];

/// Each text is its own key.
pub(crate) async fn filled(db: &TestDatabase, texts: &[&str]) -> Htm {
    let htm = db.htm();
    for text in texts {
        htm.remember(Memory::new(*text).key(*text)).await.unwrap();
    }
    drain(db, Stage::Embed).await;
    htm
}

pub(crate) async fn found(htm: &Htm, text: &str, strategy: Strategy) -> Vec<String> {
    let recalled = htm.recall(&RecallQuery::new(text).strategy(strategy)).await.unwrap();
    recalled.hits.into_iter().map(|hit| hit.node.key.unwrap()).collect()
}

pub(crate) async fn sorted(htm: &Htm, text: &str, strategy: Strategy) -> Vec<String> {
    let mut found = found(htm, text, strategy).await;
    found.sort();
    found
}

#[tokio::test]
async fn a_phrase_must_be_there() {
    let db = TestDatabase::new().await;
    let texts = [
        "the night watch of the castle",
        "watch the night sky",
        "a watch for the night",
        "to be or not to be",
        "it will be C++ templates or nothing",
        "C templates",
        "castles and night watches",
    ];
    let htm = filled(&db, &texts).await;
    for strategy in Strategy::ALL {
        for (text, expected) in [
            ("\"night watch\"", &["castles and night watches", "the night watch of the castle"][..]),
            ("\"night watch\" castl*", &["castles and night watches", "the night watch of the castle"]),
            // Several are all needed, stop words are a phrase as well, signs count.
            (
                "\"night watch\" \"the castle\"",
                &["castles and night watches", "the night watch of the castle"],
            ),
            ("\"to be or not to be\"", &["to be or not to be"]),
            ("\"C++ templates\"", &["it will be C++ templates or nothing"]),
            ("“not to be”", &["to be or not to be"]),
            // Punctuation of the query's own.
            ("\"night, watch.\"", &["castles and night watches", "the night watch of the castle"]),
        ] {
            assert_eq!(sorted(&htm, text, strategy).await, expected, "{strategy}: {text}");
        }
    }
    // A quote that nobody closes, and a phrase beside words, need nothing.
    for text in ["\"night watch", "who saw the \"night watch\"?", "sky \"night watch\" birds"] {
        assert_eq!(sorted(&htm, text, Strategy::Hybrid).await.len(), 7, "{text}");
    }
    for text in ["what of \"watch the night\"?", "castle \"watch the night\""] {
        for strategy in BOTH {
            assert_eq!(found(&htm, text, strategy).await[0], "watch the night sky", "{strategy}: {text}");
        }
    }
}

#[tokio::test]
async fn a_phrase_that_no_memory_has_is_said_and_its_words_answer() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &["the night watch of the castle", "watch the night sky", "bread"]).await;
    for strategy in BOTH {
        for text in ["\"night watch\" \"night sky\"", "\"castle watch\""] {
            let recalled = htm.recall(&RecallQuery::new(text).strategy(strategy)).await.unwrap();
            assert!(recalled.relaxed && !recalled.hits.is_empty(), "{strategy}: {text}");
        }
        let recalled = htm.recall(&RecallQuery::new("\"night watch\"").strategy(strategy)).await.unwrap();
        assert_eq!((recalled.relaxed, recalled.hits.len()), (false, 1), "{strategy}");
    }
    // What is excluded stays excluded, and nothing is nothing.
    let fulltext = |text: &str| RecallQuery::new(text).strategy(Strategy::Fulltext);
    for text in ["\"xylophone quux\"", "\"castle bread\" -castle -bread"] {
        let recalled = htm.recall(&fulltext(text)).await.unwrap();
        assert_eq!((recalled.relaxed, recalled.hits.len()), (false, 0), "{text}");
    }
}

#[tokio::test]
async fn words_are_taken_as_they_are_typed_where_that_is_asked() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &["the zeppelin landed at the harbour"]).await;
    let query = RecallQuery { correct: false, ..RecallQuery::new("zepeplin").strategy(Strategy::Fulltext) };
    let recalled = htm.recall(&query).await.unwrap();
    assert!(recalled.hits.is_empty() && recalled.corrected.is_empty());
    let topic = TimelineQuery { strategy: Strategy::Fulltext, ..TimelineQuery::about("zepeplin") };
    assert_eq!(htm.conversation_timeline(&topic).await.unwrap().entries.len(), 1);
    let as_typed = TimelineQuery { correct: false, ..topic };
    assert!(htm.conversation_timeline(&as_typed).await.unwrap().entries.is_empty());
}

/// Each is asked with words of its own, in marks that it does not have, and with dashes.
#[tokio::test]
async fn sentences_find_what_they_are_about() {
    let db = TestDatabase::new().await;
    let asked = [
        (
            "The disk of db-3 was full, so the nightly backup stopped",
            "The nightly backup failed with a \"disk is full\" error. Which host was it?",
        ),
        (
            "Mara moved the ledger to its own server in March",
            "Mara -our architect- wanted the \"ledger database\" on a separate server",
        ),
        (
            "Refunds for the annual plan are paid within two weeks",
            "A customer asked for a \"partial refund\" of the yearly -annual- plan",
        ),
        (
            "The worker prints nothing unless log.level is debug",
            "I started the worker with -verbose and it still printed \"nothing at all\" about the level",
        ),
        (
            "Smart drugs do little for the attention of healthy adults",
            "Effects of \"cognitive enhancers\" such as -smart- drugs on attention in adults",
        ),
        (
            "The certificate of the mail gateway ends in May",
            "to do\n-renew the \"gateway cert\"\n-certificate ends soon",
        ),
    ];
    let texts: Vec<&str> = asked.iter().map(|(memory, _)| *memory).collect();
    let htm = filled(&db, &texts).await;
    for (memory, text) in asked {
        for strategy in BOTH {
            let first = found(&htm, text, strategy).await.into_iter().next();
            assert_eq!(first.as_deref(), Some(memory), "{strategy}: {text}");
        }
        let hits = found(&htm, text, Strategy::Vector).await;
        assert_eq!(hits.len(), asked.len(), "{text}");
    }
}

#[tokio::test]
async fn what_is_negated_is_no_hit_of_any_leg() {
    let db = TestDatabase::new().await;
    let texts = [
        "postgres backups",
        "mysql backups",
        "backups of the night watch",
        "backups with foo_bar",
        "the C++ backup",
    ];
    let htm = filled(&db, &texts).await;
    for strategy in Strategy::ALL {
        for (text, gone) in [
            ("backup -mysql", &["mysql backups"][..]),
            ("backup -MySQL -postgres", &["postgres backups", "mysql backups"]),
            ("backup -\"night watch\"", &["backups of the night watch"]),
            ("backup -\"watch night\"", &[]),
            ("backup -foo_bar", &["backups with foo_bar"]),
            ("backup -foo", &["backups with foo_bar"]),
            ("backup -C++", &["the C++ backup"]),
            ("backup -post*", &["postgres backups"]),
            ("backup -ba*", &texts),
            ("backup -b", &[]),
            // A word that full text leaves out.
            ("backup -with", &["backups with foo_bar"]),
            // These are no negations.
            ("backup - mysql", &[]),
            ("backup --mysql", &[]),
        ] {
            let hits = found(&htm, text, strategy).await;
            let lost: Vec<&str> =
                texts.into_iter().filter(|text| !hits.iter().any(|hit| hit == text)).collect();
            assert_eq!(lost, gone, "{strategy}: {text}");
        }
    }
    // Nor of the turns beside a hit.
    for (n, content) in ["good morning", "the zeppelin is late", "what a morning"].iter().enumerate() {
        let mut memory = Memory::new(*content).key(*content).namespace("talk");
        (memory.session, memory.seq) = (Some("a".into()), Some(n as i32));
        htm.remember(memory).await.unwrap();
    }
    let words = Htm::with_pool(db.pool.clone(), htm.settings().clone(), None);
    let query = |text: &str| RecallQuery::new(text).namespace("talk");
    assert_eq!(words.recall(&query("zeppelin")).await.unwrap().hits.len(), 3);
    let hits = words.recall(&query("zeppelin -good")).await.unwrap().hits;
    assert_eq!(hits.len(), 2);
    assert_eq!((hits[1].node.content.as_str(), hits[1].matched_by), ("what a morning", MatchedBy::Neighbour));
}

#[tokio::test]
async fn negations_alone_ask_for_nothing() {
    let db = TestDatabase::new().await;
    for text in ["-mysql", " -\"night watch\" -b "] {
        for strategy in Strategy::ALL {
            let error = db.htm().recall(&RecallQuery::new(text).strategy(strategy)).await.unwrap_err();
            assert_eq!(error.code(), "query_only_negations");
            assert!(error.to_string().contains(text) && error.hint().contains("postgres -mysql"));
            assert!(error.hint().contains("quote what begins with a dash"));
        }
    }
}

#[tokio::test]
async fn the_beginning_of_a_word_is_enough() {
    let db = TestDatabase::new().await;
    let texts = [
        "the migration failed",
        "we migrate on Monday",
        "migratory birds",
        "a minigame",
        "the configuration",
        "to configure it",
        "Zeppelins over the harbour",
    ];
    let htm = filled(&db, &texts).await;
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (text, expected) in [
            ("migrat*", &["migratory birds", "the migration failed", "we migrate on Monday"][..]),
            ("migrati*", &["the migration failed"]),
            // Its stem is shorter than what was written; another word has the same stem.
            ("configurat*", &["the configuration"]),
            ("zepp*", &["Zeppelins over the harbour"]),
            ("monday migrato*", &["migratory birds", "we migrate on Monday"]),
            ("xylo*", &[]),
        ] {
            assert_eq!(sorted(&htm, text, Strategy::Fulltext).await, expected, "{text}, counted {counted}");
            assert_eq!(found(&htm, text, Strategy::Hybrid).await.len(), 7, "{text}");
        }
    }
}

/// Each is found as PostgreSQL's parser takes it in several places, before what only has its parts.
#[tokio::test]
async fn exact_terms_come_first_where_they_are_written_so() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let cases: [(&str, &[&str], &[&str]); 12] = [
        (
            "17.2",
            &["pinned to PostgreSQL 17.2.", "version-17.2 (see v17.2)", "runs v17.2 now"],
            &["PostgreSQL 17.25 and 17", "17.2.1 of 2", "port 17, 2 hosts"],
        ),
        (
            "--dry-run",
            &["call it with --dry-run", "`--dry-run`, always", "[--dry-run]"],
            &["run it dry", "a dry run", "dry-run"],
        ),
        (
            "snake_case",
            &["names are snake_case here", "(snake_case)", "use snake_case, please"],
            &["in this case a snake", "snake_cases", "the snake case"],
        ),
        ("a::b", &["call a::b first", "in `a::b`:", "x = a::b(c)"], &["a, then b", "a b", "a:b"]),
        (
            "foo/bar.rs",
            &["see foo/bar.rs", "at foo/bar.rs:12", "(foo/bar.rs)", "src/foo/bar.rs too"],
            &["foo has a bar", "bar.rs", "foo/bar"],
        ),
        (
            "recall.rs",
            &["see recall.rs", "in src/store/recall.rs, line 3", "https://example.com/x/recall.rs"],
            &["recall rs", "recalls", "precall.rs"],
        ),
        ("C++", &["written in C++", "C++, mostly", "(C++)"], &["written in C", "vitamin C", "C+"]),
        ("C#", &["written in C#", "C#/.NET", "a C# program"], &["C major", "the letter C", "C##"]),
        ("#123", &["fixed in #123", "#123: panics", "(#123)"], &["room 123", "#1234", "#12"]),
        ("x.y", &["set x.y to 1", "x.y=1", "`x.y`"], &["x and y", "xy", "x y"]),
        (
            "me@example.com",
            &["write to me@example.com", "<me@example.com>", "me@example.com, please"],
            &["me or example com", "some@example.com", "you@example.com"],
        ),
        ("PROJ-17", &["see PROJ-17", "PROJ-17: late", "[PROJ-17]"], &["proj 17", "PROJ-171", "PROJ-1"]),
    ];
    for counted in [false, true] {
        for (n, (term, as_written, parts)) in cases.into_iter().enumerate() {
            let namespace = format!("n{n}");
            if !counted {
                for content in as_written.iter().chain(parts) {
                    let memory = Memory::new(*content).key(*content).namespace(&namespace);
                    htm.remember(memory).await.unwrap();
                }
                drain(&db, Stage::Embed).await;
            }
            // A path within a longer one is in the statistics alone.
            if counted || !term.contains(".rs") {
                for strategy in BOTH {
                    let query = RecallQuery::new(term).namespace(&namespace).strategy(strategy);
                    let recalled = htm.recall(&query).await.unwrap();
                    let mut first: Vec<&str> = recalled
                        .hits
                        .iter()
                        .take(as_written.len())
                        .map(|hit| hit.node.content.as_str())
                        .collect();
                    first.sort_unstable();
                    let mut expected = as_written.to_vec();
                    expected.sort_unstable();
                    assert_eq!(first, expected, "{strategy}: {term}, counted {counted}");
                }
            }
            statistics::refresh(&db.pool, &namespace).await.unwrap();
        }
    }
}

#[tokio::test]
async fn any_signs_are_data() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &["the zeppelin's log\\book", "a second"]).await;
    for text in [
        "\"'; drop table htm.nodes; --\"",
        "zeppelin -'",
        "o'brien*",
        "a\\b_c:*",
        "\"\\\" x",
        "-\"\\\" x",
        "x.y|z&(!a)",
        "[a-z]+.*_x",
        "(?i)a.b",
        "***:a.b",
        "***=a_b",
        "a.b{1,99999}",
        "%_%.%",
        "'a':*.b",
        "🦀.x 🦀::b \"🦀 שלום\" -🦀",
        "ab*'",
        "\"<->\" zeppelin",
        "!!_x",
        "\"zeppelin's log\\book\"",
        "log\\book",
    ] {
        for strategy in Strategy::ALL {
            let query =
                RecallQuery { snippets: true, explain: true, ..RecallQuery::new(text).strategy(strategy) };
            htm.recall(&query).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        }
    }
    for text in ["\"zeppelin's log\\book\"", "log\\book"] {
        assert_eq!(found(&htm, text, Strategy::Fulltext).await, ["the zeppelin's log\\book"], "{text}");
    }
    assert_eq!(db.count("select count(*) from htm.nodes").await, 2);
}

/// `it` is a word of German, and dropped in English.
#[tokio::test]
async fn a_phrase_that_a_language_drops_is_found_in_its_memories() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &["The IT budget", "The budget of the kitchen"]).await;
    let mut german = Memory::new("Die Häuser der Stadt").key("german");
    german.language = Some("german".into());
    htm.remember(german).await.unwrap();
    for strategy in BOTH {
        assert_eq!(found(&htm, "\"IT\"", strategy).await, ["The IT budget"], "{strategy}");
    }
}

#[tokio::test]
async fn each_language_has_its_own_stems() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (language, content) in [
        ("english", "the children were running through the houses"),
        ("german", "die Häuser der Städte waren verschlossen"),
        ("french", "les chevaux mangeaient des pommes"),
        ("spanish", "los perros corrían por las calles"),
        ("simple", "Flurbls wibbled"),
    ] {
        let mut memory = Memory::new(content).key(language);
        memory.language = Some(language.into());
        htm.remember(memory).await.unwrap();
    }
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (text, language) in [
            ("run house", "english"),
            ("Haus", "german"),
            ("stadt", "german"),
            ("cheval pomme", "french"),
            ("pomme", "french"),
            ("perro", "spanish"),
            ("corrían calle", "spanish"),
            ("flurbls", "simple"),
            ("WIBBLED", "simple"),
            ("\"häusern der stadt\"", "german"),
            ("städt*", "german"),
        ] {
            let hits = found(&htm, text, Strategy::Fulltext).await;
            assert_eq!(hits, [language], "{text}, counted {counted}");
        }
    }
    // Each word is a word of one of them: nothing is corrected; and a negation is read in each as well.
    let recalled = htm.recall(&RecallQuery::new("Haus pomme calle")).await.unwrap();
    assert!(recalled.corrected.is_empty(), "{:?}", recalled.corrected);
    let hits = found(&htm, "haus pomme -stadt", Strategy::Fulltext).await;
    assert_eq!(hits, ["french"]);
    // A handle of another language finds them as well.
    let settings = Settings { language: "german".into(), ..htm.settings().clone() };
    let german = Htm::with_pool(db.pool.clone(), settings, None);
    assert_eq!(found(&german, "house", Strategy::Fulltext).await, ["english"]);
}

#[tokio::test]
async fn of_a_frequent_word_the_newest_nodes_are_candidates() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memory = |n: i64| {
        let word = if n < 150 { "harbour" } else { "river" };
        let at = chrono::DateTime::from_timestamp(1_770_000_000 - 60 * n, 0).unwrap();
        Memory::new(format!("{word} ledger number {n}")).at(at)
    };
    let memories: Vec<Memory> = (0..300).map(memory).collect();
    htm.remember_many(&memories).await.unwrap();
    sqlx::query("select htm.refresh_statistics('default')").execute(&db.pool).await.unwrap();
    let mut settings = htm.settings().clone();
    (settings.recall.exact_scope, settings.recall.pool) = (0, 10);
    let htm = Htm::with_pool(db.pool.clone(), settings, None);
    // The newest have the first two words. All with the third are older.
    for (word, newest) in [("ledger", 0), ("harbour", 0), ("river", 150)] {
        let query = RecallQuery::new(word).strategy(Strategy::Fulltext).limit(10);
        let recalled = htm.recall(&query).await.unwrap();
        let numbers = recalled.hits.iter().map(|hit| hit.node.content.rsplit(' ').next().unwrap());
        let mut numbers: Vec<i64> = numbers.map(|number| number.parse().unwrap()).collect();
        numbers.sort();
        match word {
            "river" => assert!(numbers.len() == 10 && numbers[0] >= newest, "{numbers:?}"),
            _ => assert_eq!(numbers, (newest..newest + 10).collect::<Vec<_>>(), "{word}"),
        }
    }
}

/// Ten thousand nodes, nearly all of them in one namespace. A thousandth has the first word, and `other` alone the second.
const LARGE: &str = "
    insert into htm.robots (namespace, name) values ('default', 'htm'), ('small', 'htm'), ('other', 'htm');
    insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
    select r.namespace, r.id,
           case when i % 1000 = 7 then 'zeppelin ' when r.namespace = 'other' then 'kite ' else 'balloon ' end || i,
           sha256(i::text::bytea), 2, 'none'
      from generate_series(1, 10000) i
      join htm.robots r on r.namespace = case i % 2000 when 0 then 'small' when 1 then 'other' else 'default' end;
    select htm.refresh_statistics(namespace) from htm.robots;
    analyze htm.nodes";

/// For any namespace, PostgreSQL would read all entries of this one in another index beside those of the word.
#[tokio::test]
async fn a_word_of_a_large_namespace_is_looked_up_in_the_index_of_words_alone() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql(LARGE).execute(&db.pool).await.unwrap();
    let (htm, pool) = alone(&db).await;
    // The others have the last one.
    for (word, hits) in [("zeppelin", 10), ("zeppelin", 10), ("kite", 0)] {
        let query = RecallQuery { count_accesses: false, ..RecallQuery::new(word) };
        let before = entries_read(&pool).await;
        let recalled = htm.recall(&query.strategy(Strategy::Fulltext).limit(20)).await.unwrap();
        assert_eq!(recalled.hits.len(), hits, "{word}");
        let read = entries_read(&pool).await - before;
        assert!(read < 1_000, "{word}: {read} entries");
    }
}

/// The word is nowhere in the namespace, and in nearly all nodes beside it.
#[tokio::test]
async fn a_word_that_a_small_namespace_lacks_is_not_sought_in_all_others() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql(LARGE).execute(&db.pool).await.unwrap();
    let (htm, pool) = alone(&db).await;
    let asked = |word: &str| {
        let query = RecallQuery { count_accesses: false, ..RecallQuery::new(word) };
        query.strategy(Strategy::Fulltext).namespace("other").limit(20)
    };
    for (word, hits) in [("balloon", 0), ("kite", 5)] {
        let before = entries_read(&pool).await;
        assert_eq!(htm.recall(&asked(word)).await.unwrap().hits.len(), hits, "{word}");
        let read = entries_read(&pool).await - before;
        assert!(read < 1_000, "{word}: {read} entries");
    }
    // A word of a memory that is new is found all the same.
    htm.remember(Memory::new("a balloon at last").namespace("other")).await.unwrap();
    assert_eq!(htm.recall(&asked("balloon")).await.unwrap().hits.len(), 1);
}

/// The namespace is too large to be read for that.
#[tokio::test]
async fn a_word_that_a_namespace_lacks_is_met_with_it_before_a_memory_is_read() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql(LARGE).execute(&db.pool).await.unwrap();
    sqlx::raw_sql(
        "insert into htm.robots (namespace, name) values ('sixth', 'htm');
         insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
         select r.namespace, r.id, 'a kite ' || i, sha256(i::text::bytea), 2, 'none'
           from generate_series(1, 2100) i join htm.robots r on r.namespace = 'sixth';
         select htm.refresh_statistics('sixth')",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    sqlx::query("vacuum analyze htm.nodes").execute(&db.pool).await.unwrap();
    let (htm, pool) = alone(&db).await;
    let query = RecallQuery { count_accesses: false, ..RecallQuery::new("balloon") };
    let query = query.strategy(Strategy::Fulltext).namespace("sixth").limit(20);
    for hits in [0, 1] {
        let before = nodes_read(&pool).await;
        let recalled = htm.recall(&query).await.unwrap();
        assert_eq!((recalled.hits.len(), recalled.corrected), (hits, Vec::new()));
        let read = nodes_read(&pool).await - before;
        assert!(read < 1_000, "{hits}: {read} memories");
        if hits == 0 {
            htm.remember(Memory::new("a balloon at last").namespace("sixth")).await.unwrap();
        }
    }
}

/// The rows of nodes that were read by indexes.
async fn nodes_read(pool: &PgPool) -> i64 {
    sqlx::query("select pg_stat_force_next_flush()").execute(pool).await.unwrap();
    let sql =
        "select sum(idx_tup_fetch)::bigint from pg_stat_user_tables where relname ~ '^nodes(_p[0-9]+)?$'";
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// A handle of one connection, so that its counts are flushed with the next statement of it.
async fn alone(db: &TestDatabase) -> (Htm, PgPool) {
    let pool = htm_core::pool_options().max_connections(1).connect_with(db.options()).await.unwrap();
    (db.htm_on(pool.clone()), pool)
}

/// The entries that were read from the indexes of nodes.
async fn entries_read(pool: &PgPool) -> i64 {
    sqlx::query("select pg_stat_force_next_flush()").execute(pool).await.unwrap();
    let sql =
        "select sum(idx_tup_read)::bigint from pg_stat_user_indexes where relname ~ '^nodes(_p[0-9]+)?$'";
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}
