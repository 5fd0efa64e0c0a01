//! Sign-ins: a browser presents a key once, and holds a token afterwards.

use std::sync::Arc;

use crate::api::htm::Htm;
use crate::model::api_keys::{ApiKey, KeyText};
use crate::model::error::{Error, Result, codes};
use crate::model::sign_ins::{LENGTH, OVERLAP, RENEWED_AFTER, SignIn, digest, token};
use crate::store::connections::Connections;
use crate::store::sign_ins as store;

impl Htm {
    /// Signs a browser in with a key, for twelve hours.
    ///
    /// # Errors
    /// A database error.
    pub async fn sign_in(&self, key: ApiKey) -> Result<SignIn> {
        let token = new_token()?;
        let mut tx = Connections::begin(self.shared_pool()).await?;
        let ends_at = store::begin(&mut tx, &digest(token.expose()), &key.id, LENGTH).await?;
        tx.commit().await?;
        Ok(SignIn { key, ends_at, token: Some(token) })
    }

    /// The sign-in of a token. It ends with its key. While the primary is away, a fresh replica is asked.
    ///
    /// # Errors
    /// `signed_out`, or a database error.
    pub async fn signed_in(&self, token: &str) -> Result<SignIn> {
        let digest = &digest(token);
        let at_replica = |replica: Arc<dyn Connections>| async move { store::find(&*replica, digest).await };
        let found = self
            .at_primary_or_replica(store::find(self.shared_pool(), digest), at_replica, Option::is_some)
            .await?;
        let found = found.ok_or_else(|| Error::new(codes::SIGNED_OUT, "the sign-in has ended"))?;
        Ok(SignIn { key: found.key, ends_at: found.ends_at, token: None })
    }

    /// As [`signed_in`](Self::signed_in). A token older than a quarter of an hour is replaced.
    ///
    /// # Errors
    /// `signed_out`, or a database error.
    pub async fn renew_sign_in(&self, token: &str) -> Result<SignIn> {
        let found = self.signed_in(token).await?;
        let new = new_token()?;
        let (former, digest) = (digest(token), digest(new.expose()));
        let is_new = store::renew(self.shared_pool(), &former, &digest, RENEWED_AFTER, OVERLAP).await?;
        Ok(SignIn { token: is_new.then_some(new), ..found })
    }

    /// Signs a browser out. One that is signed out stays so.
    ///
    /// # Errors
    /// A database error.
    pub async fn sign_out(&self, token: &str) -> Result<()> {
        store::end(self.shared_pool(), &digest(token)).await
    }
}

fn new_token() -> Result<KeyText> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| {
        Error::new(codes::NO_RANDOMNESS, "the system has no random bytes").with_source(error)
    })?;
    Ok(token(random))
}
