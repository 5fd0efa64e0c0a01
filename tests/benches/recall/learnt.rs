//! The cost of learning for hybrid recall: off, with recalls kept for feedback, and with a learnt ranking.

use std::sync::Arc;
use std::time::{Duration, Instant};

use htm_core::ranking::{FEATURES, Learnt, Tree, TreeNode};
use htm_core::{Htm, LearningSettings, RankingFigures, RecallQuery, Strategy};
use sqlx::PgPool;
use sqlx::types::Json;

use crate::corpus::Corpus;

/// The ways, by their names.
pub(crate) const WAYS: [&str; 4] = [
    "hybrid, learning off",
    "hybrid, learnt, 60 trees",
    "hybrid, kept for feedback",
    "hybrid, learnt and kept",
];

/// The ways take turns, so that what else the machine does meets each of them.
const TURNS: usize = 5;

/// The times of whole recalls, by way.
pub(crate) async fn times(
    pool: &PgPool,
    htm: &Htm,
    corpus: &Arc<Corpus>,
    rounds: usize,
) -> [Vec<Duration>; 4] {
    let learnt = Json(with_trees());
    sqlx::query(
        "insert into htm.rankings (namespace, version, learnt, figures, adopted, reason) values ('default', 1, $1, $2, true, '')",
    )
    .bind(learnt)
    .bind(Json(RankingFigures::default()))
    .execute(pool)
    .await
    .expect("a ranking");
    let mut ways = [const { Vec::new() }; 4];
    for turn in 0..TURNS {
        for (way, times) in ways.iter_mut().enumerate() {
            let (is_learnt, is_kept) = (way % 2 == 1, way >= 2);
            let settings = LearningSettings { is_on: is_kept, least: 100_000, ..LearningSettings::default() };
            htm.set_learning(None, &settings).await.expect("set");
            htm.activate_ranking(None, i32::from(is_learnt)).await.expect("chosen");
            // A handle of its own: it knows of no ranking, and need not notice a change.
            let asked = Htm::with_pool(pool.clone(), htm.settings().clone(), Some(corpus.clone()));
            for round in 0..crate::WARM + rounds / TURNS {
                let question = corpus.question(turn * rounds + round);
                let started = Instant::now();
                let query = RecallQuery::new(question).strategy(Strategy::Hybrid).limit(10);
                let recalled = asked.recall(&query).await.expect("recalled");
                let took = started.elapsed();
                assert_eq!(
                    (recalled.recall_id.is_some(), recalled.ranking.version),
                    (is_kept, i32::from(is_learnt))
                );
                if round >= crate::WARM {
                    times.push(took);
                }
            }
            asked.flush().await;
        }
    }
    ways
}

/// A ranking with as many trees as are learnt at most, each with eight leaves.
fn with_trees() -> Learnt {
    let split = |place: usize, tree: usize| TreeNode::Split {
        feature: ((5 * tree + place) % FEATURES.len()) as u8,
        below: 0.1 * (place + 1) as f32,
        left: 2 * place as u16 + 1,
        right: 2 * place as u16 + 2,
    };
    let leaf = |place: usize| TreeNode::Leaf { value: 0.002 * place as f32 };
    let tree = |tree| Tree((0..7).map(|place| split(place, tree)).chain((0..8).map(leaf)).collect());
    Learnt { trees: (0..60).map(tree).collect(), ..Learnt::default_ranking() }
}
