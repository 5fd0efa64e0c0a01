//! Several authors: what each of them says counts.

use htm_core::worker::learning;

use super::{judge, nodes, on, recall, with_learning};

#[tokio::test]
async fn a_busy_author_leaves_room_for_the_recalls_of_others() {
    let (db, htm) = with_learning(on()).await;
    let recalled = recall(&htm).await;
    judge(&htm, &recalled, &nodes(&recalled)[..1], &[]).await;
    // As many recalls as a ranking is learnt from, later than that one.
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
    let evidence = learning::evidence(&db.pool, "default").await.unwrap();
    let of_bot = evidence.recalls.iter().filter(|it| it.author == "key bot").count();
    assert_eq!((evidence.recalls.len(), of_bot), (3_000, 2_999));
    assert_eq!(evidence.recalls[0].author, htm.actor());
}
