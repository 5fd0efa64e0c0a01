//! Purging: deletes nodes that were forgotten before a time.

use serde_json::json;

use crate::api::htm::Htm;
use crate::model::caller::Confirmation;
use crate::model::error::{Error, Result, codes};
use crate::model::memory::validate_time;
use crate::model::purge::{Purge, Purged};
use crate::store::audit_log;
use crate::store::purge::{self as store, Doomed};

impl Htm {
    /// Counts what [`purge`](Self::purge) would delete now. Deletes nothing.
    ///
    /// # Errors
    /// `namespace_invalid`, `time_out_of_range`, `time_in_future`, or a database error.
    pub async fn plan_purge(&self, purge: &Purge) -> Result<Purged> {
        let doomed = self.doomed(purge).await?;
        store::count(self.pool(), &doomed).await
    }

    /// Deletes the caller's nodes that were forgotten before a time. It cannot be undone. Each transaction deletes
    /// 1,000 nodes; an interrupted purge is simply run again. A node that is being restored is left.
    ///
    /// # Errors
    /// `not_confirmed`, `namespace_invalid`, `time_out_of_range`, `time_in_future`, or a database error; earlier
    /// transactions stay.
    pub async fn purge(&self, purge: &Purge, confirmation: Confirmation) -> Result<Purged> {
        let doomed = self.doomed(purge).await?;
        let zone = &self.settings().time.zone;
        confirmation.require(|| format!("purging what was forgotten before {}", zone.tell(purge.before)))?;
        let details = json!({"before": purge.before, "robot": doomed.owner.map(|owner| owner.robot)});
        let done = self.done("purge", doomed.namespace, None, details);
        let entry = audit_log::record(&mut *self.pool().acquire().await?, done).await?;
        let purged = store::all(self.pool(), &doomed).await?;
        audit_log::complete(self.pool(), entry, json!({"memories": purged.removed.nodes})).await?;
        Ok(purged)
    }

    async fn doomed<'a>(&'a self, purge: &'a Purge) -> Result<Doomed<'a>> {
        validate_time(purge.before)?;
        self.admit_caller(&purge.caller)?;
        let namespace = purge.scope.namespace(self)?;
        let now = store::now(self.pool()).await?;
        if purge.before > now {
            let zone = &self.settings().time.zone;
            let (before, now) = (zone.tell(purge.before), zone.tell(now));
            let message = format!("{before} is in the future: the database's clock says {now}");
            return Err(Error::new(codes::TIME_IN_FUTURE, message));
        }
        Ok(Doomed { before: purge.before, namespace, owner: purge.caller.owner(self.settings()) })
    }
}
