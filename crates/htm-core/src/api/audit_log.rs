//! The audit log: who changed keys, limits, policies, robots, models or the ontology, or deleted memories.

use serde_json::Value;
use sqlx::PgConnection;

use crate::api::htm::Htm;
use crate::model::audit_log::AuditEntry;
use crate::model::error::Result;
use crate::model::filter::validate_limit;
use crate::model::timeline::TimeCursor;
use crate::store::audit_log::{self as store, Done};

impl Htm {
    /// The last entries of the audit log before a cursor, the newest first. A restricted handle sees those of its
    /// namespaces.
    ///
    /// # Errors
    /// `limit_out_of_range` (1 to 10,000), or a database error.
    pub async fn audit_log(&self, before: Option<TimeCursor>, limit: usize) -> Result<Vec<AuditEntry>> {
        validate_limit(limit)?;
        store::last(self.pool(), self.namespaces(), before, limit as i64).await
    }

    pub(crate) async fn record_in_tx(&self, tx: &mut PgConnection, done: Done<'_>) -> Result<()> {
        store::record(tx, done).await.map(drop)
    }

    /// Records an act in the log of each of these namespaces, so that who sees one of them sees it there, and nothing of the
    /// others; without any, in that of all.
    pub(crate) async fn record_in_each_in_tx(
        &self,
        tx: &mut PgConnection,
        namespaces: &[impl AsRef<str>],
        done: Done<'_>,
    ) -> Result<()> {
        if namespaces.is_empty() {
            return self.record_in_tx(tx, done).await;
        }
        for namespace in namespaces {
            let done = Done { namespace: Some(namespace.as_ref()), ..done.clone() };
            self.record_in_tx(&mut *tx, done).await?;
        }
        Ok(())
    }

    /// An entry for an action of the handle's actor.
    pub(crate) fn done<'a>(
        &'a self,
        action: &'static str,
        namespace: Option<&'a str>,
        subject: Option<&'a str>,
        details: Value,
    ) -> Done<'a> {
        Done { actor: self.actor(), action, namespace, subject, details }
    }
}
