//! Keys of the API. A key is shown once; the database has the hash of its secret part. No tenant's connection reads them.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;

use crate::api::htm::Htm;
use crate::model::api_keys::{ApiKey, CreatedApiKey, NewApiKey, Parts};
use crate::model::error::{Error, Result, codes};
use crate::store::api_keys as store;
use crate::store::connections::Connections;

impl Htm {
    /// Creates a key of the API. A restricted handle creates keys for its own namespaces and its own robot only. That of a
    /// key creates none that expires later or may make more requests a minute.
    ///
    /// # Errors
    /// The errors of [`NewApiKey::validate`] (also for more than the handle's own key may), `namespace_forbidden`, `robot_forbidden`, or a database error.
    pub async fn create_api_key(&self, key: &NewApiKey) -> Result<CreatedApiKey> {
        key.validate()?;
        match key.namespaces.is_empty() {
            true => self.admit_all()?,
            false => key.namespaces.iter().try_for_each(|it| self.admit(it).map(drop))?,
        }
        self.admit_robot_of(key.robot.as_deref())?;
        let mut key = key.clone();
        let mut named = HashSet::new();
        // The first one stays first: it is the default.
        key.namespaces.retain(|namespace| named.insert(namespace.clone()));
        let mut random = [0; 38];
        getrandom::fill(&mut random).map_err(|error| {
            Error::new(codes::NO_RANDOMNESS, "the system has no random bytes").with_source(error)
        })?;
        let (parts, secret) = Parts::generate(random);
        let mut tx = Connections::begin(self.shared_pool()).await?;
        let key = store::create(&mut tx, &parts, &key).await?;
        self.key().map_or(Ok(()), |maker| maker.refuse_more(&key))?;
        self.record_key_in_tx(&mut tx, "key.create", &key).await?;
        tx.commit().await?;
        Ok(CreatedApiKey { key, secret })
    }

    /// The keys, the newest first, revoked ones included. A restricted handle sees those of its namespaces and its robot.
    ///
    /// # Errors
    /// A database error.
    pub async fn api_keys(&self) -> Result<Vec<ApiKey>> {
        let mut keys = store::all(self.shared_pool()).await?;
        keys.retain(|key| self.admit_key(key).is_ok());
        Ok(keys)
    }

    /// Revokes a key. Servers refuse it within a second. A key that is revoked already stays as it is. `id` is the visible
    /// part of the key, or the whole key: then nothing repeats its secret part.
    ///
    /// # Errors
    /// `api_key_unknown`, also for a key of namespaces that a restricted handle does not see, or of another robot than its
    /// own; or a database error.
    pub async fn revoke_api_key(&self, id: &str) -> Result<ApiKey> {
        let id = ApiKey::id_in(id.trim()).ok_or_else(|| {
            Error::new(codes::API_KEY_UNKNOWN, "this is not the id of a key")
                .with_hint("give the 12 digits after `htm_`, or the whole key")
        })?;
        let unknown = || Error::new(codes::API_KEY_UNKNOWN, format!("there is no key `{id}`"));
        let mut tx = Connections::begin(self.shared_pool()).await?;
        let found = store::lock_in_tx(&mut tx, id).await?;
        let found = found.filter(|key| self.admit_key(key).is_ok()).ok_or_else(unknown)?;
        if found.revoked_at.is_some() {
            return Ok(found);
        }
        let revoked = store::revoke_in_tx(&mut tx, id).await?;
        self.record_key_in_tx(&mut tx, "key.revoke", &revoked).await?;
        tx.commit().await?;
        Ok(revoked)
    }

    /// The key with this text, if it is valid now. Notes its use. While the primary is away, a fresh replica is asked.
    ///
    /// # Errors
    /// `api_key_invalid`, `api_key_expired`, `api_key_revoked`, or a database error.
    pub async fn authenticate(&self, secret: &str) -> Result<ApiKey> {
        let invalid = || Error::new(codes::API_KEY_INVALID, "the key of the API is not valid");
        let parts = Parts::of(secret).ok_or_else(invalid)?;
        let parts = &parts;
        let at_replica = |replica: Arc<dyn Connections>| async move {
            store::presented_at_replica(&*replica, parts).await
        };
        let at_primary = store::presented(self.shared_pool(), parts);
        let found = self.at_primary_or_replica(at_primary, at_replica, Option::is_some).await?;
        let found = found.filter(|found| found.is_right).ok_or_else(invalid)?;
        let id = &found.key.id;
        if found.key.revoked_at.is_some() {
            return Err(Error::new(codes::API_KEY_REVOKED, format!("key `{id}` was revoked")));
        }
        if found.is_expired {
            return Err(Error::new(codes::API_KEY_EXPIRED, format!("key `{id}` has expired")));
        }
        Ok(found.key)
    }

    /// This handle, restricted to what the holder of a key may see and to the robot of the key.
    ///
    /// # Errors
    /// `namespace_forbidden` or `robot_forbidden` on a handle that is restricted itself.
    pub fn for_api_key(&self, key: &ApiKey) -> Result<Htm> {
        let mut htm = self.clone();
        if let Some(namespaces) = &key.namespaces {
            htm = htm.within(namespaces)?;
        }
        if let Some(robot) = &key.robot {
            htm = htm.acting_as(robot)?;
        }
        Ok(htm.on_behalf_of(&format!("key {}", key.id)).with_key(key))
    }

    /// Whether there is any key of the API, a revoked one included. While the primary is away, a fresh replica is asked.
    ///
    /// # Errors
    /// A database error.
    pub async fn has_api_keys(&self) -> Result<bool> {
        let at_replica = |replica: Arc<dyn Connections>| async move { store::exist(&*replica).await };
        self.at_primary_or_replica(store::exist(self.shared_pool()), at_replica, |_| true).await
    }

    /// Takes up to `wanted` of the requests that a key may make in this minute. Returns how many of them were left, and
    /// the seconds until the next minute. While the primary is away and a replica is fresh, nobody counts: all are granted,
    /// for a second.
    ///
    /// # Errors
    /// A database error.
    pub async fn take_requests(&self, key: &ApiKey, limit: i32, wanted: i32) -> Result<(i32, f64)> {
        let counted = store::take_requests(self.shared_pool(), &key.id, limit, wanted);
        self.at_primary_or_replica(counted, |_| async move { Ok((wanted, 1.0)) }, |_| true).await
    }

    /// Refuses the robot of a key, or none, on a handle that is restricted to another one.
    fn admit_robot_of(&self, robot: Option<&str>) -> Result<()> {
        match robot {
            Some(robot) => self.admit_robot(robot),
            None => self.admit_any_robot(),
        }
    }

    /// Refuses a key that may more than the handle.
    fn admit_key(&self, key: &ApiKey) -> Result<()> {
        self.admit_robot_of(key.robot.as_deref())?;
        match &key.namespaces {
            None => self.admit_all(),
            Some(namespaces) => namespaces.iter().try_for_each(|namespace| self.admit(namespace).map(drop)),
        }
    }

    async fn record_key_in_tx(
        &self,
        tx: &mut sqlx::PgConnection,
        action: &'static str,
        key: &ApiKey,
    ) -> Result<()> {
        let details = json!({
            "name": key.name, "role": key.role, "robot": key.robot,
            "requests_per_minute": key.requests_per_minute, "expires_at": key.expires_at,
        });
        let namespaces = key.namespaces.as_deref().unwrap_or_default();
        self.record_in_each_in_tx(tx, namespaces, self.done(action, None, Some(&key.id), details)).await
    }
}
