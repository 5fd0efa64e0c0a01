//! Every table and column is known to the erasure.

use std::collections::BTreeMap;
use std::fmt::Write;

use htm_core::Memory;
use htm_tests::TestDatabase;

use super::erase;

/// A new table has to be named in the list of the erasure. A new column shows here: does it hold a text, an id of a memory,
/// or something that was made of one? Then it has to be erased too.
#[tokio::test]
async fn each_table_is_known_and_each_column_was_looked_at() {
    let db = TestDatabase::in_one_table().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("zeppelin")).await.unwrap().node;
    let erased = erase(&htm, node).await;
    let verified = htm.verify_erasure(erased.id, None).await.unwrap();
    assert!(verified.is_clean, "{verified:?}");
    let holds: BTreeMap<_, _> = verified.places.iter().map(|place| (&*place.table, &*place.holds)).collect();
    let columns: Vec<(String, String)> = sqlx::query_as(
        "select c.table_schema || '.' || c.table_name, string_agg(c.column_name, ', ' order by c.ordinal_position)
           from information_schema.columns c
           join information_schema.tables t using (table_schema, table_name)
          where c.table_schema in ('htm', 'apalis') and t.table_type = 'BASE TABLE'
          group by 1 order by 1",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert_eq!(columns.len() + 1, holds.len(), "beside the tables, the planner's samples");
    let mut text = String::new();
    for (table, columns) in columns {
        let holds = holds.get(&*table).unwrap_or_else(|| panic!("{table} is unknown to the erasure"));
        writeln!(text, "{table} ({holds})\n    {columns}").unwrap();
    }
    insta::assert_snapshot!("places", text);
}

/// A table that nobody knows may hold anything.
#[tokio::test]
async fn with_an_unknown_table_nothing_is_proven() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("zeppelin")).await.unwrap().node;
    let erased = erase(&htm, node).await;
    sqlx::query("create table htm.copies as select 'zeppelin' as text").execute(&db.pool).await.unwrap();
    let verified = htm.verify_erasure(erased.id, None).await.unwrap();
    assert!(!verified.is_clean);
    let place = verified.places.iter().find(|place| place.table == "htm.copies").unwrap();
    assert_eq!(place.holds, "unknown to this program");
}

#[tokio::test]
async fn a_text_is_found_wherever_it_stands() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let text = "A \"zeppelin\"\nis due.";
    let node = htm.remember(Memory::new(text)).await.unwrap().node;
    let erased = erase(&htm, node).await;
    let quoting = Memory::new(format!("I heard: {text}")).namespace("other");
    let quoting = htm.remember(quoting).await.unwrap().node;
    let beside = htm.remember(Memory::new("other").metadata("said", text)).await.unwrap().node;
    let verified = htm.verify_erasure(erased.id, Some(text)).await.unwrap();
    assert!(!verified.is_clean);
    let found: Vec<_> = verified.places.iter().filter(|place| place.mentions != Some(0)).collect();
    assert_eq!((&*found[0].table, found[0].mentions), ("htm.nodes", Some(2)), "{found:?}");
    let named: Vec<_> = verified.with_text.iter().map(|it| (it.node, &*it.table, &*it.columns[0])).collect();
    assert_eq!(named, [(quoting, "htm.nodes", "content"), (beside, "htm.nodes", "metadata")]);
    let verified = htm.verify_erasure(erased.id, None).await.unwrap();
    assert!(verified.is_clean && verified.with_text.is_empty(), "the memory itself is gone");
    let verified = htm.verify_erasure(erased.id, Some("forget_reason")).await.unwrap();
    assert!(
        verified.is_clean && verified.with_text.is_empty(),
        "the name of a column is no text of a memory"
    );
}

/// A text beside the content is not matched by an erasure of a text: the proof names the memories, so that they can be erased.
#[tokio::test]
async fn the_memories_with_a_text_are_named_wherever_it_stands_and_can_be_erased() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = htm.remember(Memory::new("Mara O'Neill is away.")).await.unwrap().node;
    let erased = erase(&htm, first).await;
    let mut beside = Memory::new("Tea is out.").key("mara-o'neill");
    beside.source = Some("mail of Mara O'Neill".into());
    let beside = htm.remember(beside).await.unwrap().node;
    let edited = htm.remember(Memory::new("Mara O’Neill likes tea.").namespace("other")).await.unwrap().node;
    htm.edit(edited, &htm_core::Edit::new().content("She likes tea.").caller(htm_core::Caller::AnyRobot))
        .await
        .unwrap();
    let verified = htm.verify_erasure(erased.id, Some("mara o'neill")).await.unwrap();
    let named: Vec<_> = verified.with_text.iter().map(|it| (it.node, &*it.table, &*it.columns[0])).collect();
    assert_eq!(named, [(edited, "htm.node_revisions", "content"), (beside, "htm.nodes", "source")]);
    let nodes: Vec<_> = verified.with_text.iter().map(|it| it.node).collect();
    htm.erase(&htm_core::Erase::Memories(nodes), None, htm_core::Confirmation::Confirmed).await.unwrap();
    assert!(htm.verify_erasure(erased.id, Some("mara o'neill")).await.unwrap().is_clean);
}
