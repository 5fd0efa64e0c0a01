//! Words in scripts that write no spaces between them (Chinese, Japanese, Thai, Lao, Khmer, Burmese), and beside marks beyond ASCII.

use std::time::Duration;

use htm_core::worker::statistics;
use htm_core::{Memory, RecallQuery, Strategy};
use htm_tests::TestDatabase;

use crate::words::{filled, found, sorted};

/// Each memory has a question with one of its words. The word stands between others, without spaces.
#[tokio::test]
async fn words_are_found_in_scripts_that_write_no_spaces() {
    let db = TestDatabase::new().await;
    let asked = [
        ("我们决定使用数据库来保存订单", "哪个数据库"),
        ("服务器在星期五重新启动", "服务器什么时候启动"),
        ("会议改到下周二下午", "会议时间"),
        ("新的密码保存在保险箱里", "密码在哪里"),
        ("东京支店的电话号码变更了", "电话号码"),
        ("サーバーの証明書は五月に切れる", "証明書の期限"),
        ("バックアップは毎晩実行される", "バックアップの時間"),
        ("請求書は月末に送る", "請求書はいつ"),
        ("データベースの移行は失敗した", "移行の結果"),
        ("会議室の予約は田中さんが担当", "予約の担当者"),
        ("เซิร์ฟเวอร์หยุดทำงานเมื่อวันศุกร์", "วันศุกร์"),
        ("รหัสผ่านใหม่อยู่ในตู้นิรภัย", "รหัสผ่าน"),
        ("ประชุมเลื่อนไปสัปดาห์หน้า", "ประชุมเมื่อไร"),
        ("The backup of Tokyo runs at night", "backup Tokyo"),
    ];
    let texts: Vec<&str> = asked.iter().map(|(memory, _)| *memory).collect();
    let htm = filled(&db, &texts).await;
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (memory, text) in asked {
            let first = found(&htm, text, Strategy::Fulltext).await.into_iter().next();
            assert_eq!(first.as_deref(), Some(memory), "{text}, counted {counted}");
        }
    }
}

#[tokio::test]
async fn signs_hold_in_scripts_that_write_no_spaces() {
    let db = TestDatabase::new().await;
    let htm =
        filled(&db, &["大東京都庁の会議は金曜日", "大阪の会議は木曜日", "データベースの移行は失敗した"])
            .await;
    for (text, expected) in [
        ("会議 -東京都", "大阪の会議は木曜日"),
        ("\"東京都\"", "大東京都庁の会議は金曜日"),
        ("データベ*", "データベースの移行は失敗した"),
    ] {
        assert_eq!(found(&htm, text, Strategy::Fulltext).await, [expected], "{text}");
    }
}

#[tokio::test]
async fn a_letter_alone_is_found_wherever_it_stands() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &["猫が好き", "これは猫", "私の猫は白い", "犬が好き"]).await;
    let cats = ["これは猫", "猫が好き", "私の猫は白い"];
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (text, expected) in
            [("猫", &cats[..]), ("\"猫\"", &cats), ("猫 zeppelin", &cats), ("好き -猫", &["犬が好き"])]
        {
            let hits = sorted(&htm, text, Strategy::Fulltext).await;
            assert_eq!(hits, expected, "{text}, counted {counted}");
        }
    }
}

/// Words and numbers of other scripts, between letters of those.
#[tokio::test]
async fn words_of_other_scripts_are_found_between_such_letters() {
    let db = TestDatabase::new().await;
    let postgres = "我们使用PostgreSQL数据库";
    let (friday, aws) = ("会議は金曜日", "会議はAWSの話");
    let (new, old) = ("新版本17.2发布了", "旧版本16.9停用了");
    let kafka = "เราใช้Kafkaทุกวัน";
    let burmese = "ကျွန်ုပ်တို့သည်Redisကိုရွေးချယ်ခဲ့သည်";
    let khmer = "យើងបានជ្រើសរើសSQLite សម្រាប់ទិន្នន័យ";
    let lao = "ພວກເຮົາເລືອກMariaDBຂໍ້ມູນ";
    let htm = filled(&db, &[postgres, friday, aws, new, old, kafka, burmese, khmer, lao]).await;
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (text, expected) in [
            ("PostgreSQL", postgres),
            ("\"PostgreSQL\"", postgres),
            ("\"使用PostgreSQL数据\"", postgres),
            ("postgre*", postgres),
            ("会議 -AWS", friday),
            ("AWS", aws),
            ("17.2", new),
            ("\"17.2发布\"", new),
            ("版本 -17.2", old),
            ("Kafka", kafka),
            ("\"ใช้Kafka\"", kafka),
            ("Redis", burmese),
            ("ရွေးချယ်", burmese),
            ("SQLite", khmer),
            ("ទិន្នន័យ", khmer),
            ("MariaDB", lao),
            ("\"ຂໍ້ມູນ\"", lao),
        ] {
            assert_eq!(found(&htm, text, Strategy::Fulltext).await, [expected], "{text}, counted {counted}");
        }
    }
}

/// Memories with punctuation, symbols and forms of letters beyond ASCII, each with words that it has.
const MARKED: [(&str, &[&str]); 12] = [
    ("Don’t forget Mara’s laptop charger.", &["Mara", "forget"]),
    ("She said “quincunx”…", &["quincunx"]),
    ("10–12 euros—too much for a tagine…", &["euros", "tagine", "12"]),
    ("Great!👍Thanks for the walrus🦭", &["thanks", "walrus"]),
    ("«Guillemets» ¿Dónde está?", &["Guillemets", "está"]),
    ("قابلته في دبي، ثم شربنا القهوة؟", &["دبي", "القهوة"]),
    ("彼は…。xylophone を買いました", &["xylophone"]),
    ("Meeting【重要】会议", &["meeting", "会议"]),
    ("Cafe\u{301} au lait", &["café", "Cafe\u{301}"]),
    ("ＡＢＣ１２３ and ﬁne ㎏", &["abc123", "fine"]),
    ("db\u{2011}08 failed\u{a0}over by Silben\u{ad}trennung", &["db-08", "db\u{2011}08", "Silbentrennung"]),
    ("Berlin¹ is 10² km of H₂O, 17.2¹", &["Berlin", "H2O", "17.2"]),
];

#[tokio::test]
async fn marks_of_any_script_end_a_word() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &MARKED.map(|(memory, _)| memory)).await;
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (memory, words) in MARKED {
            for word in words {
                for text in [word.to_string(), format!("\"{word}\"")] {
                    assert_eq!(found(&htm, &text, Strategy::Fulltext).await, [memory], "{text}, {counted}");
                }
                let hits = found(&htm, &format!("zeppelin -{word}"), Strategy::Hybrid).await;
                assert!(!hits.iter().any(|hit| hit == memory), "-{word}, {counted}");
            }
        }
    }
    for (beginning, memory) in [("caf*", MARKED[8].0), ("fin*", MARKED[9].0)] {
        assert_eq!(found(&htm, beginning, Strategy::Fulltext).await, [memory], "{beginning}");
        let hits = found(&htm, &format!("zeppelin -{beginning}"), Strategy::Hybrid).await;
        assert!(!hits.iter().any(|hit| hit == memory), "-{beginning}: {hits:?}");
    }
}

#[tokio::test]
async fn snippets_mark_words_beside_marks_of_any_script() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &["She said “quincunx”… and < left", "the Cafe\u{301} au la\u{ad}it"]).await;
    for (word, html) in [
        ("quincunx", "She said “<mark>quincunx</mark>”… and &lt; left"),
        ("café", "the <mark>Café</mark> au lait"),
        ("lait", "the Café au <mark>lait</mark>"),
    ] {
        let query = RecallQuery { snippets: true, ..RecallQuery::new(word).strategy(Strategy::Fulltext) };
        let snippet = htm.recall(&query).await.unwrap().hits.remove(0).snippet.unwrap();
        assert_eq!(snippet.html(), html);
    }
}

#[tokio::test]
async fn snippets_show_the_match_in_scripts_that_write_no_spaces() {
    let db = TestDatabase::new().await;
    let filler = "这是一段没有特别内容的长文字，只是为了检验摘要功能，所以在进入正题之前有很多字。".repeat(5);
    let long = format!("{filler}数据库迁移用了四个小时。{filler}");
    let texts = [&*long, "我们选择了PostgreSQL 17.2", "次の会議は火曜日", "การประชุมใหญ่ที่กรุงเทพ"];
    let htm = db.htm();
    for text in texts {
        htm.remember(Memory::new(text)).await.unwrap();
    }
    for (word, marked) in [
        ("数据库", "<mark>数据库</mark>迁移"),
        ("\"数据库迁移\"", "<mark>数据库迁移</mark>"),
        ("PostgreSQL", "我们选择了<mark>PostgreSQL</mark> 17.2"),
        ("会議", "次の<mark>会議</mark>は火曜日"),
        ("ประชุม", "การ<mark>ประชุม</mark>ใหญ่"),
    ] {
        let query = RecallQuery { snippets: true, ..RecallQuery::new(word).strategy(Strategy::Fulltext) };
        let html = htm.recall(&query).await.unwrap().hits.remove(0).snippet.unwrap().html();
        assert!(html.contains(marked), "{word}: {html}");
    }
}

/// PostgreSQL sorts the marks of a letter in quadratic time.
#[tokio::test]
async fn a_text_of_marks_alone_is_written_at_once() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let accents = "\u{301}".repeat(200_000) + &"\u{316}".repeat(200_000);
    // Compatible forms of them are letters of Japanese: the sound marks of half width.
    let sound_marks = "\u{ff9e}\u{301}".repeat(150_000);
    for text in [accents, sound_marks] {
        let memory = Memory::new("x".to_owned() + &text);
        let written = tokio::time::timeout(Duration::from_secs(30), htm.remember(memory)).await;
        written.unwrap().unwrap();
    }
}
