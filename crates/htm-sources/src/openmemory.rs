//! The database of OpenMemory, mem0's local server: the SQLite file `openmemory.db`.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use htm_core::{Error, Result};
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Map, Value};

use crate::foreign::{Foreign, Item, Left, Why};
use crate::{Counts, Source, codes, files};

/// The rows of a page.
const PAGE: i64 = 500;

/// The columns that are read, by table.
const COLUMNS: [(&str, &[&str]); 5] = [
    ("memories", &["id", "user_id", "app_id", "content", "metadata", "state", "created_at", "updated_at"]),
    ("users", &["id", "user_id"]),
    ("apps", &["id", "name"]),
    ("categories", &["id", "name"]),
    ("memory_categories", &["memory_id", "category_id"]),
];

/// A page of memories after a row. Parameters: the row's number, the most rows.
const MEMORIES: &str = "
    select m.rowid, m.id, m.content, m.metadata, lower(m.state), m.created_at, m.updated_at, u.user_id, a.name,
           (select json_group_array(c.name) from memory_categories mc join categories c on c.id = mc.category_id
             where mc.memory_id = m.id)
      from memories m
      left join users u on u.id = m.user_id
      left join apps a on a.id = m.app_id
     where m.rowid > ?1
     order by m.rowid
     limit ?2";

/// The database, read page by page.
pub(crate) struct OpenMemory {
    database: Connection,
    path: PathBuf,
    /// The last row that was read.
    last: i64,
    items: VecDeque<Item>,
    counts: Counts,
}

pub(crate) fn open(location: &str) -> Result<OpenMemory> {
    let mut path = files::file(location)?.to_owned();
    if path.is_dir() {
        path.push("openmemory.db");
    }
    path.metadata().map_err(files::unreadable(&path))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(&path, flags).map_err(|error| unreadable(&path, error))?;
    check(&database, &path)?;
    Ok(OpenMemory { database, path, last: 0, items: VecDeque::new(), counts: Counts::new() })
}

/// Checks that the tables have the columns that are read.
fn check(database: &Connection, path: &Path) -> Result<()> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut statement = database
        .prepare(
            "select m.name, c.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table'",
        )
        .map_err(|error| unreadable(path, error))?;
    let columns = statement
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .map_err(|error| unreadable(path, error))?;
    for column in columns {
        let (table, column) = column.map_err(|error| unreadable(path, error))?;
        found.entry(table).or_default().push(column);
    }
    for (table, columns) in COLUMNS {
        let Some(there) = found.get(table) else {
            let tables = found.keys().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
            let tables = if tables.is_empty() { "no tables".into() } else { format!("the tables {tables}") };
            let message = format!("{} has no table `{table}`, but {tables}", path.display());
            return Err(Error::new(codes::SOURCE_UNRECOGNISED, message));
        };
        if let Some(missing) = columns.iter().find(|column| !there.iter().any(|it| it == *column)) {
            let message = format!(
                "the table `{table}` of {} has no column `{missing}`, but {}",
                path.display(),
                there.join(", ")
            );
            return Err(Error::new(codes::SOURCE_UNRECOGNISED, message));
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    let code = match error.sqlite_error_code() {
        Some(NotADatabase) => codes::SOURCE_UNRECOGNISED,
        Some(DatabaseCorrupt) => codes::SOURCE_DAMAGED,
        _ => codes::SOURCE_UNREADABLE,
    };
    Error::new(code, format!("{} cannot be read as SQLite: {error}", path.display()))
}

#[async_trait]
impl Source for OpenMemory {
    async fn next(&mut self) -> Result<Option<Item>> {
        if self.items.is_empty() {
            self.page().map_err(|error| unreadable(&self.path, error))?;
        }
        Ok(self.items.pop_front())
    }

    fn counts(&self) -> Counts {
        self.counts.clone()
    }
}

impl OpenMemory {
    fn page(&mut self) -> rusqlite::Result<()> {
        let mut statement = self.database.prepare(MEMORIES)?;
        let mut rows = statement.query((self.last, PAGE))?;
        while let Some(row) = rows.next()? {
            self.last = row.get(0)?;
            *self.counts.entry("memory").or_default() += 1;
            self.items.push_back(match item(row) {
                Ok(item) => item,
                Err(error) => {
                    let left = Left::new("memory", format!("row {}", self.last), Why::Unreadable);
                    Item::Left(left.detail(error.to_string()))
                }
            });
        }
        Ok(())
    }
}

/// The memory of a row.
fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    let id = uuid(&row.get::<_, String>(1)?);
    let text: String = row.get(2)?;
    let state: Option<String> = row.get(4)?;
    let why = match state.as_deref() {
        Some("paused") => Some(Why::Paused),
        Some("archived") => Some(Why::Archived),
        Some("deleted") => Some(Why::Deleted),
        _ if text.trim().is_empty() => Some(Why::Empty),
        _ => None,
    };
    if let Some(why) = why {
        return Ok(Item::Left(Left::new("memory", id, why)));
    }
    let json = |column| -> rusqlite::Result<Value> {
        let text: Option<String> = row.get(column)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    };
    let text_of = |column| row.get::<_, Option<String>>(column);
    let times = serde_json::json!({"created_at": text_of(5)?, "updated_at": text_of(6)?});
    let time = |name| crate::json::time(&times, name);
    let metadata: Map<String, Value> = json(3)?.as_object().cloned().unwrap_or_default();
    let tags =
        json(9)?.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    let memory = Foreign {
        id,
        text,
        owner: row.get::<_, Option<String>>(7)?.into_iter().collect(),
        robot: row.get(8)?,
        tags,
        metadata,
        at: time("created_at"),
        updated_at: time("updated_at"),
        ..Foreign::default()
    };
    Ok(Item::Memory(Box::new(memory.keeping_times(&times, &["created_at", "updated_at"]))))
}

/// A UUID as people write it. SQLAlchemy stores 32 hexadecimal digits.
fn uuid(stored: &str) -> String {
    match stored.len() == 32 && stored.bytes().all(|it| it.is_ascii_hexdigit()) {
        true => [&stored[..8], &stored[8..12], &stored[12..16], &stored[16..20], &stored[20..]].join("-"),
        false => stored.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{left, memories, read_all};

    /// The tables of openmemory/api/app/models.py in the repository mem0ai/mem0, as SQLAlchemy makes them in SQLite.
    const SCHEMA: &str = include_str!("openmemory/schema.sql");

    fn database(folder: &Path, rows: &str) -> String {
        let path = folder.join("openmemory.db");
        let database = Connection::open(&path).unwrap();
        database.execute_batch(SCHEMA).unwrap();
        database.execute_batch(rows).unwrap();
        path.display().to_string()
    }

    const ROWS: &str = "
        insert into users (id, user_id) values ('0000000000000000000000000000000a', 'mara');
        insert into apps (id, owner_id, name)
            values ('0000000000000000000000000000000b', '0000000000000000000000000000000a', 'cursor');
        insert into categories (id, name) values ('0000000000000000000000000000000c', 'Work Habits');
        insert into memories (id, user_id, app_id, content, metadata, state, created_at, updated_at)
        select printf('%032x', n), '0000000000000000000000000000000a', '0000000000000000000000000000000b',
               case n when 5 then ' ' else 'memory ' || n end, '{\"n\": ' || n || '}',
               case n when 2 then 'paused' when 3 then 'archived' when 4 then 'deleted' else 'active' end,
               '2025-06-01 10:00:00.000000', '2025-06-02 10:00:00.000000'
          from (with recursive t(n) as (select 1 union all select n + 1 from t where n < 1200) select n from t);
        insert into memory_categories values (printf('%032x', 1), '0000000000000000000000000000000c');";

    #[tokio::test]
    async fn active_memories_come_with_user_app_and_categories() {
        let folder = tempfile::tempdir().unwrap();
        database(folder.path(), ROWS);
        let (items, counts) = read_all(&mut open(folder.path().to_str().unwrap()).unwrap()).await;
        assert_eq!(counts.unwrap()["memory"], 1_200);
        let found = memories(&items);
        assert_eq!(found.len(), 1_196);
        let first = found[0];
        assert_eq!(first.id, "00000000-0000-0000-0000-000000000001");
        assert_eq!((&first.owner[..], first.robot.as_deref()), (&["mara".to_owned()][..], Some("cursor")));
        assert_eq!(
            (first.tags.as_slice(), &first.metadata["n"]),
            (&["Work Habits".to_owned()][..], &Value::from(1))
        );
        assert_eq!(first.at, Some("2025-06-01T10:00:00Z".parse().unwrap()));
        let why: Vec<Why> = left(&items).into_iter().map(|it| it.2).collect();
        assert_eq!(why, [Why::Paused, Why::Archived, Why::Deleted, Why::Empty]);
    }

    #[tokio::test]
    async fn a_time_that_cannot_be_read_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let strange = "update memories set created_at = 'gestern' where rowid = 1";
        database(folder.path(), &format!("{ROWS} {strange};"));
        let (items, _) = read_all(&mut open(folder.path().to_str().unwrap()).unwrap()).await;
        let first = memories(&items)[0];
        assert_eq!((first.at, first.unread_times), (None, 1));
        assert_eq!(first.metadata["created_at"], "gestern");
    }

    #[test]
    fn another_database_is_not_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &str| open(path).err().unwrap();
        let missing = refused(folder.path().to_str().unwrap());
        assert_eq!(missing.code(), "source_unreadable");
        assert!(missing.to_string().contains("openmemory.db"), "{missing}");
        let path = folder.path().join("other.db");
        std::fs::write(&path, "not a database, but more than the sixteen bytes of its head").unwrap();
        assert_eq!(refused(path.to_str().unwrap()).code(), "source_unrecognised");
        std::fs::write(&path, "").unwrap();
        assert!(refused(path.to_str().unwrap()).to_string().contains("but no tables"));
        Connection::open(&path).unwrap().execute_batch("create table memories (id, content)").unwrap();
        let error = refused(path.to_str().unwrap());
        assert_eq!(error.code(), "source_unrecognised");
        assert!(error.to_string().contains("has no column `user_id`, but id, content"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(10)))]
        #[test]
        fn a_damaged_database_has_a_code(from in 0usize..40_000, bytes in 1usize..4_000, cut in any::<bool>()) {
            let folder = tempfile::tempdir().unwrap();
            let path = database(folder.path(), ROWS);
            let mut content = std::fs::read(&path).unwrap();
            let from = from % content.len();
            match cut {
                true => content.truncate(from),
                false => content[from..].iter_mut().take(bytes).for_each(|byte| *byte = !*byte),
            }
            std::fs::write(&path, content).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let read = open(&path).and_then(|mut source| runtime.block_on(read_all(&mut source)).1);
            if let Err(error) = read {
                prop_assert!(error.code().starts_with("source_"), "{}", error);
            }
        }
    }
}
