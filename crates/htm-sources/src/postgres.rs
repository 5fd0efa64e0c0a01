//! The database of another system, read as it is at one moment.

use chrono::{DateTime, Utc};
use htm_core::{Error, Result, connect_options};
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::{codes, json};

/// The most rows that are fetched at once. A row has a text of up to 1 MiB, and a vector.
const PAGE: usize = 100;

/// Whether a location is the URL of a PostgreSQL.
pub(crate) fn is_url(location: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| location.starts_with(scheme))
}

/// A connection in a transaction that sees one snapshot and writes nothing.
pub(crate) struct Database {
    connection: PgConnection,
    /// The place of the database, without a password.
    place: String,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The row as an object: a field a column. None if its JSON has a number that no program can hold.
    pub(crate) fields: Option<Value>,
    /// A second text of the row, as its statement says.
    pub(crate) exact: Option<String>,
    /// The vector of the row.
    pub(crate) vector: Option<Vec<f32>>,
}

impl Database {
    /// Connects, and begins the transaction.
    ///
    /// # Errors
    /// `source_unreadable`, `database_url_invalid`.
    pub(crate) async fn open(url: &str) -> Result<Self> {
        if !is_url(url) {
            let message = "the location is no URL of a database";
            let hint = "give one such as postgres://user@host:5432/database";
            return Err(Error::new(codes::SOURCE_UNREADABLE, message).with_hint(hint));
        }
        let options = connect_options(url)?.application_name("htm import");
        let place = place(&options);
        let connected = PgConnection::connect_with(&options).await;
        let connection = connected.map_err(|error| unreadable(&place, error))?;
        let mut database = Self { connection, place };
        // Times of JSON are in the session's zone. A slow import must not be ended between two pages.
        for setting in [
            "begin isolation level repeatable read, read only",
            "set local time zone 'UTC'",
            "set local statement_timeout = 0",
            "set local idle_in_transaction_session_timeout = 0",
        ] {
            sqlx::raw_sql(setting)
                .execute(&mut database.connection)
                .await
                .map_err(|error| database.unreadable(error))?;
        }
        Ok(database)
    }

    /// The columns of a table that the search path finds; none if there is no such table.
    ///
    /// # Errors
    /// `source_unreadable`.
    pub(crate) async fn columns(&mut self, table: &str) -> Result<Vec<String>> {
        let columns = "select attname::text from pg_attribute
                        where attrelid = to_regclass(quote_ident($1)) and attnum > 0 and not attisdropped order by attnum";
        let read =
            sqlx::query_scalar(columns).persistent(false).bind(table).fetch_all(&mut self.connection).await;
        read.map_err(|error| self.unreadable(error))
    }

    /// Checks that a table has these columns.
    ///
    /// # Errors
    /// `source_unrecognised`, which names what was found; `source_unreadable`.
    pub(crate) async fn expect(&mut self, what: &str, table: &str, columns: &[&str]) -> Result<()> {
        let found = self.columns(table).await?;
        if columns.iter().all(|column| found.iter().any(|it| it == column)) {
            return Ok(());
        }
        let place = &self.place;
        let message = match found.is_empty() {
            true => {
                let tables = self.tables().await?;
                format!("{} has no table {table} of {what}. Its tables: {tables}", self.place)
            }
            false => {
                let (wanted, found) = (columns.join(", "), found.join(", "));
                format!("the table {table} of {place} is not that of {what}, with {wanted}. It has {found}")
            }
        };
        Err(Error::new(codes::SOURCE_UNRECOGNISED, message))
    }

    /// Whether the search path finds a table.
    ///
    /// # Errors
    /// `source_unreadable`.
    pub(crate) async fn has(&mut self, table: &str) -> Result<bool> {
        Ok(!self.columns(table).await?.is_empty())
    }

    /// The names of up to 20 tables, for a message.
    async fn tables(&mut self) -> Result<String> {
        let tables = "select relname::text from pg_class
                       where relkind in ('r', 'p') and pg_table_is_visible(oid)
                         and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
                       order by 1 limit 20";
        let tables: Vec<String> = self.scalars(tables).await?;
        Ok(if tables.is_empty() { "none".into() } else { tables.join(", ") })
    }

    /// The first column of a statement's rows, as texts.
    ///
    /// # Errors
    /// `source_unreadable`.
    pub(crate) async fn scalars(&mut self, sql: &'static str) -> Result<Vec<String>> {
        let read = sqlx::query_scalar(sql).persistent(false).fetch_all(&mut self.connection).await;
        read.map_err(|error| self.unreadable(error))
    }

    /// A number; none if there is no row.
    ///
    /// # Errors
    /// `source_unreadable`.
    pub(crate) async fn number(&mut self, sql: &str) -> Result<Option<i64>> {
        let read = sqlx::query_scalar::<_, i64>(AssertSqlSafe(sql)).persistent(false);
        read.fetch_optional(&mut self.connection).await.map_err(|error| self.unreadable(error))
    }

    /// Declares the cursor of a statement, in the place of the one before. The statement has three columns: the row as a
    /// text of JSON, a second text or null, and a vector as `real[]` or null. Its parts are of this crate, but for names of
    /// tables, which are [`quoted`].
    ///
    /// # Errors
    /// `source_unreadable`.
    pub(crate) async fn read(&mut self, sql: &str) -> Result<()> {
        let declare = format!("close all; declare items no scroll cursor for {sql}");
        let declared = sqlx::raw_sql(AssertSqlSafe(declare)).execute(&mut self.connection).await;
        declared.map(drop).map_err(|error| self.unreadable(error))
    }

    /// The next rows of the cursor; no rows at its end.
    ///
    /// # Errors
    /// `source_unreadable`.
    pub(crate) async fn page(&mut self) -> Result<Vec<Row>> {
        type Columns = (String, Option<String>, Option<Vec<f32>>);
        let fetch = AssertSqlSafe(format!("fetch {PAGE} from items"));
        let rows: std::result::Result<Vec<Columns>, _> =
            sqlx::query_as(fetch).persistent(false).fetch_all(&mut self.connection).await;
        let row = |(fields, exact, vector): Columns| Row {
            fields: serde_json::from_str(&fields).ok(),
            exact,
            vector,
        };
        Ok(rows.map_err(|error| self.unreadable(error))?.into_iter().map(row).collect())
    }

    fn unreadable(&self, error: sqlx::Error) -> Error {
        unreadable(&self.place, error)
    }
}

impl Row {
    /// A text that is not blank.
    pub(crate) fn text(&self, column: &str) -> Option<&str> {
        json::text(self.fields.as_ref()?, column)
    }

    /// A text, or a number as one.
    pub(crate) fn name(&self, column: &str) -> Option<String> {
        name_of(self.field(column))
    }

    /// The columns as an object; null if there is none.
    pub(crate) fn object(&self) -> &Value {
        self.fields.as_ref().unwrap_or(&Value::Null)
    }

    /// A time.
    pub(crate) fn time(&self, column: &str) -> Option<DateTime<Utc>> {
        json::time(self.fields.as_ref()?, column)
    }

    /// A whole number.
    pub(crate) fn number(&self, column: &str) -> Option<i64> {
        self.field(column).as_i64()
    }

    /// A truth value. Null is false.
    pub(crate) fn is(&self, column: &str) -> bool {
        self.field(column).as_bool().unwrap_or_default()
    }

    /// A column; null if there is none.
    pub(crate) fn field(&self, column: &str) -> &Value {
        self.fields.as_ref().and_then(|it| it.get(column)).unwrap_or(&Value::Null)
    }
}

/// A text that is not blank, or a number as a text.
pub(crate) fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A name of a table as SQL.
pub(crate) fn quoted(table: &str) -> String {
    format!("\"{}\"", table.replace('"', "\"\""))
}

/// The first `dimensions` numbers of a vector that was padded with zeros; none if the rest are no zeros, or all are.
pub(crate) fn unpadded(mut vector: Vec<f32>, dimensions: usize) -> Option<Vec<f32>> {
    let is_padded = vector.len() >= dimensions && vector[dimensions..].iter().all(|it| *it == 0.0);
    vector.truncate(dimensions);
    (is_padded && vector.iter().any(|it| *it != 0.0)).then_some(vector)
}

fn place(options: &PgConnectOptions) -> String {
    let host = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => options.get_host().to_owned(),
    };
    let database = options.get_database().unwrap_or(options.get_username());
    format!("the database {database} at {host}:{}", options.get_port())
}

fn unreadable(place: &str, error: sqlx::Error) -> Error {
    // Neither has the password: an error of the server's is a sentence, and one of the connection's names an address.
    let message = format!("{place} cannot be read");
    Error::new(codes::SOURCE_UNREADABLE, message).with_source(error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_padded_vector_is_cut_where_its_zeros_begin() {
        assert_eq!(unpadded(vec![0.5, 0.0, 0.0, 0.0], 2), Some(vec![0.5, 0.0]));
        assert_eq!(unpadded(vec![0.5, 1.0], 2), Some(vec![0.5, 1.0]));
        for other in [vec![0.5, 0.0, 1.0], vec![0.5], vec![0.0, 0.0, 0.0]] {
            assert_eq!(unpadded(other, 2), None);
        }
    }

    #[test]
    fn a_place_has_no_password() {
        let options = connect_options("postgres://ada:secret@db.example:5433/mem?sslmode=disable").unwrap();
        assert_eq!(place(&options), "the database mem at db.example:5433");
        assert!(is_url("postgresql://x/y") && !is_url("mem0.json"));
    }

    proptest! {
        #[test]
        fn a_name_of_a_table_stays_a_name(name in "[a-z\"; -]{1,12}") {
            let sql = quoted(&name);
            let inner = sql.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap();
            prop_assert_eq!(inner.replace("\"\"", ""), name.replace('"', ""));
            prop_assert_eq!(inner.matches('"').count(), 2 * name.matches('"').count());
        }
    }
}
