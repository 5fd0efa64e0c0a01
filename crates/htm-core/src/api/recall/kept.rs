//! The ranking of a recall, and the recall as it is kept for feedback.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use ulid::Ulid;

use crate::api::htm::Htm;
use crate::model::kept_recalls::KeptRecall;
use crate::model::rankings::RankingUsed;
use crate::model::recall::{RecallQuery, Recalled};
use crate::store::connections::Connections;
use crate::store::rankings::{self, ActiveRanking};

/// The longest wait for the ranking. A recall does not fail for it.
const PATIENCE: Duration = Duration::from_millis(500);

impl Htm {
    /// The ranking of a namespace's hits as of at most a second ago. If it cannot be read, the default ranking stands in.
    pub(crate) async fn ranking_of(&self, namespaces: &[&str]) -> Arc<ActiveRanking> {
        // One ranking cannot order the hits of namespaces that learn apart.
        let [namespace] = namespaces else { return Arc::default() };
        let at_replica = self.reads().at.is_some();
        let pool: &dyn Connections = match &self.reads().at {
            Some(at) => at.as_ref(),
            // Where nobody learns, namespaces are not looked up one by one.
            None if !self.learns_anywhere().await => return Arc::default(),
            None => self.shared_pool(),
        };
        let known = self.kept_recalls().rankings();
        let key = ((*namespace).to_owned(), at_replica);
        if let Some(ranking) = known.get(&key).await {
            return ranking;
        }
        let why = match timeout(PATIENCE, rankings::active(pool, namespace)).await {
            Ok(Ok(ranking)) => return self.know_ranking(key, ranking).await,
            Ok(Err(error)) => error.code(),
            Err(_elapsed) => "the database is slow",
        };
        let fallback = Some(format!("the chosen ranking could not be read: {why}"));
        let used = RankingUsed { fallback, ..RankingUsed::default() };
        self.know_ranking(key, ActiveRanking { used, ..ActiveRanking::default() }).await
    }

    async fn know_ranking(&self, key: (String, bool), ranking: ActiveRanking) -> Arc<ActiveRanking> {
        let (known, ranking) = (self.kept_recalls().rankings(), Arc::new(ranking));
        known.insert(key, ranking.clone()).await;
        ranking
    }

    /// Whether any namespace learns, as of at most a second ago.
    async fn learns_anywhere(&self) -> bool {
        let known = self.kept_recalls().is_used();
        if let Some(is_used) = known.get(&()).await {
            return is_used;
        }
        let asked = timeout(PATIENCE, rankings::is_used(self.shared_pool())).await;
        let is_used = asked.ok().and_then(Result::ok).unwrap_or(true);
        known.insert((), is_used).await;
        is_used
    }

    /// Keeps a recall for feedback if its namespace asks for that, and gives it its id.
    pub(crate) fn keep_recall(&self, query: &RecallQuery, recalled: &mut Recalled) {
        let Some(mut search) = recalled.kept.take() else { return };
        // A look that does not count is not judged either: evaluations, and searches of the program itself.
        let namespaces = self.namespaces_or_own(&query.filter.namespaces);
        let Some(namespace) = namespaces.ok().and_then(|found| Some((*found.first()?).to_owned())) else {
            return;
        };
        if !query.count_accesses || recalled.hits.is_empty() {
            return;
        }
        for hit in &recalled.hits {
            if let Some(found) = &hit.followed_from {
                search.show(hit.node.id, found.node);
            }
        }
        let id = Ulid::new().to_string();
        self.kept_recalls().keep(KeptRecall {
            id: id.clone(),
            namespace,
            author: self.actor().into(),
            query: search.keeps_text.then(|| query.text.clone()),
            shown: recalled.hits.iter().map(|hit| hit.node.id).collect(),
            search,
        });
        recalled.recall_id = Some(id);
    }
}
