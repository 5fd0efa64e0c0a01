//! The rankings of namespaces: the list, the choice, trials.

use serde_json::json;

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::rankings::{
    DEFAULT_RANKING, RankingComparison, RankingInfo, Rankings, Trial, ranking_unknown,
};
use crate::store::connections::Db;
use crate::store::rankings::{self as store, Setting};

impl Htm {
    /// The rankings of a namespace (default: the handle's), or of the one that it learns with.
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn rankings(&self, namespace: Option<&str>) -> Result<Rankings> {
        let namespace = self.namespace_or_own(namespace)?;
        let Some(setting) = store::setting(self.shared_pool(), namespace).await? else {
            return Ok(Rankings {
                namespace: namespace.into(),
                active: DEFAULT_RANKING,
                trial: None,
                rankings: Vec::new(),
                choices: Vec::new(),
            });
        };
        let mut rankings = store::list(self.shared_pool(), &setting.home, setting.version, None).await?;
        let mut choices = store::choices(self.shared_pool(), &setting.home).await?;
        if !self.sees_learners(self.shared_pool(), &setting.home).await? {
            rankings.iter_mut().for_each(|it| it.reason.clear());
            choices.iter_mut().for_each(|it| (it.chosen_by, it.reason) = Default::default());
        }
        Ok(Rankings {
            active: setting.version,
            trial: setting.trial,
            rankings,
            choices,
            namespace: setting.home,
        })
    }

    /// A ranking of a namespace (default: the handle's).
    ///
    /// # Errors
    /// `ranking_unknown`, and the errors of [`rankings`](Self::rankings).
    pub async fn ranking(&self, namespace: Option<&str>, version: i32) -> Result<RankingInfo> {
        let namespace = self.namespace_or_own(namespace)?;
        let setting = self.setting_of_ranking(namespace, version).await?;
        let mut ranking = self.known_ranking(&setting, version).await?;
        if !self.sees_learners(self.shared_pool(), &setting.home).await? {
            ranking.reason.clear();
        }
        Ok(ranking)
    }

    /// Orders a namespace's hits by a version from now on; 0 is the default ranking. Programs notice within a second.
    ///
    /// # Errors
    /// `ranking_unknown`, `ranking_unusable`, and the errors of [`rankings`](Self::rankings). Nothing has changed then.
    pub async fn activate_ranking(&self, namespace: Option<&str>, version: i32) -> Result<Rankings> {
        let namespace = self.namespace_or_own(namespace)?;
        let setting = self.setting_of_ranking(namespace, version).await?;
        self.usable_ranking(&setting, version).await?;
        self.choose_ranking(namespace, &setting.home, version, "ranking.activate", "chosen").await
    }

    /// Takes back the last choice of a version that was not taken back yet: each call goes one further back.
    ///
    /// # Errors
    /// `ranking_unknown` if there is none, and the errors of [`activate_ranking`](Self::activate_ranking).
    pub async fn revert_ranking(&self, namespace: Option<&str>) -> Result<Rankings> {
        let namespace = self.namespace_or_own(namespace)?;
        let setting = self.setting_of_ranking(namespace, DEFAULT_RANKING).await?;
        let Some(former) = store::former(self.shared_pool(), &setting.home).await? else {
            let message =
                format!("namespace `{}` has no ranking before version {}", setting.home, setting.version);
            return Err(Error::new(codes::RANKING_UNKNOWN, message));
        };
        self.usable_ranking(&setting, former).await?;
        self.choose_ranking(namespace, &setting.home, former, "ranking.revert", store::REVERTED).await
    }

    /// Tries a version on live recalls, where learning is on, or ends the trial.
    ///
    /// # Errors
    /// `learning_invalid` for the active version; `ranking_unknown`, `ranking_unusable`, and the errors of
    /// [`rankings`](Self::rankings).
    pub async fn try_ranking(&self, namespace: Option<&str>, trial: Option<Trial>) -> Result<Rankings> {
        let namespace = self.namespace_or_own(namespace)?;
        let version = trial.map_or(DEFAULT_RANKING, |trial| trial.version);
        let setting = self.setting_of_ranking(namespace, version).await?;
        if let Some(trial) = trial {
            if trial.version == setting.version {
                let message =
                    format!("version {version} orders the hits already: there is nothing to compare");
                return Err(Error::new(codes::LEARNING_INVALID, message)
                    .with_hint("try a version that is not active"));
            }
            self.usable_ranking(&setting, version).await?;
        }
        self.admit(&setting.home)?;
        let mut tx = self.pool().begin().await?;
        store::try_in_tx(&mut tx, &setting.home, trial).await?;
        let details = json!({ "version": trial.map(|it| it.version), "kind": trial.map(|it| it.kind) });
        self.record_in_tx(&mut tx, self.done("ranking.try", Some(&setting.home), None, details)).await?;
        tx.commit().await?;
        self.kept_recalls().forget_rankings();
        self.rankings(Some(namespace)).await
    }

    /// How a version that was tried compares with the one that answered.
    ///
    /// # Errors
    /// `ranking_unknown`, and the errors of [`rankings`](Self::rankings).
    pub async fn compare_rankings(&self, namespace: Option<&str>, version: i32) -> Result<RankingComparison> {
        let namespace = self.namespace_or_own(namespace)?;
        let setting = self.setting_of_ranking(namespace, version).await?;
        self.known_version(&setting, version).await?;
        store::compare(self.shared_pool(), &setting.home, version).await
    }

    /// Whether the handle sees `home` and all namespaces that learn with it. Names in the rankings may come from any of
    /// them.
    pub(crate) async fn sees_learners(&self, unwalled: impl Into<Db<'_>>, home: &str) -> Result<bool> {
        if self.namespaces().is_none() {
            return Ok(true);
        }
        let learners = store::learners(unwalled, home).await?;
        Ok(self.admit(home).is_ok() && learners.iter().all(|it| self.admit(it).is_ok()))
    }

    async fn setting_of_ranking(&self, namespace: &str, version: i32) -> Result<Setting> {
        let setting = store::setting(self.shared_pool(), namespace).await?;
        setting.ok_or_else(|| match version {
            DEFAULT_RANKING => {
                let message = format!("namespace `{namespace}` has no rankings: it never learnt");
                Error::new(codes::RANKING_UNKNOWN, message)
            }
            _ => ranking_unknown(namespace, version),
        })
    }

    async fn known_ranking(&self, setting: &Setting, version: i32) -> Result<RankingInfo> {
        let found = store::list(self.shared_pool(), &setting.home, setting.version, Some(version)).await?;
        found.into_iter().next().ok_or_else(|| ranking_unknown(&setting.home, version))
    }

    async fn known_version(&self, setting: &Setting, version: i32) -> Result<()> {
        match version {
            DEFAULT_RANKING => Ok(()),
            _ => self.known_ranking(setting, version).await.map(drop),
        }
    }

    async fn usable_ranking(&self, setting: &Setting, version: i32) -> Result<()> {
        if version == DEFAULT_RANKING {
            return Ok(());
        }
        match self.known_ranking(setting, version).await?.unusable {
            Some(why) => {
                let message = format!("version {version} of `{}` is unusable: {why}", setting.home);
                Err(Error::new(codes::RANKING_UNUSABLE, message))
            }
            None => Ok(()),
        }
    }

    async fn choose_ranking(
        &self,
        namespace: &str,
        home: &str,
        version: i32,
        action: &'static str,
        reason: &str,
    ) -> Result<Rankings> {
        self.admit(home)?;
        let mut tx = self.pool().begin().await?;
        let former = store::choose_in_tx(&mut tx, home, version, self.actor(), reason).await?;
        if former != Some(version) {
            let details = json!({ "version": version, "former": former });
            self.record_in_tx(&mut tx, self.done(action, Some(home), None, details)).await?;
        }
        tx.commit().await?;
        self.kept_recalls().forget_rankings();
        self.rankings(Some(namespace)).await
    }
}
