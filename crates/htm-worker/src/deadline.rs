//! Time limits of statements, for connections that never answer.

use std::time::Duration;

use htm_core::Error;

/// Added to a statement's timeout: time to get a connection and to receive the answer.
const MARGIN: Duration = Duration::from_secs(5);

/// The time limit of a statement. PostgreSQL ends a slow statement, but a connection whose peer has vanished (behind a
/// proxy or a router) never reports it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Duration);

impl Deadline {
    /// The limit of slow maintenance, and of statements without a timeout in PostgreSQL.
    pub(crate) const LONGEST: Self = Self(Duration::from_secs(600));

    /// The limit of statements that PostgreSQL ends after `timeout`. A `timeout` of zero means never.
    pub(crate) fn after(timeout: Duration) -> Self {
        if timeout.is_zero() { Self::LONGEST } else { Self(timeout.saturating_add(MARGIN)) }
    }

    /// The shorter of this limit and `most`.
    pub(crate) fn at_most(self, most: Duration) -> Self {
        Self(self.0.min(most))
    }

    /// The limit as a duration.
    pub(crate) fn duration(self) -> Duration {
        self.0
    }

    /// Runs a statement. At the deadline it is abandoned, but PostgreSQL may still execute it.
    pub(crate) async fn of<T>(
        self,
        statement: impl Future<Output = htm_core::Result<T>>,
    ) -> htm_core::Result<T> {
        tokio::time::timeout(self.0, statement).await.unwrap_or_else(|_elapsed| Err(self.missed()))
    }

    fn missed(self) -> Error {
        let what = format!("no answer within {} s", self.0.as_secs_f64());
        sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, what)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_statement_without_an_answer_is_given_up() {
        let deadline = Deadline::LONGEST.at_most(Duration::from_millis(20));
        let error = deadline.of(std::future::pending::<htm_core::Result<()>>()).await.unwrap_err();
        assert_eq!(
            (error.code(), error.fault()),
            ("database_unreachable", htm_core::fault::Fault::Transient)
        );
        assert_eq!(deadline.of(async { Ok(7) }).await.unwrap(), 7);
    }

    #[test]
    fn a_statement_that_postgres_never_ends_has_a_deadline_too() {
        assert_eq!(Deadline::after(Duration::ZERO).duration(), Duration::from_secs(600));
        assert_eq!(Deadline::after(Duration::from_secs(1)).duration(), Duration::from_secs(6));
        let sooner = Deadline::LONGEST.at_most(Duration::from_secs(2));
        assert_eq!(sooner.duration(), Duration::from_secs(2));
    }
}
