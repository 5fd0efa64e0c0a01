//! Writes with an id, which a retry does not do again.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::memory::Memory;
use crate::model::operations::Operation;
use crate::model::remember::Receipt;
use crate::store::nodes::NewNode;
use crate::store::operations as store;

impl Htm {
    /// As [`remember_many`](Self::remember_many), once for an operation. The memories and the answer, which `describe`
    /// makes of the results, commit together; a retry gets that answer and writes nothing. Nothing is kept of an
    /// operation that wrote nothing.
    ///
    /// # Errors
    /// `operation_differs` for an id that was used for another request, `operation_open` for one that another call has
    /// begun and not ended, `too_many_namespaces` for memories with tags of so many namespaces that one transaction
    /// cannot hold them, or a database error. Nothing is written then.
    pub async fn remember_once(
        &self,
        operation: &Operation,
        memories: &[Memory],
        describe: impl FnOnce(Vec<Result<Receipt>>) -> Value,
    ) -> Result<Value> {
        let now = self.time_of(&mut None, memories).await?;
        let (results, mut accepted, _taken) = self.sort(&mut None, memories, now).await?;
        self.prioritise(&mut None, &mut accepted).await?;
        if self.parts_of(&accepted).len() > 1 {
            let message = "the memories have tags of too many namespaces for one transaction";
            return Err(Error::new(codes::TOO_MANY_NAMESPACES, message));
        }
        let written = self.write_once(operation, results, &accepted, describe).await;
        if !matches!(written, Ok((_, true))) {
            // Room was taken for memories that were not written, or had been before.
            for namespace in accepted.iter().map(|node| node.namespace).collect::<BTreeSet<_>>() {
                self.rooms().forget(namespace).await;
            }
        }
        written.map(|(answer, _)| answer)
    }

    /// The answer to the operation, and whether it wrote something now.
    async fn write_once(
        &self,
        operation: &Operation,
        mut results: Vec<Option<Result<Receipt>>>,
        accepted: &[NewNode<'_>],
        describe: impl FnOnce(Vec<Result<Receipt>>) -> Value,
    ) -> Result<(Value, bool)> {
        let mut tx = self.pool().begin().await?;
        if let Some(answer) = store::claim(&mut tx, operation, Duration::ZERO).await? {
            return Ok((answer, false));
        }
        let written = match accepted.is_empty() {
            true => Vec::new(),
            false => self.write_in_tx(&mut tx, accepted).await?,
        };
        let only = match (accepted, &written[..]) {
            ([node], [Ok(receipt)]) => Some((node.namespace, &*node.memory.content, receipt.node)),
            _ => None,
        };
        Self::merge(&mut results, written);
        let results: Vec<Result<Receipt>> = results.into_iter().flatten().collect();
        let is_nothing_written = results.iter().all(Result::is_err);
        let answer = describe(results);
        if is_nothing_written {
            tx.rollback().await?;
            return Ok((answer, false));
        }
        store::answer(&mut tx, operation, &answer).await?;
        tx.commit().await?;
        self.pinger().ping();
        if let Some((namespace, content, node)) = only {
            self.signal_citations(namespace, content, node).await;
        }
        Ok((answer, true))
    }

    /// Begins an operation: `None` says that the caller has to do it, and then to [end](Self::end_operation) or to
    /// [abandon](Self::abandon_operation) it; otherwise it is the answer of the first. If the caller dies, the operation
    /// can be begun again after `lease`.
    ///
    /// # Errors
    /// `operation_differs`, `operation_open`, or a database error.
    pub async fn begin_operation(&self, operation: &Operation, lease: Duration) -> Result<Option<Value>> {
        store::claim(&mut *self.pool().acquire().await?, operation, lease).await
    }

    /// Lets an operation that goes on be begun again only after `lease`.
    ///
    /// # Errors
    /// A database error.
    pub async fn renew_operation(&self, operation: &Operation, lease: Duration) -> Result<()> {
        store::renew(self.pool(), operation, lease).await
    }

    /// Ends an operation with its answer, for retries.
    ///
    /// # Errors
    /// A database error.
    pub async fn end_operation(&self, operation: &Operation, answer: &Value) -> Result<()> {
        store::answer(&mut *self.pool().acquire().await?, operation, answer).await
    }

    /// Gives up an operation that failed, so that a retry does it again.
    ///
    /// # Errors
    /// A database error.
    pub async fn abandon_operation(&self, operation: &Operation) -> Result<()> {
        store::abandon(self.pool(), operation).await
    }
}
