//! The log of the ontology of an export, written with new numbers. Changes that exist already are recognised by their
//! namespace, time and kind: changes of a namespace are made one after the other.

use std::collections::{HashMap, HashSet};

use sqlx::types::Json;

use crate::model::error::{Error, Result};
use crate::model::export::{SavedChange, SavedName};
use crate::store::connections::Connections;
use crate::store::named::sql;
use crate::store::tag_changes;

/// A change of an export and its number here.
pub(crate) struct Written {
    pub(crate) number: i64,
    pub(crate) change: i64,
    pub(crate) is_new: bool,
}

/// Writes changes of a namespace, in their order. `before` has the numbers here of earlier changes of the export.
pub(crate) async fn changes(
    pool: &dyn Connections,
    namespace: &str,
    changes: &[&SavedChange],
    before: &HashMap<i64, i64>,
) -> Result<Vec<Written>> {
    let mut tx = tag_changes::begin(pool, namespace).await?;
    let rows: Vec<(i64, i64, bool)> = sql!(include_str!("../sql/import_changes.sql"))
        .bind("namespace", namespace)?
        .bind("actions", changes.iter().map(|it| it.action.as_ref()).collect::<Vec<&str>>())?
        .bind("details", changes.iter().map(|it| Json(&it.details)).collect::<Vec<_>>())?
        .bind("makers", changes.iter().map(|it| it.made_by.as_deref()).collect::<Vec<_>>())?
        .bind("times", changes.iter().map(|it| it.made_at).collect::<Vec<_>>())?
        .bind("nodes", changes.iter().map(|it| it.nodes).collect::<Vec<_>>())?
        .fetch_all(&mut *tx)
        .await?;
    let mut here: HashMap<usize, (i64, bool)> = HashMap::new();
    for (ord, id, is_new) in rows {
        here.entry(ord as usize - 1).or_insert((id, is_new));
    }
    let written = changes.iter().enumerate().map(|(place, it)| {
        let (change, is_new) = *here.get(&place).ok_or_else(Error::contended)?;
        Ok(Written { number: it.change, change, is_new })
    });
    let written = written.collect::<Result<Vec<_>>>()?;
    let numbers: HashMap<i64, i64> = written.iter().map(|it| (it.number, it.change)).collect();
    let number = |it: i64| numbers.get(&it).or_else(|| before.get(&it)).copied();
    let reverts: (Vec<i64>, Vec<i64>) = changes
        .iter()
        .zip(&written)
        .filter(|(_, written)| written.is_new)
        .filter_map(|(it, written)| Some((written.change, number(it.reverts?)?)))
        .unzip();
    if !reverts.0.is_empty() {
        sql!(
            "with revert as (
                select * from unnest(:reverts::bigint[], :undone::bigint[]) r(change, undone)
             ), undone as (
                update htm.tag_changes c set reverted_by = r.change
                  from revert r where c.id = r.undone and c.namespace = :namespace and c.reverted_by is null
             )
             select count(*) from revert"
        )
        .bind("reverts", &reverts.0)?
        .bind("undone", &reverts.1)?
        .bind("namespace", namespace)?
        .execute(&mut *tx)
        .await?;
        sql!(
            "update htm.tag_changes c set details = jsonb_set(c.details, '{change}', to_jsonb(r.undone))
               from unnest(:reverts::bigint[], :undone::bigint[]) r(change, undone)
              where c.id = r.change"
        )
        .bind("reverts", &reverts.0)?
        .bind("undone", &reverts.1)?
        .execute(&mut *tx)
        .await?;
    }
    tx.commit().await?;
    Ok(written)
}

/// Writes the names of changes, each with the change's number here; returns those that are new.
pub(crate) async fn names(
    pool: &dyn Connections,
    names: &[(i64, &SavedName)],
) -> Result<HashSet<(i64, String)>> {
    let new: Vec<(i64, String)> = sql!(
        "insert into htm.tag_change_names (change_id, namespace, path, before, after, moved_from)
         select c.id, c.namespace, u.path, u.before, u.after, u.moved_from
           from unnest(:changes::bigint[], :namespaces::text[], :paths::text[], :before::jsonb[], :after::jsonb[],
                       :moved_from::text[]) u(change, namespace, path, before, after, moved_from)
           join htm.tag_changes c on c.id = u.change and c.namespace = u.namespace
         on conflict on constraint tag_change_names_pk do nothing
         returning change_id, path"
    )
    .bind("changes", names.iter().map(|(change, _)| *change).collect::<Vec<_>>())?
    .bind("namespaces", names.iter().map(|(_, it)| it.ns.as_str()).collect::<Vec<_>>())?
    .bind("paths", names.iter().map(|(_, it)| it.name.as_str()).collect::<Vec<_>>())?
    .bind("before", names.iter().map(|(_, it)| it.before.as_ref().map(Json)).collect::<Vec<_>>())?
    .bind("after", names.iter().map(|(_, it)| it.after.as_ref().map(Json)).collect::<Vec<_>>())?
    .bind("moved_from", names.iter().map(|(_, it)| it.moved_from.as_ref().map(|it| it.as_str())).collect::<Vec<_>>())?
    .fetch_all(pool)
    .await?;
    Ok(new.into_iter().collect())
}

/// The number of a namespace's tags other than these; none if its log has other changes than these.
pub(crate) async fn other_tags(
    pool: &dyn Connections,
    namespace: &str,
    changes: &[i64],
    paths: &[&str],
) -> Result<Option<i64>> {
    sql!(
        "select count(*) from htm.tags where namespace = :namespace and path <> all (:paths)
         having not exists (select from htm.tag_changes where namespace = :namespace and id <> all (:changes))"
    )
    .bind("namespace", namespace)?
    .bind("changes", changes)?
    .bind("paths", paths)?
    .fetch_optional_scalar(pool)
    .await
}
