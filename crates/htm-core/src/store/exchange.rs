//! The ontology of a namespace as a whole: read out, and laid over.

use std::collections::HashMap;

use sqlx::{PgConnection, PgPool};

use super::nodes::read_tag;
use crate::error::Result;
use crate::exchange::{Descriptions, Imported, Name, Ontology, OntologyTag, Origin, Plan};
use crate::tag::TagPath;

/// All tags of a namespace in the order of a tree, with their other names.
pub(crate) async fn tags(pool: &PgPool, namespace: &str) -> Result<Vec<OntologyTag>> {
    let rows: Vec<(String, Option<String>, Vec<String>)> = sqlx::query_as(
        "select t.path, t.description,
                array(select s.path from htm.tag_synonyms s where s.tag_id = t.id order by s.path)
           from htm.tags t
          where t.namespace = $1
          order by string_to_array(t.path, ':')",
    )
    .bind(namespace)
    .fetch_all(pool)
    .await?;
    let tag = |(tag, description, synonyms): (String, Option<String>, Vec<String>)| {
        let synonyms = synonyms.into_iter().map(read_tag).collect::<Result<_>>()?;
        Ok(OntologyTag { tag: read_tag(tag)?, description, synonyms })
    };
    rows.into_iter().map(tag).collect()
}

/// Lays an ontology over that of a namespace, or, without an origin to log, only says what it would change.
pub(crate) async fn import(
    pool: &PgPool,
    namespace: &str,
    ontology: &Ontology,
    descriptions: Descriptions,
    origin: Option<&Origin>,
) -> Result<Imported> {
    let mut transaction = pool.begin().await?;
    // Until the end no name of the namespace changes, and none is registered.
    sqlx::query("select pg_advisory_xact_lock(htm.tag_names_lock($1))")
        .bind(namespace)
        .execute(&mut *transaction)
        .await?;
    let called = called(&mut transaction, namespace, ontology).await?;
    let present = present(&mut transaction, namespace, ontology, &called).await?;
    let (plan, mut imported) = Plan::of(ontology, namespace, descriptions, &called, &present)?;
    if let Some(origin) = origin.filter(|_| !plan.names.is_empty()) {
        apply(&mut transaction, namespace, &plan).await?;
        imported.change = Some(log(&mut transaction, namespace, &plan, origin).await?);
        transaction.commit().await?;
    }
    Ok(imported)
}

/// What the document's tags are called in the namespace.
async fn called(
    connection: &mut PgConnection,
    namespace: &str,
    ontology: &Ontology,
) -> Result<HashMap<TagPath, TagPath>> {
    let rows: Vec<(String, String)> =
        sqlx::query_as("select p, htm.canonical_tag($1, p) from unnest($2::text[]) p")
            .bind(namespace)
            .bind(ontology.tags.iter().map(|it| it.tag.as_str()).collect::<Vec<_>>())
            .fetch_all(connection)
            .await?;
    rows.into_iter().map(|(path, tag)| Ok((read_tag(path)?, read_tag(tag)?))).collect()
}

/// What the tags, those above them, and the other names are in the namespace.
async fn present(
    connection: &mut PgConnection,
    namespace: &str,
    ontology: &Ontology,
    called: &HashMap<TagPath, TagPath>,
) -> Result<HashMap<TagPath, Name>> {
    let synonyms = ontology.tags.iter().flat_map(|it| &it.synonyms);
    let rows: Vec<(String, Option<String>, Option<String>)> = sqlx::query_as(
        "with name as (
             select htm.tag_lineage(p) as path from unnest($2::text[]) p
             union select unnest($3::text[])
         )
         select t.path, t.description, null
           from name join htm.tags t on t.namespace = $1 and t.path = name.path
          union all
         select s.path, null, t.path
           from name join htm.tag_synonyms s on s.namespace = $1 and s.path = name.path
           join htm.tags t on t.id = s.tag_id",
    )
    .bind(namespace)
    .bind(called.values().map(TagPath::as_str).collect::<Vec<_>>())
    .bind(synonyms.map(TagPath::as_str).collect::<Vec<_>>())
    .fetch_all(connection)
    .await?;
    let name = |(path, description, means): (String, Option<String>, Option<String>)| {
        let is = match means {
            Some(tag) => Name::Synonym(read_tag(tag)?),
            None => Name::Tag(description),
        };
        Ok((read_tag(path)?, is))
    };
    rows.into_iter().map(name).collect()
}

async fn apply(connection: &mut PgConnection, namespace: &str, plan: &Plan) -> Result<()> {
    let (mut tags, mut descriptions, mut synonyms, mut meant) = (vec![], vec![], vec![], vec![]);
    for (path, (_, after)) in &plan.names {
        match after {
            Name::Tag(description) => {
                tags.push(path.as_str());
                descriptions.push(description.as_deref());
            }
            Name::Synonym(tag) => {
                synonyms.push(path.as_str());
                meant.push(tag.as_str());
            }
        }
    }
    sqlx::query(
        "insert into htm.tags (namespace, path, description)
         select $1, * from unnest($2::text[], $3::text[])
         on conflict on constraint tags_namespace_path_key do update set description = excluded.description",
    )
    .bind(namespace)
    .bind(tags)
    .bind(descriptions)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "insert into htm.tag_synonyms (namespace, path, tag_id)
         select $1, s.path, t.id
           from unnest($2::text[], $3::text[]) as s(path, tag)
           join htm.tags t on t.namespace = $1 and t.path = s.tag",
    )
    .bind(namespace)
    .bind(synonyms)
    .bind(meant)
    .execute(connection)
    .await?;
    Ok(())
}

async fn log(connection: &mut PgConnection, namespace: &str, plan: &Plan, origin: &Origin) -> Result<i64> {
    let (kind, details) = match origin {
        Origin::Document(file) => ("import", serde_json::json!({ "file": file })),
        Origin::Template(name) => ("apply-template", serde_json::json!({ "template": name })),
    };
    let change: i64 = sqlx::query_scalar(
        "insert into htm.tag_changes (namespace, kind, details) values ($1, $2, $3) returning id",
    )
    .bind(namespace)
    .bind(kind)
    .bind(details)
    .fetch_one(&mut *connection)
    .await?;
    let before = plan.names.values().map(|(before, _)| before.as_ref().map(Name::logged));
    sqlx::query(
        "insert into htm.tag_change_names (change_id, path, before, after)
         select $1, * from unnest($2::text[], $3::jsonb[], $4::jsonb[])",
    )
    .bind(change)
    .bind(plan.names.keys().map(TagPath::as_str).collect::<Vec<_>>())
    .bind(before.collect::<Vec<_>>())
    .bind(plan.names.values().map(|(_, after)| after.logged()).collect::<Vec<_>>())
    .execute(connection)
    .await?;
    Ok(change)
}
