//! The settings of namespaces and providers in an export. They are set where there are none.

use super::Importer;
use crate::model::caller::Confirmation;
use crate::model::error::Result;
use crate::model::export::{
    SavedBudget, SavedDocument, SavedLearning, SavedLimits, SavedQuota, SavedRanking, SavedRetention,
};
use crate::model::quotas::Quota;
use crate::model::retention::Retention;
use crate::store::import::settings as store;

impl Importer {
    /// Sets a policy; true if there was none.
    pub(super) async fn retention(&self, saved: &SavedRetention) -> Result<bool> {
        let (namespace, policy) = (Some(saved.ns.as_str()), saved.policy());
        if !self.htm.retention(namespace).await?.is_none() {
            return Ok(false);
        }
        let mut is_new = false;
        let changed = |present: Retention| {
            is_new = present.is_none();
            if is_new { policy } else { present }
        };
        self.htm.change_retention(namespace, changed, Confirmation::Missing).await?;
        Ok(is_new)
    }

    /// Writes a document; true if there was none with its path. Its passages are here by now.
    pub(super) async fn document(&self, saved: &SavedDocument) -> Result<bool> {
        let digest = saved.check()?;
        self.htm.admit(&saved.ns)?;
        store::document(self.htm.pool(), saved, digest).await
    }

    /// Sets a quota; true if there was none. It comes after the memories of its namespace, which may be more.
    pub(super) async fn quota(&self, saved: &SavedQuota) -> Result<bool> {
        let namespace = Some(saved.ns.as_str());
        let mut is_new = false;
        let changed = |present: Quota| {
            is_new = present.is_none() && !saved.quota().is_none();
            if is_new { saved.quota() } else { present }
        };
        self.htm.change_quota(namespace, changed).await?;
        Ok(is_new)
    }

    /// Writes a learnt ranking; true if the namespace had none of its version.
    pub(super) async fn ranking(&self, saved: &SavedRanking) -> Result<bool> {
        saved.check()?;
        self.htm.admit(&saved.ns)?;
        store::ranking(self.htm.pool(), saved).await
    }

    /// Sets what a namespace keeps for learning, and its ranking; true if nothing was set.
    pub(super) async fn learning(&self, saved: &SavedLearning) -> Result<bool> {
        saved.settings().validate()?;
        self.htm.admit(&saved.ns)?;
        let mut tx = self.htm.pool().begin().await?;
        let home = self.htm.home_in_tx(&mut tx, &saved.ns, &saved.learns_with).await?;
        let is_new = store::learning_in_tx(&mut tx, saved, &home).await?;
        tx.commit().await?;
        self.htm.kept_recalls().forget_rankings();
        Ok(is_new)
    }

    /// Sets a budget; true if there was none. A restricted handle sets none, as it may not.
    pub(super) async fn budget(&self, saved: &SavedBudget) -> Result<bool> {
        saved.check()?;
        self.htm.admit(&saved.ns)?;
        if self.htm.admit_all().is_err() {
            return Ok(false);
        }
        store::budget(self.htm.pool(), saved).await
    }

    /// Sets the limits of a model; true if it had none. A restricted handle sets none, as it may not.
    pub(super) async fn limits(&self, saved: &SavedLimits) -> Result<bool> {
        saved.check()?;
        if self.htm.admit_all().is_err() {
            return Ok(false);
        }
        store::limits(self.htm.pool(), saved).await
    }
}
