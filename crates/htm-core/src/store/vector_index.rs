//! The indexes of the models' vectors: what recall needs of each kind, their builds and changes.

use std::time::{Duration, Instant};

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};
use strum::VariantArray;

use super::embeddings::{self, MODELS_KEPT, RegisteredModel};
use super::entity::embedding_model;
use super::named::sql;
use super::orm::on;
use super::switches::answered;
use crate::model::error::Result;
use crate::model::models::{ModelState, retired};
use crate::model::vector_index::{VectorIndex, unavailable};

/// The order in which the index of this kind gives the vectors `e.embedding`, as SQL; none if there is no index. It must
/// match the expression that `htm.embedding_index` indexes.
pub(crate) fn order(kind: VectorIndex, dimensions: usize) -> Option<String> {
    match kind {
        VectorIndex::Hnsw | VectorIndex::Vchordrq => Some("e.embedding <=> :vector".into()),
        VectorIndex::HnswBinary => Some(format!(
            "binary_quantize(e.embedding)::bit({dimensions}) <~> binary_quantize(:vector)::bit({dimensions})"
        )),
        VectorIndex::Diskann => {
            Some(format!("(e.embedding::vector({dimensions})) <=> (:vector)::vector({dimensions})"))
        }
        VectorIndex::None => None,
    }
}

/// The number of candidates to read from an index of this kind for each that is wanted. Compressed vectors give a rough
/// order: the nearest are among the first few hundred, and are found by comparing these.
pub(crate) fn candidates_each(kind: VectorIndex) -> usize {
    match kind {
        VectorIndex::HnswBinary | VectorIndex::Diskann => 4,
        VectorIndex::Hnsw | VectorIndex::Vchordrq | VectorIndex::None => 1,
    }
}

/// The settings of a search in an index of this kind, as SQL. Those of HNSW are set with every snapshot. VectorChord's
/// must fit the options of the index, so its own defaults hold.
pub(crate) fn settings(kind: VectorIndex, ef_search: u32) -> Option<String> {
    match kind {
        // pgvectorscale reads the vectors of candidates by their column, which an index on an expression does not have.
        // Recall compares the candidates itself.
        VectorIndex::Diskann => Some(format!(
            "set local diskann.query_rescore = 0; set local diskann.query_search_list_size = {}",
            ef_search.clamp(1, 10_000)
        )),
        _ => None,
    }
}

/// The kinds whose extensions the database has.
///
/// # Errors
/// A database error.
pub(crate) async fn usable(pool: &PgPool) -> Result<Vec<VectorIndex>> {
    let methods: Vec<String> =
        sql!("select amname::text from pg_am where amtype = 'i'").fetch_scalars(pool).await?;
    let has =
        |kind: &&VectorIndex| kind.method().is_none_or(|method| methods.iter().any(|known| known == method));
    Ok(VectorIndex::VARIANTS.iter().filter(has).copied().collect())
}

/// Builds a model's index unless it exists. The remains of an interrupted build are dropped first. Writes and recalls go
/// on meanwhile. Returns whether this call built it.
///
/// # Errors
/// A database error.
pub(crate) async fn build(pool: &PgPool, model: &RegisteredModel) -> Result<bool> {
    let mut connection = patient(pool).await?;
    let result = async {
        // The kind may have been changed while this waited.
        let model = alone(&mut connection, &model.label).await?;
        build_on(&mut connection, &model, model.vector_index).await
    };
    let result = result.await;
    connection.close().await?;
    Ok(result?.is_some())
}

/// Changes the kind of a model's index. The new index is built while recall uses the old one, which is dropped last. A
/// model that is not complete gets its index later. Returns how long the build took; none if nothing was built.
///
/// # Errors
/// `vector_index_unavailable`, `model_unknown`, `model_retired`, before any change; or a database error. Then the old kind is in use, or the new one and
/// the old index is still there: a repeated call goes on.
pub(crate) async fn change(pool: &PgPool, label: &str, kind: VectorIndex) -> Result<Option<Duration>> {
    let usable = usable(pool).await?;
    if !usable.contains(&kind) {
        return Err(unavailable(kind, &usable));
    }
    let mut connection = patient(pool).await?;
    let result = change_on(&mut connection, label, kind).await;
    connection.close().await?;
    result
}

/// The built share of a model's index, 0 to 1; none if no build runs or the share is unknown.
///
/// # Errors
/// A database error.
pub(crate) async fn progress(pool: &PgPool, model: &RegisteredModel) -> Result<Option<f64>> {
    let share: Option<Option<f64>> = sql!(
        "select (p.blocks_done::float8 / nullif(p.blocks_total, 0) + l.built) / l.all
           from pg_stat_progress_create_index p
          cross join (select count(*) as all,
                             count(*) filter (where exists (
                                 select from pg_index i join pg_class c on c.oid = i.indexrelid
                                  where i.indrelid = leaf and i.indisvalid and c.relname like '%\\_' || :kind || '\\_idx')) as built
                        from htm.leaves(to_regclass(:store)) leaf) l
          where p.datname = current_database() and p.relid in (select htm.leaves(to_regclass(:store)))"
    )
    .bind("store", model.store())?
    .bind("kind", model.vector_index.to_string())?
    .fetch_optional_scalar(pool)
    .await?;
    Ok(share.flatten())
}

/// A connection of its own: PostgreSQL builds concurrently outside of transactions only, and it may take hours.
async fn patient(pool: &PgPool) -> Result<PgConnection> {
    let options = pool.connect_options().as_ref().clone().options([("statement_timeout", "0")]);
    let mut connection = PgConnection::connect_with(&options).await?;
    // A build must not go on, and keep others waiting, when its process was stopped. Not every system can tell.
    let check = sqlx::raw_sql("set client_connection_check_interval = '500ms'");
    answered(check.execute(&mut connection)).await.ok();
    Ok(connection)
}

async fn change_on(
    connection: &mut PgConnection,
    label: &str,
    kind: VectorIndex,
) -> Result<Option<Duration>> {
    let model = alone(connection, label).await?;
    if !model.is_in_use() {
        return Err(retired(label));
    }
    let waits =
        model.state == ModelState::Building && !exists(connection, &model, model.vector_index).await?;
    let built = if waits { None } else { build_on(connection, &model, kind).await? };
    embedding_model::Entity::update_many()
        .col_expr(embedding_model::Column::IndexKind, Expr::value(kind))
        .filter(embedding_model::Column::Id.eq(model.id))
        .exec(&on(&mut *connection))
        .await?;
    let mut waited = false;
    for other in VectorIndex::VARIANTS.iter().filter(|other| **other != kind) {
        if !exists(connection, &model, *other).await? {
            continue;
        }
        // Until then other processes search by it.
        if !waited {
            tokio::time::sleep(2 * MODELS_KEPT).await;
            waited = true;
        }
        let sql: String = sql!("select htm.drop_embedding_index(:model, :kind)")
            .bind("model", model.id)?
            .bind("kind", other.to_string())?
            .fetch_scalar(&mut *connection)
            .await?;
        answered(sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *connection)).await?;
    }
    Ok(built)
}

async fn exists(connection: &mut PgConnection, model: &RegisteredModel, kind: VectorIndex) -> Result<bool> {
    let exists: bool = sql!("select to_regclass(:index) is not null")
        .bind("index", model.index_of(kind))?
        .fetch_scalar(connection)
        .await?;
    Ok(exists)
}

/// Waits until nobody else builds or changes the model's index, and reads the model after that. The lock ends with the
/// connection.
async fn alone(connection: &mut PgConnection, label: &str) -> Result<RegisteredModel> {
    let models = embeddings::models_on(&mut *connection).await?;
    let id = embeddings::by_label(&models, label)?.id;
    // Polled: a session that waits for the lock would keep the build from ending, because the build waits for every
    // older snapshot.
    loop {
        let ours: bool = sql!("select pg_try_advisory_lock(hashtext('htm.embedding_index'), :model)")
            .bind("model", id)?
            .fetch_scalar(&mut *connection)
            .await?;
        if ours {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let models = embeddings::models_on(&mut *connection).await?;
    embeddings::by_label(&models, label).cloned()
}

/// Builds an index of this kind unless it exists. Returns how long that took; none if nothing was built.
async fn build_on(
    connection: &mut PgConnection,
    model: &RegisteredModel,
    kind: VectorIndex,
) -> Result<Option<Duration>> {
    let statements: Vec<String> = sql!("select htm.embedding_index(:model, 'concurrently', :kind)")
        .bind("model", model.id)?
        .bind("kind", kind.to_string())?
        .fetch_scalars(&mut *connection)
        .await?;
    if statements.is_empty() {
        return Ok(None);
    }
    if kind == VectorIndex::Diskann {
        // pgvectorscale 0.9 builds an index of 65,536 vectors and more with parallel workers, and fails outside of the
        // first transaction, as `concurrently` is.
        let serial = sqlx::raw_sql("set max_parallel_maintenance_workers = 0");
        answered(serial.execute(&mut *connection)).await?;
    }
    let began = Instant::now();
    for statement in statements {
        answered(sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *connection)).await?;
    }
    Ok(Some(began.elapsed()))
}
