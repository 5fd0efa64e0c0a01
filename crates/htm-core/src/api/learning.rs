//! The settings of learning, and its state.

use serde_json::json;

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::learning::{Learning, LearningProblem, LearningSettings};
use crate::store::learning::{self as evidence, Evidence};
use crate::store::{feedback, rankings as store};

impl Htm {
    /// The state of a namespace's learning (default: the handle's).
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn learning(&self, namespace: Option<&str>) -> Result<Learning> {
        let namespace = self.namespace_or_own(namespace)?;
        let setting = store::setting(self.shared_pool(), namespace).await?;
        let home = setting.as_ref().map_or(namespace, |setting| &setting.home);
        let (kept, judged) = store::kept(self.shared_pool(), namespace, home).await?;
        let (version, learns_at) = match &setting {
            Some(setting) => {
                let again = (6 * setting.asked_at + 4) / 5;
                let due = if setting.asked_at > 0 { again } else { setting.least.into() };
                // Recalls that have ended by now were counted too.
                (setting.version, judged + (due - setting.judged).max(1))
            }
            None => (0, LearningSettings::default().least.into()),
        };
        Ok(Learning {
            namespace: namespace.into(),
            settings: setting.map(|setting| setting.settings).unwrap_or_default(),
            version,
            kept,
            judged,
            learns_at,
            authors: feedback::authors(self.pool(), namespace).await?,
        })
    }

    /// Sets what a namespace keeps of its recalls (default: the handle's). Turning texts off deletes the
    /// stored ones.
    ///
    /// # Errors
    /// `learning_invalid`, `namespace_invalid`, `namespace_forbidden` (also for the namespace that it shall learn with), or
    /// a database error. Nothing is set then, unless the database fails after the settings are stored: while they are
    /// applied to the kept recalls, or while the judged recalls are counted.
    pub async fn set_learning(
        &self,
        namespace: Option<&str>,
        settings: &LearningSettings,
    ) -> Result<Learning> {
        settings.validate()?;
        let namespace = self.written_or_own(namespace)?;
        let mut tx = self.pool().begin().await?;
        let learns_with = settings.learns_with.as_deref().unwrap_or(namespace);
        let home = self.home_in_tx(&mut tx, namespace, learns_with).await?;
        let details = json!({
            "is_on": settings.is_on, "learns_with": home, "keeps_text": settings.keeps_text,
            "keep_days": settings.keep_days, "least": settings.least, "signals": settings.signals,
        });
        store::set_in_tx(&mut tx, namespace, &home, settings).await?;
        self.record_in_tx(&mut tx, self.done("learning.set", Some(namespace), None, details)).await?;
        tx.commit().await?;
        // By itself: recalls are locked before settings elsewhere. Those that are being kept are waited for.
        let mut tx = self.pool().begin().await?;
        store::apply_in_tx(&mut tx, namespace).await?;
        tx.commit().await?;
        self.kept_recalls().forget_rankings();
        // Last, since a count of many recalls may fail: learning begins later then, and the next setting counts anew.
        store::count_judged(self.pool(), &home).await?;
        self.learning(Some(namespace)).await
    }

    /// The namespace whose ranking `namespace` gets if it learns with `learns_with`. If `learns_with` itself learns with a
    /// third one, it is the third. This stays so until the transaction's end.
    pub(crate) async fn home_in_tx(
        &self,
        connection: &mut sqlx::PgConnection,
        namespace: &str,
        learns_with: &str,
    ) -> Result<String> {
        self.admit(learns_with)?;
        store::hold_in_tx(&mut *connection).await?;
        let home = match store::home_in_tx(connection, learns_with).await? {
            Some(home) if learns_with != namespace => home,
            _ => learns_with.to_owned(),
        };
        self.admit(&home)?;
        Ok(home)
    }

    /// The judged recalls that the ranking of a namespace (default: the handle's) is learnt from, of all namespaces that
    /// learn together.
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn learning_evidence(&self, namespace: Option<&str>) -> Result<Evidence> {
        let namespace = self.namespace_or_own(namespace)?;
        let setting = store::setting(self.shared_pool(), namespace).await?;
        let home = setting.map_or_else(|| namespace.to_owned(), |setting| setting.home);
        self.admit(&home)?;
        // Of the others, the connection returns those that the handle sees.
        evidence::evidence(self.pool(), &home).await
    }

    /// The problems of the learning of all namespaces.
    ///
    /// # Errors
    /// `namespace_forbidden` on a restricted handle, or a database error.
    pub async fn learning_problems(&self) -> Result<Vec<LearningProblem>> {
        self.admit_all()?;
        let refusing = feedback::refusing(self.pool()).await?.into_iter();
        let refusing = refusing.map(|(namespace, author, recalls)| LearningProblem::OnlyRefuses {
            namespace,
            author,
            recalls,
        });
        let unusable = store::unusable(self.pool()).await?.into_iter();
        let unusable = unusable.map(|(namespace, version, reason)| LearningProblem::Unusable {
            namespace,
            version,
            reason,
        });
        Ok(refusing.chain(unusable).collect())
    }
}
