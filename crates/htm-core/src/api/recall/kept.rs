//! The ranking of a recall, and the recall as it is kept for feedback.

use std::sync::Arc;

use ulid::Ulid;

use crate::api::htm::Htm;
use crate::model::kept_recall::KeptRecall;
use crate::model::recall::{RecallQuery, Recalled};
use crate::store::rankings::{self, ActiveRanking};

impl Htm {
    /// The ranking of a namespace's hits as of at most a second ago. If it cannot be read, the default ranking stands in.
    pub(crate) async fn ranking_of(&self, namespaces: &[&str]) -> Arc<ActiveRanking> {
        // One ranking cannot order the hits of namespaces that learn apart.
        let [namespace] = namespaces else { return Arc::default() };
        let known = self.kept_recalls().rankings();
        let key = ((*namespace).to_owned(), self.reads().at.is_some());
        if let Some(ranking) = known.get(&key).await {
            return ranking;
        }
        let read = match &self.reads().at {
            Some(at) => rankings::active(at.as_ref(), namespace).await,
            None => rankings::active(self.shared_pool(), namespace).await,
        };
        let ranking = Arc::new(read.unwrap_or_else(|error| {
            let mut ranking = ActiveRanking::default();
            ranking.used.fallback = Some(format!("the chosen ranking could not be read ({})", error.code()));
            ranking
        }));
        known.insert(key, ranking.clone()).await;
        ranking
    }

    /// Keeps a recall for feedback if its namespace asks for that, and gives it its id.
    pub(crate) async fn keep_recall(&self, query: &RecallQuery, recalled: &mut Recalled) {
        let Some(search) = recalled.kept.take() else { return };
        // A look that does not count is not judged either: evaluations, and searches of the program itself.
        let namespaces = self.namespaces_or_own(&query.filter.namespaces);
        let Some(namespace) = namespaces.ok().and_then(|found| Some((*found.first()?).to_owned())) else {
            return;
        };
        if !query.count_accesses || recalled.hits.is_empty() {
            return;
        }
        let id = Ulid::new().to_string();
        let ranking = self.ranking_of(&[&namespace]).await;
        self.kept_recalls().keep(KeptRecall {
            id: id.clone(),
            namespace,
            author: self.actor().into(),
            query: ranking.keeps_text.then(|| query.text.clone()),
            shown: recalled
                .hits
                .iter()
                .map(|hit| hit.followed_from.as_ref().map_or(hit.node.id, |it| it.node))
                .collect(),
            search,
        });
        recalled.recall_id = Some(id);
    }
}
