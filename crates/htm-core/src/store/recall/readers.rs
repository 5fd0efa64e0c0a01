//! A snapshot that one connection reads, or two at the same time.

use super::reader::{Exported, Reader};
use crate::model::error::Result;
use crate::store::connections::Connections;

/// A snapshot of the database, and the connections that read it.
pub(crate) struct Readers<'p> {
    main: Reader,
    beside: Beside<'p>,
}

/// The second connection.
enum Beside<'p> {
    /// It is not wanted, or none is idle.
    No,
    /// It is taken from this pool when there is something to do.
    Of(&'p dyn Connections),
    Offered(Exported<'p>),
    Open(Reader),
}

impl Beside<'_> {
    async fn opened(self) -> Option<Reader> {
        match self {
            Self::Open(reader) => Some(reader),
            Self::Offered(snapshot) => snapshot.open().await,
            Self::No | Self::Of(_) => None,
        }
    }
}

impl<'p> Readers<'p> {
    /// Statements run one after the other.
    pub(crate) fn one(main: Reader) -> Self {
        Self { main, beside: Beside::No }
    }

    /// Statements run two at a time if a connection of the pool is idle.
    pub(crate) fn two(main: Reader, pool: &'p dyn Connections) -> Self {
        Self { main, beside: Beside::Of(pool) }
    }

    pub(crate) fn main(&mut self) -> &mut Reader {
        &mut self.main
    }

    /// Runs two groups of statements, at the same time if there are two connections.
    ///
    /// # Errors
    /// The error of either.
    pub(crate) async fn both<A, B>(
        &mut self,
        one: impl AsyncFnOnce(&mut Reader) -> Result<A>,
        other: impl AsyncFnOnce(&mut Reader) -> Result<B>,
    ) -> Result<(A, B)> {
        let mut beside = std::mem::replace(&mut self.beside, Beside::No);
        if let Beside::Of(pool) = beside {
            beside = self.main.export(pool).await?.map_or(Beside::No, Beside::Offered);
        }
        let on_other = async {
            match beside.opened().await {
                Some(mut reader) => Ok((other(&mut reader).await, reader)),
                None => Err(other),
            }
        };
        let (one, on_other) = tokio::join!(one(&mut self.main), on_other);
        match on_other {
            Ok((other, reader)) => {
                self.beside = Beside::Open(reader);
                Ok((one?, other?))
            }
            Err(other) => Ok((one?, other(&mut self.main).await?)),
        }
    }
}
