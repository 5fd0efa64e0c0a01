//! What a change would do, said without doing it.

use htm_core::Ontology;

use super::*;

/// The receipt of a change, but for its number.
fn told(changed: Changed) -> Changed {
    Changed { change: None, dry_run: true, ..changed }
}

#[tokio::test]
async fn a_dry_run_says_what_the_change_then_does() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 20, "one", &["db:index", "db:y"]).await;
    let two = remember(&htm, 20, "two", &["database", "psql:y"]).await;
    remember(&htm, 5, "three", &["work"]).await;
    Says::llm("1").of(&db, "w", |_| vec![("db".into(), 0.5), ("psql".into(), 0.4)]).await;
    let ontology = htm.ontology(None).unwrap();
    let would = ontology.clone().dry_run();
    let before = (names(&db).await, assignments(&db).await);
    let into = [term("meeting", ""), term("task", "")];

    // Each step is said, done, and taken back; that is said, too.
    for step in 0..6 {
        let change = async |ontology: &Ontology<'_>| match step {
            0 => ontology.merge(&["db", "psql"], "database").await.unwrap(),
            1 => ontology.rename("db", "store:db").await.unwrap(),
            2 => ontology.remove("db", Removal::Assigned).await.unwrap(),
            3 => ontology.split("work", &into, Leftover::Keep).await.unwrap(),
            4 => ontology.add_synonym("data", "database").await.unwrap(),
            _ => ontology.define(ChangeKind::Add, &[term("new:tag", "d")]).await.unwrap(),
        };
        let said = change(&would).await;
        assert_eq!((names(&db).await, assignments(&db).await), before, "step {step}");
        let done = change(&ontology).await;
        let number = done.change.unwrap();
        assert_eq!(said, told(done), "step {step}");
        // One of the tags that it made is used, and stays.
        if step == 5 {
            htm.edit(two[0], &htm_core::Edit::new().tag("new:tag".parse().unwrap())).await.unwrap();
        }
        let said = would.revert(number).await.unwrap();
        let back = ontology.revert(number).await.unwrap();
        assert_eq!(said, told(back.clone()), "step {step}");
        if step == 5 {
            assert_eq!(back.kept, ["new", "new:tag"]);
        } else {
            assert_eq!((names(&db).await, assignments(&db).await), before, "step {step}");
        }
    }
}

#[tokio::test]
async fn a_dry_run_waits_for_nobody() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 3, "text", &["a", "b"]).await;
    let ontology = htm.ontology(None).unwrap();
    let change = ontology.rename("a", "c").await.unwrap().change.unwrap();
    let mut holder = db.pool.begin().await.unwrap();
    sqlx::query("select pg_advisory_xact_lock(htm.tag_changes_lock('default'))")
        .execute(&mut *holder)
        .await
        .unwrap();
    let would = ontology.dry_run();
    assert_eq!(would.merge(&["c"], "b").await.unwrap().nodes, 3);
    assert_eq!(would.remove("b", Removal::Assigned).await.unwrap().nodes, 3);
    assert_eq!(would.split("b", &[term("x", ""), term("y", "")], Leftover::Keep).await.unwrap().nodes, 3);
    assert_eq!(would.revert(change).await.unwrap().nodes, 3);
    assert_eq!(would.remove("b", Removal::Unused).await.unwrap_err().code(), "tag_in_use");
    assert_eq!(would.merge(&["nothing"], "b").await.unwrap_err().code(), "tag_unknown");
}
