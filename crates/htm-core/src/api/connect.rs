//! Connecting to a database by its URL.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{Connection, PgConnection};

use crate::model::error::{Error, Result, codes};
use crate::store::connections::TENANT_ROLE;
use crate::store::{losses, switches};

/// Parameters of a URL that sqlx reads. It would log any other one with its value, which may be a secret.
const KNOWN: &[&str] = &[
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// A connection that has been idle for less is not tested before its use. A restart of the database takes longer.
const SURELY_OPEN: Duration = Duration::from_millis(100);

/// The time limit of a test.
const ANSWER: Duration = Duration::from_secs(1);

/// The time of the last test that was answered.
static ANSWERED: Mutex<Option<Instant>> = Mutex::new(None);

/// Values of `sslmode`.
const SSL_MODES: &[&str] = &["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// Parses `postgres://user:password@host/database?sslmode=…`. Without `sslmode` (or `PGSSLMODE`), a server on another
/// machine must present a certificate for its name that the system's roots or `sslrootcert` trust. Otherwise a man in
/// the middle could read passwords and memories.
///
/// # Errors
/// `database_url_invalid`: it is no URL, or it has an unknown `sslmode`.
pub fn connect_options(url: &str) -> Result<PgConnectOptions> {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let name = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_owned();
    let is_known = |parameter: &&str| {
        let name = name(parameter);
        KNOWN.contains(&name.as_str()) || name.starts_with("options[") || name.starts_with("options%5B")
    };
    let (known, unknown): (Vec<_>, Vec<_>) =
        query.split('&').filter(|parameter| !parameter.is_empty()).partition(is_known);
    if !unknown.is_empty() {
        // The names are not logged: a name may be a part of a password.
        tracing::warn!(
            count = unknown.len(),
            "the database's URL has parameters that are not known here and are passed over"
        );
    }
    let is_mode = |parameter: &&&str| matches!(name(parameter).as_str(), "sslmode" | "ssl-mode");
    let mode =
        known.iter().find(is_mode).map(|parameter| parameter.split_once('=').map_or("", |(_, mode)| mode));
    if let Some(unknown) = mode.filter(|mode| !SSL_MODES.contains(&mode.to_ascii_lowercase().as_str())) {
        let message = format!("the database's URL has the unknown sslmode `{unknown}`");
        let hint = format!("use one of {}", SSL_MODES.join(", "));
        return Err(Error::new(codes::DATABASE_URL_INVALID, message).with_hint(hint));
    }
    let options: PgConnectOptions = format!("{place}?{}", known.join("&")).parse()?;
    // `prefer` is the default of sqlx: it accepts any certificate, and none.
    if mode.is_some() || !matches!(options.get_ssl_mode(), PgSslMode::Prefer) || is_here(&options) {
        return Ok(options);
    }
    Ok(options.ssl_mode(PgSslMode::VerifyFull))
}

/// Options for a pool of [`Htm::with_pool`](crate::Htm::with_pool). A connection is tested when it is returned, and before
/// its use only if it has been idle for a moment since, or if another one was lost meanwhile: each test is a round trip.
/// One that does not answer within a second is closed.
pub fn pool_options() -> PgPoolOptions {
    let options = PgPoolOptions::new().test_before_acquire(false).before_acquire(|connection, last| {
        let surely_open = losses::since_last().map_or(SURELY_OPEN, |loss| loss.min(SURELY_OPEN));
        let is_former = switches::is_former(last.age);
        Box::pin(async move { Ok(!is_former && (last.idle_for < surely_open || answers(connection).await)) })
    });
    // sqlx tests a returned connection without a time limit. If the server's machine has lost its power, that takes as
    // long as TCP's retries, and the connection's place in the pool with it.
    options.after_release(|connection, last| {
        let is_former = switches::is_former(last.age);
        Box::pin(async move { Ok(!is_former && (has_answered_lately() || answers(connection).await)) })
    })
}

/// Whether the server answers in time.
async fn answers(connection: &mut PgConnection) -> bool {
    let answered = matches!(tokio::time::timeout(ANSWER, connection.ping()).await, Ok(Ok(())));
    if answered {
        *ANSWERED.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
    answered
}

/// Whether any server has answered a test within the last second. Then the test of sqlx is enough.
fn has_answered_lately() -> bool {
    let answered = *ANSWERED.lock().unwrap_or_else(PoisonError::into_inner);
    answered.is_some_and(|at| at.elapsed() < ANSWER)
}

/// These options for a pool of [`Htm::with_tenants`](crate::Htm::with_tenants).
pub fn tenant_options(options: PgConnectOptions) -> PgConnectOptions {
    options.options([("role", TENANT_ROLE)])
}

/// Whether the server is on this machine, with no network between.
fn is_here(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    options.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> String {
        format!("{:?}", connect_options(url).unwrap().get_ssl_mode())
    }

    #[test]
    fn a_server_elsewhere_is_verified_unless_it_is_said_otherwise() {
        for (url, expected) in [
            ("postgres://me:p@db.example.com/htm", "VerifyFull"),
            ("postgres://me:p@10.0.0.7:5432/htm?application_name=x", "VerifyFull"),
            ("postgres://me@db/htm?sslrootcert=/ca.pem", "VerifyFull"),
            ("postgres://me@localhost.example.com/htm", "VerifyFull"),
            ("postgres://me@localhost/htm?host=db.example.com", "VerifyFull"),
            ("postgres://me@localhost/htm", "Prefer"),
            ("postgres://me@127.0.0.2/htm", "Prefer"),
            ("postgres://me@[::1]/htm", "Prefer"),
            ("postgres://me@%2Frun%2Fhtm/htm", "Prefer"),
            ("postgres://me@db/htm?sslmode=disable", "Disable"),
            ("postgres://me@db/htm?sslmode=prefer", "Prefer"),
            ("postgres://me@db/htm?a=b&ssl-mode=require", "Require"),
        ] {
            assert_eq!(mode(url), expected, "{url}");
        }
    }

    #[test]
    fn unknown_parameters_are_passed_over_and_known_ones_hold() {
        let options =
            connect_options("postgres://h/d?pass=hunter2&user=ada&options[jit]=off&%70ort=1").unwrap();
        assert_eq!((options.get_username(), options.get_port()), ("ada", 5432));
        assert_eq!(options.get_options(), Some("-c jit=off"));
        assert_eq!(connect_options("postgres//h").unwrap_err().code(), "database_url_invalid");
        for password in ["hunter/2", "hunter#2"] {
            let error = connect_options(&format!("postgres://ada:{password}@h/d")).unwrap_err();
            assert!(error.hint().contains("/ is %2F, # is %23"), "{}", error.hint());
            assert!(!crate::model::error::chain(&error).contains("hunter"), "{error}");
        }
    }

    #[test]
    fn an_unknown_sslmode_is_named() {
        let error = connect_options("postgres://me@db/htm?sslmode=verifyfull").unwrap_err();
        assert_eq!(error.code(), "database_url_invalid");
        assert!(error.to_string().contains("`verifyfull`"), "{error}");
        assert!(error.hint().contains("verify-full"), "{}", error.hint());
    }
}
