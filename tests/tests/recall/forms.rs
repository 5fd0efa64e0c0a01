//! Words that are typed in several ways: other digits, ligatures, points, capitals, accents, particles.

use htm_core::worker::statistics;
use htm_core::{Htm, Memory, RecallQuery, Strategy};
use htm_tests::TestDatabase;

use crate::words::{filled, found, sorted};

/// The program's table, which is to be that of the database.
#[path = "../../../crates/htm-core/src/model/words/alike.rs"]
mod alike;

#[tokio::test]
async fn the_database_and_the_program_have_one_table() {
    let db = TestDatabase::new().await;
    let by_database: Vec<(i32, String)> = sqlx::query_as(
        "select code, htm.alike(chr(code)) from generate_series(1, 131071) code where code not between 55296 and 57343",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert!(by_database.len() > 100_000);
    for (code, alike) in by_database {
        let letter = char::from_u32(code as u32).unwrap();
        assert_eq!(alike::alike(&letter.to_string()), alike, "U+{code:04X}");
    }
}

/// Memories with queries that find each of them and no other, in any language.
const FORMS: [(&str, &[&str]); 9] = [
    ("Die Straße am Fluss", &["Strasse", "\"STRASSE am\"", "straß*", "strass*"]),
    ("le cœur du système", &["coeur", "cœur", "\"coeur du\"", "coe*"]),
    ("غرفة رقم ١٢٣", &["123", "١٢٣", "۱۲۳"]),
    ("कमरा १२३४", &["1234", "\"कमरा 1234\""]),
    ("בְּרֵאשִׁית בָּרָא אֱלֹהִים", &["בראשית", "\"ברא אלהים\"", "בראש*"]),
    ("تَعَلُّمُ البَرمَجَةِ مُفيدٌ", &["البرمجة", "مفيد"]),
    ("Обʼєкт збудовано", &["Об'єкт", "Об’єкт", "\"Об'єкт збудовано\""]),
    ("این کتابها", &["كتابها", "کتابها"]),
    ("Ο ΝΊΚΟΣ ΕΦΥΓΕ", &["Νίκος", "νίκοσ", "\"Ο Νίκος\"", "Νίκο*"]),
];

#[tokio::test]
async fn a_word_is_found_however_it_is_typed() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &FORMS.map(|(memory, _)| memory)).await;
    for (memory, texts) in FORMS {
        for text in texts {
            assert_eq!(found(&htm, text, Strategy::Fulltext).await, [memory], "{text}");
        }
    }
}

async fn remember(htm: &Htm, language: &str, texts: &[&str]) {
    for text in texts {
        let memory = Memory { language: Some(language.into()), ..Memory::new(*text) };
        htm.remember(memory.key(*text)).await.unwrap();
    }
}

#[tokio::test]
async fn a_dotless_i_has_the_capital_of_the_dotted_one() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let texts = ["Işık hızı yüksek", "toplantı Salı günü", "İstanbul'da deniz"];
    let [light, tuesday, istanbul] = texts;
    remember(&htm, "turkish", &texts).await;
    for (text, expected) in [
        ("ışık", light),
        ("IŞIK", light),
        ("ışı*", light),
        ("IŞI*", light),
        ("SALI", tuesday),
        ("\"salı günü\"", tuesday),
        ("istanbul", istanbul),
        ("ist*", istanbul),
        ("İst*", istanbul),
    ] {
        assert_eq!(found(&htm, text, Strategy::Fulltext).await, [expected], "{text}");
    }
    assert!(found(&htm, "hızı -ışık", Strategy::Fulltext).await.is_empty());
}

/// The stemmers of these languages leave out accents, so no lexeme begins as the word does.
#[tokio::test]
async fn a_beginning_with_accents_is_found_in_each_language() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let of_languages = [
        ("german", "Größenänderungen vorher absprechen", &["größ*", "Größenän*"][..]),
        ("german", "Die Übergabe an Jürgen", &["Überg*"]),
        ("spanish", "una fábrica del señor", &["fábri*", "seño*"]),
        ("russian", "Все отчёты лежат", &["отчё*"]),
        ("greek", "Η επόμενη συνάντηση", &["συνάντ*"]),
        ("arabic", "الاجتماع يوم الثلاثاء", &["الثلاث*"]),
        ("french", "elle va préférer", &["préfér*"]),
        ("hindi", "विद्यालय में परीक्षा", &["विद्या*", "विद्*"]),
        ("simple", "கூட்டம் செவ்வாய்க்கிழமை", &["செவ்*"]),
    ];
    for (language, text, _) in of_languages {
        remember(&htm, language, &[text]).await;
    }
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (_, memory, beginnings) in of_languages {
            for beginning in beginnings {
                let hits = found(&htm, beginning, Strategy::Fulltext).await;
                assert_eq!(hits, [memory], "{beginning}, counted {counted}");
            }
        }
    }
}

#[tokio::test]
async fn a_noun_of_korean_is_found_with_its_particle() {
    let db = TestDatabase::new().await;
    let texts = ["다음 회의에서 결정한다", "회의는 화요일이다", "회의를 연기했다", "전문가는 많다"];
    let htm = filled(&db, &texts).await;
    for text in ["회의", "\"회의\""] {
        assert_eq!(sorted(&htm, text, Strategy::Fulltext).await, texts[..3], "{text}");
    }
    for (text, expected) in [
        ("화요일", texts[1]),
        ("연기", texts[2]),
        ("결정", texts[0]),
        ("\"다음 회의\"", texts[0]),
        ("많다 -회의", texts[3]),
        // An expert is not what the expert knows.
        ("많다 -전문", texts[3]),
    ] {
        assert_eq!(found(&htm, text, Strategy::Fulltext).await, [expected], "{text}");
    }
    // No memory has the noun itself, so the phrase is relaxed to what begins so.
    let phrase = RecallQuery::new("\"전문\"").strategy(Strategy::Fulltext);
    assert!(htm.recall(&phrase).await.unwrap().relaxed);
}
