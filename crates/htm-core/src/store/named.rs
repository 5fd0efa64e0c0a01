//! Statements whose parameters have names.

use std::fmt::Write;

use futures::TryStreamExt;
use sqlx::encode::Encode;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments, AssertSqlSafe, FromRow, PgConnection, Postgres, Type};

use crate::model::error::Result;

/// A statement that says `:name` where a value belongs.
///
/// The text comes from this crate's own files; what callers give is bound. A name that the text does not mention is not
/// bound: which parts a statement has depends on the query.
pub(crate) struct Named {
    sql: String,
    arguments: PgArguments,
    count: usize,
}

impl Named {
    /// From a text, whose lines of comment tell of parameters that it may not have.
    pub(crate) fn new(sql: &str) -> Self {
        let lines = sql.lines().filter(|line| !line.trim_start().starts_with("--"));
        Self { sql: lines.collect::<Vec<_>>().join("\n"), arguments: PgArguments::default(), count: 0 }
    }

    /// Binds a value.
    ///
    /// # Errors
    /// A value that cannot be encoded.
    pub(crate) fn bind<'q, T>(mut self, name: &str, value: T) -> Result<Self>
    where
        T: Encode<'q, Postgres> + Type<Postgres> + Send + 'q,
    {
        let Some(sql) = numbered(&self.sql, name, self.count + 1) else { return Ok(self) };
        self.arguments.add(value).map_err(sqlx::Error::Encode)?;
        self.sql = sql;
        self.count += 1;
        Ok(self)
    }

    pub(crate) async fn fetch_all<T>(self, connection: &mut PgConnection) -> Result<Vec<T>>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        Ok(sqlx::query_as_with(AssertSqlSafe(self.sql), self.arguments).fetch_all(connection).await?)
    }

    /// Reads each row as it comes.
    pub(crate) async fn fetch_each<T>(
        self,
        connection: &mut PgConnection,
        read: impl Fn(&PgRow) -> sqlx::Result<T>,
    ) -> Result<Vec<T>> {
        let mut rows = sqlx::query_with(AssertSqlSafe(self.sql), self.arguments).fetch(connection);
        let mut all = Vec::new();
        while let Some(row) = rows.try_next().await? {
            all.push(read(&row)?);
        }
        Ok(all)
    }

    pub(crate) async fn fetch_one<T>(self, connection: &mut PgConnection) -> Result<T>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        Ok(sqlx::query_as_with(AssertSqlSafe(self.sql), self.arguments).fetch_one(connection).await?)
    }
}

/// The text with `$number` for `:name`; none when it has none. `::type` and `:name_of_another` are something else.
fn numbered(sql: &str, name: &str, number: usize) -> Option<String> {
    let mark = format!(":{name}");
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    let mut is_there = false;
    while let Some(at) = rest.find(&mark) {
        let after = &rest[at + mark.len()..];
        let is_name =
            !rest[..at].ends_with(':') && !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        out.push_str(&rest[..at]);
        if is_name {
            is_there = true;
            // Writing to a string does not fail.
            write!(out, "${number}").ok();
        } else {
            out.push_str(&mark);
        }
        rest = after;
    }
    out.push_str(rest);
    is_there.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_number_wherever_it_stands() {
        let sql = "select :a::int, :ab, x::a, '{:b}' from t where :a = any (:as)";
        assert_eq!(
            numbered(sql, "a", 1).unwrap(),
            "select $1::int, :ab, x::a, '{:b}' from t where $1 = any (:as)"
        );
        assert_eq!(numbered(sql, "z", 1), None);
    }
}
