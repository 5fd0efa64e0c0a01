//! Nodes tagged again, after a change of the prompt or of the model.

use htm_core::{BackfillRequest, BackfillStep};

use super::*;

fn but_for(version: &str) -> BackfillRequest {
    BackfillRequest { prompt_version: Some(version.into()), ..BackfillRequest::new(Stage::Tag) }
}

#[tokio::test]
async fn only_what_another_version_or_model_made_is_replayed_and_what_is_by_hand_stays() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let old = remember(&htm, 150, "old", &["by:hand"]).await;
    Says::llm("v1").of(&db, "w", |_| vec![("old".into(), 0.5), ("by:hand".into(), 0.5)]).await;
    let other = remember(&htm, 20, "other", &[]).await;
    let local = Says {
        model: ModelName::new("local", "m"),
        version: "v2",
        origin: TagOrigin::Local,
        rules: TagRules::default(),
    };
    local.of(&db, "w", |_| vec![("local".into(), 0.5)]).await;
    let new = remember(&htm, 30, "new", &[]).await;
    Says::llm("v2").of(&db, "w", |_| vec![("new".into(), 0.5)]).await;
    remember(&htm, 10, "not yet", &[]).await;
    let live =
        db.count("select count(*) from apalis.jobs where status = 'Pending' and job_type = 'htm.tag'").await;

    assert_eq!(htm.count_backfill(&but_for("v2")).await.unwrap(), 170);
    let mut run = htm.start_backfill(&BackfillRequest { max_queued: 200, ..but_for("v2") }).await.unwrap();
    assert_eq!(run.step().await.unwrap(), BackfillStep::Enqueued);
    // It was interrupted; a run for another version, and a forced one, are runs of their own.
    let id = run.run();
    assert!(!htm.start_backfill(&but_for("v3")).await.unwrap().is_resumed());
    let forced = BackfillRequest { forced: true, ..BackfillRequest::new(Stage::Tag) };
    assert!(!htm.start_backfill(&forced).await.unwrap().is_resumed());
    let mut run = htm.start_backfill(&but_for("v2")).await.unwrap();
    assert!(run.is_resumed() && run.run() == id);
    while run.step().await.unwrap() != BackfillStep::Finished {}
    assert_eq!(run.enqueued(), 170);
    assert_eq!(Says::llm("v2").of(&db, "w", |_| vec![("again".into(), 0.5)]).await as i64, 170 + live);
    assert_eq!(tags_of(&db, old[0]).await, ["again llm", "by:hand manual"]);
    assert_eq!(tags_of(&db, other[0]).await, ["again llm"], "what another model said is replaced");
    assert_eq!(tags_of(&db, new[0]).await, ["new llm"]);
    assert_eq!(htm.count_backfill(&but_for("v2")).await.unwrap(), 0);
    let embed = BackfillRequest { prompt_version: Some("v".into()), ..BackfillRequest::new(Stage::Embed) };
    assert_eq!(htm.count_backfill(&embed).await.unwrap_err().code(), "version_unfit");
}
