//! The rates of keys and of namespaces. All servers share the requests of a minute through the database. Each takes several at
//! a time, so that a request does not usually ask the database.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use htm_core::{ApiKey, Htm};
use moka::future::Cache;

use crate::codes;
use crate::problem::{Problem, Result};

/// The part of a minute's requests that a server takes at a time.
const SHARE: i32 = 20;

/// The time after which a new quota is noticed.
const KEPT: Duration = Duration::from_secs(5);

/// The rest of each rate here.
pub(crate) struct Rates {
    left: Mutex<HashMap<String, Left>>,
    /// The quotas that count a principal, by its namespaces.
    quotas: Cache<Vec<String>, Arc<[(String, i32)]>>,
}

impl Default for Rates {
    fn default() -> Self {
        let quotas = Cache::builder().max_capacity(10_000).time_to_live(KEPT).build();
        Self { left: Mutex::default(), quotas }
    }
}

#[derive(Clone, Copy)]
struct Left {
    requests: i32,
    /// Whether the database had none left.
    is_last: bool,
    /// The end of the minute.
    until: Instant,
}

/// Whose requests are counted.
#[derive(Clone, Copy)]
enum Limited<'a> {
    Key(&'a ApiKey),
    Namespace(&'a str),
}

impl fmt::Display for Limited<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "key `{}`", key.id),
            Self::Namespace(namespace) => write!(f, "namespace `{namespace}`"),
        }
    }
}

/// Whether a request may be made.
enum Allowance {
    Answered,
    Refused(Duration),
    /// The database has to be asked.
    Unknown,
}

impl Rates {
    /// Counts a request of a key.
    pub(crate) async fn take_for_key(&self, htm: &Htm, key: &ApiKey) -> Result<()> {
        let Some(limit) = key.requests_per_minute else { return Ok(()) };
        self.take(htm, Limited::Key(key), limit).await
    }

    /// Counts a request of a principal that sees these namespaces (none: all) for each quota that covers one of them.
    pub(crate) async fn take_for_namespaces(&self, htm: &Htm, namespaces: Option<&[String]>) -> Result<()> {
        let Some(namespaces) = namespaces else { return Ok(()) };
        let quotas = match self.quotas.get(namespaces).await {
            Some(quotas) => quotas,
            None => {
                let quotas: Arc<[_]> = htm.request_quotas(namespaces).await?.into();
                self.quotas.insert(namespaces.to_vec(), quotas.clone()).await;
                quotas
            }
        };
        for (namespace, limit) in quotas.iter() {
            self.take(htm, Limited::Namespace(namespace), *limit).await?;
        }
        Ok(())
    }

    /// Reads the quotas again at the next requests.
    pub(crate) fn forget(&self) {
        self.quotas.invalidate_all();
    }

    async fn take(&self, htm: &Htm, limited: Limited<'_>, limit: i32) -> Result<()> {
        // With the limit, so that another one counts at once.
        let rate = format!("{limited} may make {limit} requests a minute");
        loop {
            match self.allowance(&rate) {
                Allowance::Answered => return Ok(()),
                Allowance::Refused(wait) => {
                    return Err(Problem::new(codes::TOO_MANY_REQUESTS, rate).retry_after(wait));
                }
                Allowance::Unknown => {}
            }
            let wanted = (limit / SHARE).max(1);
            let taken = match limited {
                Limited::Key(key) => Some(htm.take_requests(key, limit, wanted).await?),
                Limited::Namespace(namespace) => htm.take_requests_of(namespace, wanted).await?,
            };
            // The limit was lifted a moment ago.
            let Some((granted, seconds)) = taken else { return Ok(()) };
            self.add(&rate, granted, Duration::from_secs_f64(seconds.clamp(0.0, 60.0)));
        }
    }

    fn allowance(&self, rate: &str) -> Allowance {
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(left) = all.get_mut(rate) else { return Allowance::Unknown };
        let now = Instant::now();
        if now >= left.until {
            all.remove(rate);
            return Allowance::Unknown;
        }
        if left.requests > 0 {
            left.requests -= 1;
            return Allowance::Answered;
        }
        if left.is_last { Allowance::Refused(left.until - now) } else { Allowance::Unknown }
    }

    fn add(&self, rate: &str, granted: i32, rest: Duration) {
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let left =
            all.entry(rate.to_owned()).or_insert(Left { requests: 0, is_last: false, until: now + rest });
        left.requests += granted;
        left.is_last = granted == 0;
        left.until = now + rest;
    }
}
