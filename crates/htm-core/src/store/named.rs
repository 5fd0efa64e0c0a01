//! Statements with named parameters.

use std::sync::{Arc, OnceLock};

use futures::TryStreamExt;
use sqlx::encode::Encode;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Arguments, AssertSqlSafe, FromRow, Postgres, Row, Type};

use super::connections::Db;
use super::switches::{answered, tested};
use crate::model::answer::{self, MAX_LIST_BYTES};
use crate::model::error::Result;

/// Makes a [`Named`] of a text that is known at compile time. The text is parsed once.
macro_rules! sql {
    ($text:expr) => {{
        static TEMPLATE: $crate::store::named::Template = $crate::store::named::Template::new($text);
        $crate::store::named::Named::of(&TEMPLATE)
    }};
}
pub(crate) use sql;

/// A statement with `:name` in the place of a value.
///
/// The text comes from this crate's own files; the values of callers are bound. A name that the text does not mention
/// is not bound: the parts of a statement depend on the query.
pub(crate) struct Named {
    source: Source,
    /// The indexes of the names that stand for `$1`, `$2` and so on.
    bound: Vec<usize>,
    arguments: PgArguments,
    persistent: bool,
}

enum Source {
    Template(&'static Template),
    Composed(Parts),
}

/// The text of a [`sql!`], and its parsed forms, made at the first use.
pub(crate) struct Template {
    text: &'static str,
    parts: OnceLock<Parts>,
    numbered: OnceLock<Numbered>,
}

/// A text with numbers instead of names, in the order of binding.
struct Numbered {
    bound: Vec<usize>,
    text: Arc<str>,
}

impl Template {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self { text, parts: OnceLock::new(), numbered: OnceLock::new() }
    }

    fn parts(&self) -> &Parts {
        self.parts.get_or_init(|| Parts::of(self.text))
    }

    /// The index of the name that was bound at this turn the first time: it is likely to be the same again.
    fn likely(&self, turn: usize) -> usize {
        self.numbered.get().and_then(|it| it.bound.get(turn)).copied().unwrap_or(turn)
    }

    fn numbered(&self, bound: &[usize]) -> Arc<str> {
        let make = || Numbered { bound: bound.to_vec(), text: self.parts().numbered(bound).into() };
        let numbered = self.numbered.get_or_init(make);
        match numbered.bound == bound {
            true => Arc::clone(&numbered.text),
            false => self.parts().numbered(bound).into(),
        }
    }
}

impl Named {
    /// Makes a statement of a text that is composed for each call. Its comment lines may mention parameters that it
    /// does not have.
    pub(crate) fn new(sql: &str) -> Self {
        Self::from_source(Source::Composed(Parts::of(sql)))
    }

    pub(crate) fn of(template: &'static Template) -> Self {
        Self::from_source(Source::Template(template))
    }

    fn from_source(source: Source) -> Self {
        Self { source, bound: Vec::new(), arguments: PgArguments::default(), persistent: true }
    }

    fn place(&self, name: &str) -> Option<usize> {
        let turn = self.bound.len();
        match &self.source {
            Source::Template(template) => template.parts().place(name, template.likely(turn)),
            Source::Composed(parts) => parts.place(name, turn),
        }
    }

    /// Binds a value.
    ///
    /// # Errors
    /// A value that cannot be encoded.
    pub(crate) fn bind<'q, T>(mut self, name: &str, value: T) -> Result<Self>
    where
        T: Encode<'q, Postgres> + Type<Postgres> + Send + 'q,
    {
        if let Some(place) = self.place(name) {
            self.arguments.add(value).map_err(sqlx::Error::Encode)?;
            self.bound.push(place);
        } else {
            debug_assert!(matches!(self.source, Source::Composed(_)), "the statement has no :{name}");
        }
        Ok(self)
    }

    /// Makes PostgreSQL plan the statement anew for its arguments each time: a filter that is null is no filter then.
    pub(crate) fn planned_anew(mut self) -> Self {
        self.persistent = false;
        self
    }

    fn query(self) -> Query<'static, Postgres, PgArguments> {
        let text = match &self.source {
            Source::Template(template) => template.numbered(&self.bound),
            Source::Composed(parts) => parts.numbered(&self.bound).into(),
        };
        sqlx::query_with(AssertSqlSafe(text), self.arguments).persistent(self.persistent)
    }

    /// Runs it; returns the number of rows that it changed or returned.
    pub(crate) async fn execute(self, db: impl Into<Db<'_>>) -> Result<u64> {
        let query = self.query();
        let done = match db.into() {
            Db::Pool(pool) => answered(query.execute(&mut *pool.acquire().await?)).await,
            Db::Connection(connection) => {
                answered(query.execute(tested(connection.into_inner()).await?)).await
            }
        };
        Ok(done?.rows_affected())
    }

    pub(crate) async fn fetch_all<T>(self, db: impl Into<Db<'_>>) -> Result<Vec<T>>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        self.fetch_each(db, |row| T::from_row(row)).await
    }

    /// Reads memories that a caller gets as a whole.
    ///
    /// # Errors
    /// `answer_too_large`: reading stops there, so that one call does not fill this process's memory.
    pub(crate) async fn fetch_answer<T>(self, db: impl Into<Db<'_>>) -> Result<Vec<T>>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        let mut bytes = 0;
        let rows = self.fetch_each(db, |row| {
            bytes += bytes_of(row);
            if bytes > MAX_LIST_BYTES { Err(sqlx::Error::RowNotFound) } else { T::from_row(row) }
        });
        match rows.await {
            Err(_) if bytes > MAX_LIST_BYTES => Err(answer::too_large()),
            rows => rows,
        }
    }

    /// Reads each row as it comes.
    pub(crate) async fn fetch_each<T>(
        self,
        db: impl Into<Db<'_>>,
        mut read: impl FnMut(&PgRow) -> sqlx::Result<T>,
    ) -> Result<Vec<T>> {
        let query = self.query();
        let mut own;
        let connection = match db.into() {
            Db::Pool(pool) => {
                own = pool.acquire().await?;
                &mut *own
            }
            Db::Connection(connection) => tested(connection.into_inner()).await?,
        };
        let mut rows = query.fetch(connection);
        let mut all = Vec::new();
        let reading = async {
            while let Some(row) = rows.try_next().await? {
                all.push(read(&row)?);
            }
            Ok::<_, sqlx::Error>(())
        };
        answered(reading).await?;
        Ok(all)
    }

    pub(crate) async fn fetch_optional<T>(self, db: impl Into<Db<'_>>) -> Result<Option<T>>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        let query = self.query();
        let row = match db.into() {
            Db::Pool(pool) => answered(query.fetch_optional(&mut *pool.acquire().await?)).await,
            Db::Connection(connection) => {
                answered(query.fetch_optional(tested(connection.into_inner()).await?)).await
            }
        };
        Ok(row?.map(|row| T::from_row(&row)).transpose()?)
    }

    pub(crate) async fn fetch_one<T>(self, db: impl Into<Db<'_>>) -> Result<T>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        Ok(self.fetch_optional(db).await?.ok_or(sqlx::Error::RowNotFound)?)
    }

    /// The one value of the one row.
    pub(crate) async fn fetch_scalar<T>(self, db: impl Into<Db<'_>>) -> Result<T>
    where
        (T,): for<'r> FromRow<'r, PgRow>,
    {
        let (value,): (T,) = self.fetch_one(db).await?;
        Ok(value)
    }

    /// The one value of the one row, if there is one.
    pub(crate) async fn fetch_optional_scalar<T>(self, db: impl Into<Db<'_>>) -> Result<Option<T>>
    where
        (T,): for<'r> FromRow<'r, PgRow>,
    {
        Ok(self.fetch_optional::<(T,)>(db).await?.map(|(value,)| value))
    }

    /// The one value of each row.
    pub(crate) async fn fetch_scalars<T>(self, db: impl Into<Db<'_>>) -> Result<Vec<T>>
    where
        (T,): for<'r> FromRow<'r, PgRow>,
    {
        self.fetch_each(db, |row| <(T,)>::from_row(row).map(|(value,)| value)).await
    }
}

/// A text without its comment lines, split at its names.
#[derive(Debug, PartialEq)]
struct Parts {
    /// The text before each name, and the index of the name.
    before: Vec<(String, usize)>,
    end: String,
    /// The names, in the order of their first mention.
    names: Vec<String>,
}

impl Parts {
    fn of(sql: &str) -> Self {
        let lines = sql.lines().filter(|line| !line.trim_start().starts_with("--"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let mut parts = Self { before: Vec::new(), end: String::new(), names: Vec::new() };
        let mut start = 0;
        let mut last = 0;
        while let Some(at) = text[start..].find(':').map(|at| start + at) {
            let rest = &text[at + 1..];
            let length =
                rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(rest.len());
            start = at + 1 + length;
            // `::type` is a cast, not a name.
            if rest.starts_with(':') {
                start = at + 2;
            } else if rest.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') {
                let place = parts.place_of(&rest[..length]);
                parts.before.push((text[last..at].to_owned(), place));
                last = start;
            }
        }
        parts.end = text[last..].to_owned();
        parts
    }

    fn place_of(&mut self, name: &str) -> usize {
        self.place(name, 0).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// The index of a name; the search for it begins at `likely`.
    fn place(&self, name: &str, likely: usize) -> Option<usize> {
        let count = self.names.len();
        (0..count).map(|step| (likely + step) % count).find(|place| self.names[*place] == name)
    }

    /// The text with `$1` for the first bound name, and so on. A name that was not bound stays as it is.
    fn numbered(&self, bound: &[usize]) -> String {
        let mut numbers = vec![None; self.names.len()];
        for (number, place) in bound.iter().enumerate() {
            numbers[*place] = Some(number + 1);
        }
        let mut text = String::new();
        for (before, place) in &self.before {
            text.push_str(before);
            match numbers[*place] {
                Some(number) => text.push_str(&format!("${number}")),
                None => text.extend([":", &self.names[*place]]),
            }
        }
        text + &self.end
    }
}

/// The bytes of the values of a row, as the server sent them.
fn bytes_of(row: &PgRow) -> usize {
    let value = |column| row.try_get_raw(column).ok()?.as_bytes().ok();
    (0..row.len()).filter_map(value).map(<[u8]>::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_number_wherever_it_stands() {
        let parts = Parts::of("-- :a\nselect :a::int, :ab, x::a, '{:b}' from t where :a = any (:as)");
        assert_eq!(parts.names, ["a", "ab", "b", "as"]);
        let bound = [parts.place("as", 0).unwrap(), parts.place("a", 1).unwrap()];
        assert_eq!(parts.numbered(&bound), "select $2::int, :ab, x::a, '{:b}' from t where $2 = any ($1)");
        assert_eq!(parts.place("z", 0), None);
    }

    #[test]
    fn the_text_of_a_template_is_made_once() {
        static TEMPLATE: Template = Template::new("select :a, :b");
        let text = TEMPLATE.numbered(&[0, 1]);
        assert_eq!(&*text, "select $1, $2");
        assert!(Arc::ptr_eq(&text, &TEMPLATE.numbered(&[0, 1])));
        assert_eq!(&*TEMPLATE.numbered(&[1, 0]), "select $2, $1");
    }
}
