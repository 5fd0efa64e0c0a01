//! Transactions that are tried again because another one was in the way.

use crate::model::error::{Error, Result};

/// The number of attempts in all.
pub(crate) const ATTEMPTS: u32 = 5;

/// Tries again while `is_passing` says that the next attempt may succeed. Returns the last attempt's result.
pub(crate) async fn again<T, F: Future<Output = Result<T>>>(
    is_passing: impl Fn(&Error) -> bool,
    mut attempt: impl FnMut() -> F,
) -> Result<T> {
    for _ in 1..ATTEMPTS {
        match attempt().await {
            Err(error) if is_passing(&error) => {}
            result => return result,
        }
    }
    attempt().await
}

/// Whether the database ended the transaction because of a deadlock.
pub(crate) fn met_another(error: &Error) -> bool {
    error.database().is_some_and(|it| it.sqlstate() == Some("40P01"))
}

/// Whether another transaction was in the way: in a deadlock, or by a row against one of these constraints.
pub(crate) fn was_overtaken(error: &Error, constraints: &[&str]) -> bool {
    let constraint = error.database().and_then(|it| it.constraint());
    met_another(error) || constraint.is_some_and(|it| constraints.contains(&it))
}

/// Whether the database refused a statement at once or, because of a lock, soon: not after the time limit of statements.
pub(crate) fn is_refused(error: &Error) -> bool {
    error.database().and_then(|it| it.sqlstate()).is_some_and(|state| state != "57014")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::error::codes;

    fn contended() -> Error {
        Error::new(codes::CONTENDED, "in the way")
    }

    async fn attempts(passing: bool, succeeds_at: u32) -> (u32, Result<()>) {
        let mut count = 0;
        let attempt = || {
            count += 1;
            std::future::ready(if count == succeeds_at { Ok(()) } else { Err(contended()) })
        };
        let result = again(|_| passing, attempt).await;
        (count, result)
    }

    #[tokio::test]
    async fn only_what_may_pass_is_tried_again_and_not_forever() {
        assert!(matches!(attempts(true, 3).await, (3, Ok(()))));
        assert!(matches!(attempts(false, 3).await, (1, Err(_))));
        assert!(matches!(attempts(true, ATTEMPTS + 1).await, (ATTEMPTS, Err(_))));
    }
}
