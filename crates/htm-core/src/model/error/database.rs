//! The error of the database.

use std::error::Error as StdError;
use std::fmt;

/// An error of the database, or of the connection to it. Its message is that of the server, else that of the driver's error.
#[derive(Debug)]
pub struct DatabaseError {
    /// The server's message. The driver's adds the line of PostgreSQL's own source, which reads as one of a file of ours.
    pub(crate) said: Option<String>,
    pub(crate) sqlstate: Option<String>,
    pub(crate) constraint: Option<String>,
    pub(crate) driver: Box<dyn StdError + Send + Sync>,
}

impl DatabaseError {
    /// The server's [code](https://www.postgresql.org/docs/current/errcodes-appendix.html), if the server refused.
    pub fn sqlstate(&self) -> Option<&str> {
        self.sqlstate.as_deref()
    }

    /// The constraint that a row would have broken.
    pub fn constraint(&self) -> Option<&str> {
        self.constraint.as_deref()
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.said {
            Some(said) => write!(f, "error returned from database: {said}"),
            None => self.driver.fmt(f),
        }
    }
}

impl StdError for DatabaseError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.said {
            Some(_) => None,
            None => self.driver.source(),
        }
    }
}
