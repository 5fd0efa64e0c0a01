//! Keys of the API.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use sha2::{Digest, Sha256};

use crate::model::error::{Error, Result, codes};
use crate::model::memory::{MAX_NAME_BYTES, validate_name, validate_namespace};

/// The most namespaces of a key.
const MAX_NAMESPACES: usize = 100;

/// The longest time until a key expires, in days.
const LONGEST_DAYS: u64 = 36_500;

/// The text before a key's visible part.
const PREFIX: &str = "htm_";

/// The digits of the visible part.
const ID_DIGITS: usize = 12;

/// The permissions of a key's holder. Each role has those of the roles before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[derive(serde::Serialize, serde::Deserialize)]
#[derive(strum::Display, strum::EnumString, strum::AsRefStr, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    /// Recalls and reads.
    Reader,
    /// Also remembers, edits, forgets and restores.
    Writer,
    /// Also changes the ontology, policies, jobs and keys, and deletes.
    Admin,
}

impl Role {
    /// All roles, the least first.
    pub const ALL: [Self; 3] = [Self::Reader, Self::Writer, Self::Admin];
}

/// A key to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewApiKey {
    /// The role of its holder.
    pub role: Role,
    /// Its namespaces; `tenant-7/*` stands for every namespace below `tenant-7`. Empty: all.
    pub namespaces: Vec<String>,
    /// The robot of its requests. None: each request names its own.
    pub robot: Option<String>,
    /// A name for people.
    pub name: Option<String>,
    /// The time until it expires. None: never.
    pub expires_in: Option<Duration>,
    /// The most requests a minute, over all servers. None: no limit.
    pub requests_per_minute: Option<i32>,
}

impl NewApiKey {
    /// A key for all namespaces that does not expire.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            namespaces: Vec::new(),
            robot: None,
            name: None,
            expires_in: None,
            requests_per_minute: None,
        }
    }

    /// Adds a namespace, or those below one: `tenant-7/*`.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespaces.push(namespace.into());
        self
    }

    /// Sets the robot that its requests act as.
    pub fn robot(mut self, robot: impl Into<String>) -> Self {
        self.robot = Some(robot.into());
        self
    }

    /// Checks the fields.
    ///
    /// # Errors
    /// `namespace_invalid`, `robot_invalid`, `key_invalid` (its name), `limit_out_of_range`, `expiry_out_of_range`.
    pub fn validate(&self) -> Result<()> {
        self.namespaces.iter().try_for_each(|namespace| validate_pattern(namespace))?;
        if let Some(robot) = &self.robot {
            validate_name("robot", robot, MAX_NAME_BYTES)?;
        }
        if let Some(name) = &self.name {
            validate_name("key", name, MAX_NAME_BYTES)?;
        }
        let out_of_range = |message: String| Err(Error::new(codes::LIMIT_OUT_OF_RANGE, message));
        if self.namespaces.len() > MAX_NAMESPACES {
            return out_of_range(format!(
                "a key of {} namespaces is outside 1 to {MAX_NAMESPACES}",
                self.namespaces.len()
            ));
        }
        if let Some(rate) = self.requests_per_minute.filter(|rate| *rate < 1) {
            return out_of_range(format!("{rate} requests a minute are outside 1 to {}", i32::MAX));
        }
        let days = LONGEST_DAYS;
        if self.expires_in.is_some_and(|time| !(1..=days * 86_400).contains(&time.as_secs())) {
            let seconds = self.expires_in.unwrap_or_default().as_secs_f64();
            let message = format!("an expiry in {seconds} s is outside 1 second to {days} days");
            return Err(Error::new(codes::EXPIRY_OUT_OF_RANGE, message));
        }
        Ok(())
    }
}

/// A namespace, or those below one. A `*` elsewhere is refused: it would match less than its author expects.
fn validate_pattern(pattern: &str) -> Result<()> {
    validate_namespace(pattern)?;
    if pattern.strip_suffix("/*").unwrap_or(pattern).contains('*') {
        let message = format!(
            "namespace `{pattern}` is not valid: `*` is the last label of a key's namespace, as in `a/*`"
        );
        return Err(Error::new(codes::NAMESPACE_INVALID, message));
    }
    Ok(())
}

/// A key, without its secret part.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApiKey {
    /// Its visible part, and its name in lists and logs.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// The role of its holder.
    pub role: Role,
    /// Its namespaces; `tenant-7/*` stands for every namespace below `tenant-7`. Null: all.
    pub namespaces: Option<Vec<String>>,
    /// The robot of its requests. Null: each request names its own.
    pub robot: Option<String>,
    /// The most requests a minute, over all servers. Null: no limit.
    pub requests_per_minute: Option<i32>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it expires. Null: never.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked. Null: it was not.
    pub revoked_at: Option<DateTime<Utc>>,
    /// When it was used last, to the minute. Null: never.
    pub last_used_at: Option<DateTime<Utc>>,
}

impl ApiKey {
    /// The visible part in a whole key, in what stands before its secret part, or alone. None: there is none.
    pub fn id_in(text: &str) -> Option<&str> {
        let text = text.strip_prefix(PREFIX).unwrap_or(text);
        let id = text.split_once('_').map_or(text, |(id, _)| id);
        is_hex(id, ID_DIGITS).then_some(id)
    }

    /// Refuses a new key that would outlive this one, which makes it, or be faster.
    pub(crate) fn refuse_more(&self, made: &ApiKey) -> Result<()> {
        if let Some(at) = self.expires_at.filter(|at| made.expires_at.is_none_or(|end| end > *at)) {
            let message = format!(
                "the new key outlives the key that creates it, which expires at {}",
                at.to_rfc3339_opts(SecondsFormat::Secs, true)
            );
            return Err(Error::new(codes::EXPIRY_OUT_OF_RANGE, message).with_hint("let it expire no later"));
        }
        if let Some(most) =
            self.requests_per_minute.filter(|most| made.requests_per_minute.is_none_or(|rate| rate > *most))
        {
            let message = format!(
                "the new key has a higher limit than the key that creates it: {most} requests a minute"
            );
            let hint = format!("give a limit of {most} requests a minute at most");
            return Err(Error::new(codes::LIMIT_OUT_OF_RANGE, message).with_hint(hint));
        }
        Ok(())
    }

    /// Whether a text begins as the text of a key does. It need not be one.
    pub fn is_key(text: &str) -> bool {
        text.starts_with(PREFIX)
    }
}

/// A new key. Its text cannot be read again.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreatedApiKey {
    /// The key's record.
    #[serde(flatten)]
    pub key: ApiKey,
    /// The whole key, for the header `Authorization: Bearer …`.
    pub secret: KeyText,
}

/// The text of a whole key, or of the token of a sign-in. It shows itself only on request.
#[derive(Clone, serde::Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyText(String);

impl KeyText {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyText(…)")
    }
}

/// The two parts of a key's text.
pub(crate) struct Parts {
    pub(crate) id: String,
    /// The SHA-256 of the secret part.
    pub(crate) digest: [u8; 32],
}

impl Parts {
    /// Makes a key of 38 random bytes.
    pub(crate) fn generate(random: [u8; 38]) -> (Self, KeyText) {
        let (id, secret) = (hex::encode(&random[..6]), hex::encode(&random[6..]));
        let text = format!("{PREFIX}{id}_{secret}");
        (Self { id, digest: Sha256::digest(secret).into() }, KeyText(text))
    }

    /// Reads a key's text.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        (is_hex(id, ID_DIGITS) && is_hex(secret, 64))
            .then(|| Self { id: id.into(), digest: Sha256::digest(secret).into() })
    }
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_creates_no_stronger_key() {
        let key = |end: Option<i64>, requests_per_minute| ApiKey {
            id: "0123456789ab".into(),
            name: None,
            role: Role::Admin,
            namespaces: None,
            robot: None,
            requests_per_minute,
            created_at: DateTime::UNIX_EPOCH,
            expires_at: end.and_then(|seconds| DateTime::from_timestamp(seconds, 0)),
            revoked_at: None,
            last_used_at: None,
        };
        let refused = |maker: &ApiKey, made: &ApiKey| maker.refuse_more(made).err().map(|it| it.code());
        let (free, bound) = (key(None, None), key(Some(60), Some(5)));
        for made in [key(None, None), key(Some(60), Some(5)), key(Some(9), Some(9))] {
            assert_eq!(refused(&free, &made), None);
        }
        for (made, code) in [
            (key(Some(60), Some(5)), None),
            (key(Some(59), Some(1)), None),
            (key(None, Some(5)), Some("expiry_out_of_range")),
            (key(Some(61), Some(5)), Some("expiry_out_of_range")),
            (key(Some(60), None), Some("limit_out_of_range")),
            (key(Some(60), Some(6)), Some("limit_out_of_range")),
        ] {
            assert_eq!(refused(&bound, &made), code, "{made:?}");
        }
    }

    #[test]
    fn a_key_is_named_by_its_visible_part() {
        let (parts, whole) = Parts::generate([0xa5; 38]);
        let id = &*parts.id;
        for text in [id, &format!("htm_{id}"), &format!("htm_{id}_"), whole.expose()] {
            assert_eq!(ApiKey::id_in(text), Some(id), "{text}");
        }
        for text in ["", "htm_", "htm_a5", &whole.expose()[17..], "A5A5A5A5A5A5"] {
            assert_eq!(ApiKey::id_in(text), None, "{text}");
        }
    }

    #[test]
    fn a_key_is_read_back_and_hides_itself() {
        let (made, secret) = Parts::generate([0xa5; 38]);
        let read = Parts::of(secret.expose()).unwrap();
        assert_eq!((made.id, made.digest), (read.id, read.digest));
        assert!(!format!("{secret:?}").contains("a5"));
        let whole = secret.expose();
        for other in
            ["", "htm_", "htm_a5_b", &whole[1..], &whole[..80], &whole.to_uppercase(), &format!("{whole}0")]
        {
            assert!(Parts::of(other).is_none(), "{other}");
        }
    }

    #[test]
    fn roles_are_ordered() {
        assert!(Role::ALL.is_sorted());
        assert_eq!("writer".parse::<Role>().unwrap().as_ref(), "writer");
    }

    #[test]
    fn bad_keys_are_refused() {
        let reader = || NewApiKey::new(Role::Reader);
        for (key, code) in [
            (reader().namespace("a//b"), "namespace_invalid"),
            (reader().namespace("*"), "namespace_invalid"),
            (reader().namespace("a*b"), "namespace_invalid"),
            (reader().namespace("tenant/*/x"), "namespace_invalid"),
            (reader().robot(" "), "robot_invalid"),
            (NewApiKey { requests_per_minute: Some(0), ..reader() }, "limit_out_of_range"),
            (NewApiKey { namespaces: vec!["a".into(); 101], ..reader() }, "limit_out_of_range"),
            (NewApiKey { expires_in: Some(Duration::ZERO), ..reader() }, "expiry_out_of_range"),
            (NewApiKey { name: Some(String::new()), ..reader() }, "key_invalid"),
        ] {
            assert_eq!(key.validate().unwrap_err().code(), code);
        }
        reader().namespace("tenant-7/*").robot("ada").validate().unwrap();
        let fast = NewApiKey { requests_per_minute: Some(0), ..reader() }.validate().unwrap_err();
        assert!(!fast.hint().contains("10000"), "{}", fast.hint());
        let ended = NewApiKey { expires_in: Some(Duration::from_millis(500)), ..reader() }.validate();
        assert_eq!(ended.unwrap_err().to_string(), "an expiry in 0.5 s is outside 1 second to 36500 days");
    }
}
