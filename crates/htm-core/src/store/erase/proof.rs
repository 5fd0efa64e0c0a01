//! The proof of an erasure: the vacuum of the tables, and the look for traces in every table.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, PgPool};
use unicode_normalization::UnicodeNormalization;

use super::places::{self, Holds, TableOfTraces};
use super::rest;
use crate::model::erase::{Erasure, ErasureKind, MemoryWithText, PlaceFound, Vacuumed, Verification};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::store::connections::Connections;
use crate::store::named::{Named, sql};
use crate::store::switches::answered;

/// The longest wait for older transactions before a vacuum, which frees nothing that one of them may still read.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most rows of memories with a text that a proof names.
const NAMED: usize = 20;

/// The table of the planner's samples of values.
const SAMPLES: &str = "pg_catalog.pg_statistic";

/// Vacuums the tables from which an erasure removed rows, as far as the role may.
pub(crate) async fn vacuum(pool: &PgPool, erasure: &Erasure) -> Result<()> {
    let options = pool.connect_options().as_ref().clone().options([("statement_timeout", "0")]);
    let mut connection = options.connect().await?;
    let vacuumed = vacuum_on(&mut connection, erasure).await?;
    sql!("update htm.erasures set vacuum = :vacuum where id = :erasure")
        .bind("vacuum", Json(vacuumed))?
        .bind("erasure", erasure.id)?
        .execute(&mut connection)
        .await?;
    Ok(connection.close().await?)
}

async fn vacuum_on(connection: &mut PgConnection, erasure: &Erasure) -> Result<Vacuumed> {
    let started = Instant::now();
    let older = loop {
        let older: Option<i64> = sql!(include_str!("../sql/erase_older.sql"))
            .bind("erasure", erasure.id)?
            .fetch_scalar(&mut *connection)
            .await?;
        if older.is_none_or(|older| older == 0) || started.elapsed() > PATIENCE {
            break older;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let mut vacuumed =
        Vacuumed { at: Utc::now(), tables: Vec::new(), not_permitted: Vec::new(), older_transactions: older };
    // Words are removed by counting them anew.
    let is_touched = |place: &TableOfTraces| {
        erasure.removed.contains_key(&*place.table) || matches!(place.holds, Holds::Words)
    };
    let places = places::all(&mut *connection).await?;
    let touched = places.into_iter().filter(is_touched).map(|place| place.table);
    // Last, as each table before has new samples.
    for table in touched.chain([SAMPLES.into()]) {
        let may: bool = sql!(
            "select pg_has_role(c.relowner, 'USAGE') or pg_has_role(d.datdba, 'USAGE')
               from pg_class c, pg_database d
              where c.oid = :table::text::regclass and d.datname = current_database()"
        )
        .bind("table", &*table)?
        .fetch_scalar(&mut *connection)
        .await?;
        if may {
            // With the indexes, however few rows were removed: a vector's index has the vector itself. With new
            // statistics of the planner: they have samples of texts.
            let statement = format!("vacuum (analyze, index_cleanup on) {table}");
            answered(sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *connection)).await?;
            if table != SAMPLES {
                let parts: Vec<String> = sql!(
                    "select format('%I.%I', n.nspname, c.relname)
                       from pg_class c join pg_namespace n on n.oid = c.relnamespace
                      where c.oid = :table::text::regclass
                         or c.oid in (select inhrelid from pg_inherits where inhparent = :table::text::regclass)"
                )
                .bind("table", &*table)?
                .fetch_scalars(&mut *connection)
                .await?;
                for part in parts {
                    clear_samples(connection, &part).await?;
                }
            }
            vacuumed.tables.push(table.into_owned());
        } else {
            vacuumed.not_permitted.push(table.into_owned());
        }
    }
    vacuumed.at = sql!("select clock_timestamp()").fetch_scalar(connection).await?;
    Ok(vacuumed)
}

/// Deletes the planner's samples of an empty table, which an analyze leaves as they are. PostgreSQL can do so since 18.
async fn clear_samples(connection: &mut PgConnection, table: &str) -> Result<()> {
    let can: bool = sql!("select to_regproc('pg_catalog.pg_clear_attribute_stats') is not null")
        .fetch_scalar(&mut *connection)
        .await?;
    let is_empty = format!("select not exists (select from {table})");
    if can && Named::new(&is_empty).fetch_scalar(&mut *connection).await? {
        sql!(include_str!("../sql/erase_samples.sql")).bind("table", table)?.execute(connection).await?;
    }
    Ok(())
}

/// Looks for traces of an erasure in every table, and for a text, if given.
pub(crate) async fn verify(pool: &PgPool, erasure: Erasure, text: Option<&str>) -> Result<Verification> {
    let answers = rest::answers(pool, erasure.id, whole(&erasure)).await?.len() as u64;
    // A vacuum may be running: its times are read anew by each statement.
    let begin = "begin; set local statement_timeout = 0; set local stats_fetch_consistency = none";
    let mut tx = Connections::begin_with(pool, begin).await?;
    let known: Vec<TableOfTraces> = places::all(&mut tx).await?;
    let vacuumed = vacuumed_at(&mut tx, erasure.id).await?;
    let forms = text.map(forms).unwrap_or_default();
    let (mut found, mut with_text) = (Vec::new(), Vec::new());
    for place in &known {
        let (mut traces, table) = (of_nodes(&mut tx, erasure.id, place).await?, place.table.to_string());
        match place.holds {
            Holds::Answers => traces = answers,
            Holds::Words | Holds::Tags => {
                for namespace in &erasure.namespaces {
                    // Those of a later namespace of the same name are told by their age.
                    if whole(&erasure).is_none() || !has_nodes(&mut tx, namespace).await? {
                        traces += of_texts(&mut tx, erasure.id, namespace, place.holds).await?;
                    }
                }
            }
            _ => {}
        }
        if let (Some(namespace), Some(condition)) = (whole(&erasure), place.of_namespace) {
            // Later rows belong to a new namespace of the same name. They are younger than the last removal.
            let rows = format!(
                "select count(*) from {table}
                  where {condition} and age(xmin) >= (select age(changed_by::xid) from htm.erasures where id = :erasure)"
            );
            let rows: i64 = Named::new(&rows)
                .bind("namespace", namespace)?
                .bind("erasure", erasure.id)?
                .fetch_scalar(&mut *tx)
                .await?;
            traces = traces.max(rows as u64);
        }
        let mentions = match text {
            None => None,
            Some(_) => Some(mentions(&mut tx, &table, &forms).await?),
        };
        if let (Some(1..), Holds::Nodes(columns)) = (mentions, place.holds) {
            let room = NAMED - with_text.len();
            with_text.extend(memories(&mut tx, &table, columns[0], &forms, room).await?);
        }
        let holds = place.holds.describe().to_owned();
        let vacuumed_at = vacuumed.get(&table).copied();
        found.push(PlaceFound { table, holds, traces, mentions, vacuumed_at });
    }
    let (sampled, unseen) = samples(&mut tx, erasure.id, text.is_some().then_some(&forms[..])).await?;
    found.push(sampled);
    let names: BTreeSet<&str> = known.iter().map(|place| &*place.table).collect();
    let is_empty = |place: &PlaceFound| place.traces == 0 && place.mentions.unwrap_or(0) == 0;
    let mut is_clean = unseen == 0 && found.iter().all(is_empty);
    for table in places::existing(&mut tx).await?.into_iter().filter(|it| !names.contains(it.as_str())) {
        // A table of a later version or of another program: its contents are unknown.
        is_clean = false;
        let holds = "unknown to this program".to_owned();
        found.push(PlaceFound { table, holds, traces: 0, mentions: None, vacuumed_at: None });
    }
    let (redo_position, is_behind_checkpoint): (String, bool) = sql!(
        "select c.redo_lsn::text, coalesce(c.redo_lsn > e.wal_position, false)
           from pg_control_checkpoint() c, htm.erasures e where e.id = :erasure"
    )
    .bind("erasure", erasure.id)?
    .fetch_one(&mut *tx)
    .await?;
    tx.commit().await?;
    is_clean &= erasure.ended_at.is_some();
    Ok(Verification { erasure, is_clean, places: found, with_text, redo_position, is_behind_checkpoint })
}

/// The namespace of an erasure of a whole one.
pub(crate) fn whole(erasure: &Erasure) -> Option<&str> {
    match erasure.kind {
        ErasureKind::Namespace => erasure.namespaces.first().map(String::as_str),
        _ => None,
    }
}

/// The number of rows about the nodes of an erasure.
async fn of_nodes(connection: &mut PgConnection, erasure: i64, place: &TableOfTraces) -> Result<u64> {
    let erased = "in (select unnest(e.nodes) from htm.erased_nodes e
                       where e.erasure_id = :erasure and e.erased_at is not null)";
    let condition = match place.holds {
        Holds::Nodes(columns) => places::of_nodes(columns, erased),
        Holds::Recalls => "exists (select from htm.erased_nodes e
             where e.erasure_id = :erasure and e.erased_at is not null and t.candidates && e.nodes)"
            .into(),
        Holds::Jobs => {
            format!("case when job_type like 'htm.%' then (metadata -> 'node')::bigint end {erased}")
        }
        _ => return Ok(0),
    };
    let rows = format!("select count(*) from {} t where {condition}", place.table);
    let rows: i64 = Named::new(&rows).bind("erasure", erasure)?.fetch_scalar(connection).await?;
    Ok(rows as u64)
}

async fn has_nodes(connection: &mut PgConnection, namespace: &str) -> Result<bool> {
    sql!("select exists (select from htm.nodes where namespace = :namespace)")
        .bind("namespace", namespace)?
        .fetch_scalar(connection)
        .await
}

/// The number of words or tags of a namespace that no node has.
async fn of_texts(connection: &mut PgConnection, erasure: i64, namespace: &str, holds: Holds) -> Result<u64> {
    let rows: i64 = match holds {
        Holds::Words => {
            sql!(include_str!("../sql/erase_words.sql"))
                .bind("namespace", namespace)?
                .fetch_scalar(connection)
                .await?
        }
        _ => {
            sql!(include_str!("../sql/erase_tags.sql"))
                .bind("erasure", erasure)?
                .bind("namespace", namespace)?
                .bind("deleting", false)?
                .fetch_scalar(connection)
                .await?
        }
    };
    Ok(rows as u64)
}

/// The tables that were vacuumed since the last removal, and when.
async fn vacuumed_at(connection: &mut PgConnection, erasure: i64) -> Result<BTreeMap<String, DateTime<Utc>>> {
    let rows: Vec<(String, DateTime<Utc>)> = sql!(
        "select s.schemaname || '.' || coalesce(parent.relname, s.relname), min(greatest(s.last_vacuum, s.last_autovacuum))
           from htm.erasures e
          cross join pg_stat_all_tables s
           left join pg_inherits i on i.inhrelid = s.relid
           left join pg_class parent on parent.oid = i.inhparent
          where e.id = :erasure and s.schemaname in ('htm', 'apalis')
            and not exists (select from pg_inherits p where p.inhparent = s.relid)
          group by 1
         having bool_and(coalesce(greatest(s.last_vacuum, s.last_autovacuum) > e.changed_at, false))"
    )
    .bind("erasure", erasure)?
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().collect())
}

/// The planner's samples of tables from which an erasure removed rows. Traces are tables that were not analyzed since. And
/// the number of tables whose samples nobody could look at.
async fn samples(
    connection: &mut PgConnection,
    erasure: i64,
    forms: Option<&[String]>,
) -> Result<(PlaceFound, i64)> {
    let (traces, mentions, unseen): (i64, i64, i64) =
        sql!("select traces, mentions, unseen from htm.count_samples(:erasure, :forms)")
            .bind("erasure", erasure)?
            .bind("forms", forms.unwrap_or_default())?
            .fetch_one(connection)
            .await?;
    let mut holds = "samples of values, for the planner".to_owned();
    if unseen > 0 {
        holds += &format!("; the owner of the schema does not see those of {unseen} tables");
    }
    let found = PlaceFound {
        table: SAMPLES.to_owned(),
        holds,
        traces: traces as u64,
        mentions: forms.map(|_| mentions as u64),
        vacuumed_at: None,
    };
    Ok((found, unseen))
}

/// A text as it may stand in a row that is written as JSON: as text, within JSON, within JSON that is a text, and as bytes;
/// with either apostrophe, and with its accents in or after the letters.
fn forms(text: &str) -> Vec<String> {
    // `htm.caseless` has `i` for `İ`, of which Rust makes two characters.
    let lower = text.to_lowercase().replace("i\u{307}", "i");
    // As written too: so are bytes, and letters beyond ASCII in a database whose locale is C.
    let written = [text, &lower]
        .into_iter()
        .flat_map(|text| [text.to_owned(), text.replace('\'', "’"), text.replace('’', "'")]);
    let mut texts: Vec<String> =
        written.flat_map(|text| [text.clone(), text.nfc().collect(), text.nfd().collect()]).collect();
    texts.sort();
    texts.dedup();
    let escaped = |text: &str| {
        let json = serde_json::Value::from(text).to_string();
        json[1..json.len() - 1].to_owned()
    };
    let in_a_row = |text: String| {
        let once = escaped(&text);
        let twice = escaped(&once);
        [once, twice, hex::encode(&text)]
    };
    texts.into_iter().flat_map(in_a_row).collect()
}

/// The condition that a text of SQL contains one of the forms of a text. The forms are written in lower case once, not for
/// each row.
fn contains_any(sql: &str) -> String {
    format!(
        "exists (select from (select htm.caseless({sql}) as text offset 0) written
                  cross join unnest(array(select distinct htm.caseless(form) from unnest(:forms::text[]) form)) f(form)
                  where f.form <> '' and strpos(written.text, f.form) > 0)"
    )
}

/// The values of a row `t`, as a text of SQL: a text may be the name of a column, or `null`.
const VALUES: &str =
    "(select string_agg(c.value::text, ' ') from jsonb_each(to_jsonb(t)) c where c.value <> 'null')";

/// The first memories with rows of a table that contain one of the forms of a text, by the column with the memory's number.
async fn memories(
    connection: &mut PgConnection,
    table: &str,
    node: &str,
    forms: &[String],
    limit: usize,
) -> Result<Vec<MemoryWithText>> {
    // Words for the full text are made of other columns.
    let rows = format!(
        "select distinct t.{node}, array(select c.key from jsonb_each(to_jsonb(t) - 'tsv') c where {} order by 1)
           from {table} t where {} order by 1, 2 limit :limit",
        contains_any("c.value::text"),
        contains_any(VALUES)
    );
    let rows: Vec<(i64, Vec<String>)> =
        Named::new(&rows).bind("forms", forms)?.bind("limit", limit as i64)?.fetch_all(connection).await?;
    let named = |(node, columns)| MemoryWithText { node: NodeId(node), table: table.to_owned(), columns };
    Ok(rows.into_iter().map(named).collect())
}

/// The number of rows of a table that contain one of the forms of a text. Vectors contain none.
async fn mentions(connection: &mut PgConnection, table: &str, forms: &[String]) -> Result<u64> {
    if table.starts_with("htm.embeddings_") {
        return Ok(0);
    }
    let rows = format!("select count(*) from {table} t where {}", contains_any(VALUES));
    let rows: i64 = Named::new(&rows).bind("forms", forms)?.fetch_scalar(connection).await?;
    Ok(rows as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_looked_for_as_it_may_stand() {
        let found = forms("Say \"Hi\"\n");
        let as_written = [r#"Say \"Hi\"\n"#, r#"Say \\\"Hi\\\"\\n"#, "53617920224869220a"];
        let in_lower_case = [r#"say \"hi\"\n"#, r#"say \\\"hi\\\"\\n"#, "73617920226869220a"];
        assert_eq!(found[..3], as_written);
        assert_eq!(found[3..], in_lower_case);
        let forms = forms("Café’s");
        for form in ["Café’s", "café’s", "café's", "cafe\u{301}’s", "cafe\u{301}'s"] {
            assert!(forms.contains(&form.to_owned()), "{form}");
        }
    }
}
