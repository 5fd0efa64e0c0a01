//! Several authors: what each of them says counts, and is not shown to all.

use htm_core::LearningSettings;
use htm_core::worker::learning;
use htm_tests::TestDatabase;

use super::{by_age, judge, learnt, nodes, on, recall, with_learning};

/// Makes the author `key bot` judge as many recalls as a ranking is learnt from, later than the one that is there. Each has
/// one candidate.
async fn be_busy(db: &TestDatabase) {
    sqlx::raw_sql(
        "with r as (insert into htm.recalls (id, namespace, author, features, version, shown, judged, keep_until)
                    select lpad(i::text, 26, '0'), 'default', 'key bot', o.features, 0, 1, true, o.keep_until
                      from htm.recalls o, generate_series(1, 3000) i returning number)
         insert into htm.recall_candidates (namespace, recall, node_id, place, shown, features)
         select 'default', r.number, c.node_id, 1, 1, c.features
           from r, htm.recall_candidates c where c.place = 1;
         insert into htm.feedback (namespace, recall, node_id, author, signal, is_used)
         select 'default', r.number, c.node_id, r.author, 'told', true
           from htm.recalls r join htm.recall_candidates c on c.recall = r.number
          where r.author = 'key bot'",
    )
    .execute(&db.pool)
    .await
    .unwrap();
}

#[tokio::test]
async fn a_busy_author_leaves_room_for_the_recalls_of_others() {
    let (db, htm) = with_learning(on()).await;
    let recalled = recall(&htm).await;
    judge(&htm, &recalled, &nodes(&recalled)[..1], &[]).await;
    be_busy(&db).await;
    let evidence = learning::evidence(&db.pool, "default").await.unwrap();
    let of_bot = evidence.recalls.iter().filter(|it| it.author == "key bot").count();
    assert_eq!((evidence.recalls.len(), of_bot), (3_000, 2_999));
    assert_eq!(evidence.recalls[0].author, htm.actor());
}

#[tokio::test]
async fn an_authors_turns_begin_with_what_it_judged_last() {
    let (db, htm) = with_learning(on()).await;
    let recalled = recall(&htm).await;
    judge(&htm.clone().on_behalf_of("key bot"), &recalled, &nodes(&recalled)[..1], &[]).await;
    be_busy(&db).await;
    let evidence = learning::evidence(&db.pool, "default").await.unwrap();
    assert_eq!((evidence.recalls.len(), evidence.recalls[0].candidates.len()), (3_000, 1));
    sqlx::query(
        "update htm.feedback set given_at = now() where recall = (select min(recall) from htm.feedback)",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let evidence = learning::evidence(&db.pool, "default").await.unwrap();
    assert_eq!((evidence.recalls.len(), evidence.recalls[0].candidates.len()), (3_000, 12));
}

#[tokio::test]
async fn an_author_that_only_refuses_brings_no_recall_in() {
    let (db, htm) = with_learning(on()).await;
    let recalled = recall(&htm).await;
    let one = &nodes(&recalled)[..1];
    judge(&htm.clone().on_behalf_of("key bot"), &recalled, one, &[]).await;
    judge(&htm, &recalled, &[], one).await;
    let verdicts = async || {
        let evidence = learning::evidence(&db.pool, "default").await.unwrap();
        let of_both: Vec<_> = evidence.recalls.iter().filter(|it| it.candidates.len() == 12).collect();
        of_both.iter().map(|it| it.candidates[0].is_used).collect::<Vec<_>>()
    };
    // Where another author found something, a refusal counts.
    let mut of_both = verdicts().await;
    of_both.sort_unstable();
    assert_eq!(of_both, [Some(false), Some(true)]);
    be_busy(&db).await;
    assert!(verdicts().await.is_empty());
}

#[tokio::test]
async fn a_shared_ranking_names_nobody_to_callers_that_see_only_some_of_the_namespaces() {
    let (db, htm) = with_learning(on()).await;
    let with_default = LearningSettings { learns_with: Some("default".into()), ..on() };
    htm.set_learning(Some("other"), &with_default).await.unwrap();
    learnt(&db, by_age(), true).await;
    htm.clone().on_behalf_of("key ada").activate_ranking(None, 1).await.unwrap();
    for (seen, names, reason) in [
        (&["default", "other"][..], "key ada", "made by a test"),
        (&["default"][..], "", ""),
        (&["other"][..], "", ""),
    ] {
        let walled = htm.within(seen.iter().copied()).unwrap();
        let rankings = walled.rankings(Some(seen[0])).await.unwrap();
        let found = (rankings.choices[0].chosen_by.as_str(), rankings.rankings[0].reason.as_str());
        assert_eq!(found, (names, reason), "{seen:?}");
        assert_eq!(walled.ranking(Some(seen[0]), 1).await.unwrap().reason, reason, "{seen:?}");
        assert_eq!(rankings.choices[0].reason.is_empty(), reason.is_empty());
    }
}
