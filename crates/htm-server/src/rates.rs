//! The rates of keys. All servers share a key's requests of a minute through the database. Each takes several at a time, so
//! that a request does not usually ask the database.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use htm_core::{ApiKey, Htm};

use crate::codes;
use crate::problem::{Problem, Result};

/// The part of a minute's requests that a server takes at a time.
const SHARE: i32 = 20;

/// What each key has left here, by its id.
#[derive(Default)]
pub(crate) struct Rates(Mutex<HashMap<String, Left>>);

#[derive(Clone, Copy)]
struct Left {
    requests: i32,
    /// Whether the database had none left.
    is_last: bool,
    /// The end of the minute.
    until: Instant,
}

/// What to do with a request.
enum Turn {
    Answered,
    Refused(Duration),
    /// The database has to be asked.
    Unknown,
}

impl Rates {
    /// Counts a request of a key.
    pub(crate) async fn take(&self, htm: &Htm, key: &ApiKey) -> Result<()> {
        let Some(limit) = key.requests_per_minute else { return Ok(()) };
        loop {
            match self.turn(&key.id) {
                Turn::Answered => return Ok(()),
                Turn::Refused(wait) => {
                    let problem = format!("key `{}` may make {limit} requests a minute", key.id);
                    return Err(Problem::new(codes::TOO_MANY_REQUESTS, problem).retry_after(wait));
                }
                Turn::Unknown => {}
            }
            let wanted = (limit / SHARE).max(1);
            let (granted, seconds) = htm.take_requests(key, limit, wanted).await?;
            self.add(&key.id, granted, Duration::from_secs_f64(seconds.clamp(0.0, 60.0)));
        }
    }

    fn turn(&self, id: &str) -> Turn {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(left) = all.get_mut(id) else { return Turn::Unknown };
        let now = Instant::now();
        if now >= left.until {
            all.remove(id);
            return Turn::Unknown;
        }
        if left.requests > 0 {
            left.requests -= 1;
            return Turn::Answered;
        }
        if left.is_last { Turn::Refused(left.until - now) } else { Turn::Unknown }
    }

    fn add(&self, id: &str, granted: i32, rest: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let left =
            all.entry(id.to_owned()).or_insert(Left { requests: 0, is_last: false, until: now + rest });
        left.requests += granted;
        left.is_last = granted == 0;
        left.until = now + rest;
    }
}
