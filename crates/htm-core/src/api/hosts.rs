//! A database of several hosts: which of them is the primary, and following it when another one is promoted.

use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use sqlx::postgres::PgConnectOptions;
use sqlx::{PgConnection, PgPool};
use tokio_util::task::AbortOnDropHandle;

use crate::api::connect::connect_options;
use crate::model::error::{Error, Result, chain, codes};
use crate::model::hosts::one_each;
use crate::model::outage::Outage;
use crate::store::hosts::{self, HostState, name};

/// The host and port of a server, or the directory of its socket, for messages.
pub fn address(options: &PgConnectOptions) -> String {
    name(options)
}
use crate::store::{losses, switches};

/// The time between two looks at the primary.
const LOOK: Duration = Duration::from_secs(1);

/// After this many looks at the primary, all hosts are looked at: a primary that was replaced may still run.
const LOOKS_AT_ALL: u32 = 10;

/// The time that other hosts have once one of them has said that it is the primary: a former primary may answer first.
const OTHERS: Duration = LOOK;

/// After this time no connection is being opened any more that was begun before a switch.
const CONNECTED: Duration = Duration::from_secs(15);

/// The servers of one database. One is the primary, the others are its replicas, and any may be promoted.
#[derive(Clone, Debug)]
pub struct Hosts {
    options: Vec<PgConnectOptions>,
}

impl Hosts {
    /// Reads a URL with one host or several, as libpq does: `postgres://user@one:5432,two:5432/database`. Each host's
    /// options are as those of [`connect_options`].
    ///
    /// # Errors
    /// `database_url_invalid`.
    pub fn of(url: &str) -> Result<Self> {
        let options = one_each(url)?.iter().map(|url| connect_options(url)).collect::<Result<_>>()?;
        Ok(Self { options })
    }

    /// These hosts with changed options.
    #[must_use]
    pub fn with(self, change: impl Fn(PgConnectOptions) -> PgConnectOptions) -> Self {
        Self { options: self.options.into_iter().map(change).collect() }
    }

    /// The options of each host.
    pub fn each(&self) -> &[PgConnectOptions] {
        &self.options
    }

    /// The options for the host that is the primary. A single host is not asked.
    ///
    /// # Errors
    /// `database_no_primary`: none is.
    pub async fn primary(&self, timeout: Duration) -> Result<PgConnectOptions> {
        match &self.options[..] {
            [one] => Ok(one.clone()),
            several => Ok(several[find(several, timeout).await?.0].clone()),
        }
    }

    /// Keeps pools at the primary, until the result is dropped: if `now` fails or is no primary any more, new connections
    /// go to the host that is, and older ones are closed before their next use. A statement of this crate that was sent
    /// before and is not answered within two seconds, in any pool of the process, fails with `database_unreachable`. `now`
    /// is what [`primary`](Self::primary) gave. None for a single host. Must be called within a tokio runtime.
    pub fn follow(&self, now: &PgConnectOptions, pools: Vec<FollowingPool>) -> Option<Follower> {
        let at = self.options.iter().position(|host| name(host) == name(now))?;
        if self.options.len() < 2 {
            return None;
        }
        let hosts = self.options.clone();
        let watch =
            Watch { hosts, at, timeline: 0, pools, connection: None, switched: None, outage: Outage::new() };
        Some(Follower { _task: AbortOnDropHandle::new(tokio::spawn(watch.run())) })
    }
}

/// A pool that follows the primary, with a change of the options for its connections.
pub type FollowingPool = (PgPool, fn(PgConnectOptions) -> PgConnectOptions);

/// Follows the primary until it is dropped.
#[derive(Debug)]
pub struct Follower {
    _task: AbortOnDropHandle<()>,
}

struct Watch {
    hosts: Vec<PgConnectOptions>,
    /// The index of the host that the pools connect to.
    at: usize,
    /// The newest timeline that a primary has told. One of an older timeline is a former primary.
    timeline: u32,
    pools: Vec<FollowingPool>,
    connection: Option<PgConnection>,
    /// The last switch, until no connection to the former host can be new.
    switched: Option<Instant>,
    /// The time without a primary.
    outage: Outage,
}

impl Watch {
    async fn run(mut self) {
        let mut looks = 0;
        loop {
            // A lost connection is the first sign of a failure.
            tokio::select! {
                () = losses::next() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            looks += 1;
            let is_primary = self.is_primary().await;
            if is_primary {
                self.has_primary();
            }
            if !is_primary || looks >= LOOKS_AT_ALL {
                looks = 0;
                match find(&self.hosts, LOOK).await {
                    Ok((_, timeline)) if timeline < self.timeline => {
                        self.has_none("a former primary runs, and no other host is the primary");
                    }
                    Ok((found, timeline)) => {
                        self.timeline = timeline;
                        if found != self.at {
                            self.switch(found).await;
                        }
                        self.has_primary();
                    }
                    Err(error) => self.has_none(&chain(&error)),
                }
            }
            if self.switched.is_some_and(|switched| switched.elapsed() > CONNECTED) {
                self.switched = None;
                switches::note_late();
            }
            // One look in a while, however many connections are lost.
            tokio::time::sleep(LOOK / 10).await;
        }
    }

    /// Whether the host in use still is the primary.
    async fn is_primary(&mut self) -> bool {
        let asked = async {
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => hosts::connect(&self.hosts[self.at], LOOK).await?,
            };
            let state = hosts::state(&mut connection, LOOK).await?;
            Ok::<_, Error>((connection, state))
        };
        match asked.await {
            Ok((connection, state)) => {
                self.connection = Some(connection);
                self.timeline = self.timeline.max(state.timeline);
                !state.is_replica && state.timeline == self.timeline
            }
            Err(error) => {
                tracing::debug!(error = %chain(&error), "the primary does not answer");
                false
            }
        }
    }

    fn has_primary(&mut self) {
        if self.outage.ends() {
            tracing::info!("a host is the primary again");
        }
    }

    fn has_none(&mut self, error: &str) {
        match self.outage.is_news(Instant::now()) {
            true => tracing::warn!(error, "no host is the primary now"),
            false => tracing::debug!(error, "no host is the primary now"),
        }
    }

    async fn switch(&mut self, to: usize) {
        let (before, now) = (name(&self.hosts[self.at]), name(&self.hosts[to]));
        tracing::warn!(before, now, "another host is the primary; new connections go there");
        self.at = to;
        if let Some(connection) = self.connection.take() {
            hosts::hang_up(connection).await;
        }
        for (pool, change) in &self.pools {
            pool.set_connect_options(change(self.hosts[to].clone()));
        }
        switches::note();
        self.switched = Some(Instant::now());
    }
}

/// The index of the primary, and its timeline. If two hosts say that they are, it is the one that was promoted last.
async fn find(hosts: &[PgConnectOptions], timeout: Duration) -> Result<(usize, u32)> {
    let ask = async |index: usize| {
        let asked = async {
            let mut connection = hosts::connect(&hosts[index], timeout).await?;
            let state = hosts::state(&mut connection, timeout).await;
            hosts::hang_up(connection).await;
            state
        };
        (index, asked.await)
    };
    let mut asked: FuturesUnordered<_> = (0..hosts.len()).map(ask).collect();
    let mut primaries: Vec<(u32, usize)> = Vec::new();
    let mut others = Vec::new();
    loop {
        let answer = match primaries.is_empty() {
            true => asked.next().await,
            // The timeout of a host that is away is not waited for.
            false => tokio::time::timeout(OTHERS, asked.next()).await.unwrap_or(None),
        };
        match answer {
            None => break,
            Some((index, Ok(HostState { is_replica: false, timeline, .. }))) => {
                primaries.push((timeline, index));
            }
            Some((index, Ok(_))) => others.push((index, "is a replica".to_owned())),
            Some((index, Err(error))) => others.push((index, error.code().to_owned())),
        }
    }
    // Of the same timeline, the first in the URL: they are the same server by two names.
    let newest = primaries.into_iter().max_by_key(|(timeline, index)| (*timeline, std::cmp::Reverse(*index)));
    newest.map(|(timeline, index)| (index, timeline)).ok_or_else(|| {
        others.sort_unstable();
        let each = others.iter().map(|(index, what)| format!("{} ({what})", name(&hosts[*index])));
        let message =
            format!("none of the database's hosts is a primary: {}", each.collect::<Vec<_>>().join(", "));
        Error::new(codes::DATABASE_NO_PRIMARY, message)
    })
}
