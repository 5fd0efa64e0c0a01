//! The settings of learning, and the learnt rankings.

use std::sync::Arc;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::connections::{Connections, Db};
use super::entity::{learning, ranking, ranking_choice};
use super::kept_recalls;
use super::named::sql;
use super::orm::on;
use crate::model::error::{Error, Result};
use crate::model::learning::{LearningSettings, Signal};
use crate::model::rank::Learnt;
use crate::model::rankings::{RankingChoice, RankingComparison, RankingInfo, RankingUsed, Trial, TrialKind};

/// The settings of learning that a recall in the namespace needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveRanking {
    /// Whether recalls are kept.
    pub(crate) keeps: bool,
    pub(crate) keeps_text: bool,
    pub(crate) signals: Vec<Signal>,
    pub(crate) used: RankingUsed,
    /// None: the default ranking.
    pub(crate) learnt: Option<Arc<Learnt>>,
    /// The ranking that is tried; none of it: the default ranking.
    pub(crate) trial: Option<(Trial, Option<Arc<Learnt>>)>,
}

#[derive(sqlx::FromRow)]
struct Row {
    is_on: bool,
    keeps_text: bool,
    signals: Vec<String>,
    version: i32,
    trial: Option<i32>,
    trial_kind: Option<TrialKind>,
    learnt: Option<Json<serde_json::Value>>,
    tried: Option<Json<serde_json::Value>>,
}

/// Whether any namespace has settings of learning.
pub(crate) async fn is_used(pool: &dyn Connections) -> Result<bool> {
    Ok(learning::Entity::find().one(&on(pool)).await?.is_some())
}

/// The ranking of a namespace's hits, and what is kept of its recalls.
pub(crate) async fn active(pool: &dyn Connections, namespace: &str) -> Result<ActiveRanking> {
    let found: Option<Row> = sql!(include_str!("sql/active_ranking.sql"))
        .bind("namespace", namespace)?
        .fetch_optional(pool)
        .await?;
    let Some(row) = found else { return Ok(ActiveRanking::default()) };
    let (mut used, mut learnt) = (RankingUsed::default(), None);
    if row.version != 0 {
        match usable(row.learnt) {
            Ok(ranking) => (used.version, learnt) = (row.version, Some(Arc::new(ranking))),
            Err(why) => used.fallback = Some(format!("version {} is not used: {why}", row.version)),
        }
    }
    let trial = trial(row.trial, row.trial_kind).and_then(|trial| {
        let ranking = match trial.version {
            0 => None,
            _ => Some(Arc::new(usable(row.tried).ok()?)),
        };
        Some((trial, ranking))
    });
    Ok(ActiveRanking {
        keeps: row.is_on,
        keeps_text: row.keeps_text,
        signals: signals(&row.signals),
        used,
        learnt,
        trial: trial.filter(|_| row.is_on),
    })
}

/// The ranking, or the reason why this program cannot use it.
fn usable(stored: Option<Json<serde_json::Value>>) -> Result<Learnt, String> {
    let Some(Json(stored)) = stored else { return Err("it is missing".into()) };
    let learnt: Learnt =
        serde_json::from_value(stored).map_err(|error| format!("it cannot be read: {error}"))?;
    match learnt.unusable() {
        Some(why) => Err(why),
        None => Ok(learnt),
    }
}

fn signals(names: &[String]) -> Vec<Signal> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// A namespace's settings, with the place of its ranking.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) settings: LearningSettings,
    /// The namespace whose ranking it shares.
    pub(crate) home: String,
    pub(crate) version: i32,
    pub(crate) trial: Option<Trial>,
    /// The number of judged recalls so far, and when a ranking was last asked for.
    pub(crate) judged: i64,
    pub(crate) asked_at: i64,
    pub(crate) least: i32,
}

/// The settings of a namespace; none: learning was never on.
pub(crate) async fn setting(pool: &dyn Connections, namespace: &str) -> Result<Option<Setting>> {
    #[derive(sqlx::FromRow)]
    struct Row {
        learns_with: String,
        is_on: bool,
        keeps_text: bool,
        keep_days: i32,
        own_least: i32,
        signals: Vec<String>,
        version: i32,
        trial: Option<i32>,
        trial_kind: Option<TrialKind>,
        judged: i64,
        asked_at: i64,
        least: i32,
    }
    let found: Option<Row> = sql!(
        "select l.learns_with, l.is_on, l.keeps_text, l.keep_days, l.least as own_least, l.signals,
                home.version, home.trial, home.trial_kind, home.judged, home.asked_at, home.least
           from htm.learning l join htm.learning home on home.namespace = l.learns_with
          where l.namespace = :namespace"
    )
    .bind("namespace", namespace)?
    .fetch_optional(pool)
    .await?;
    Ok(found.map(|row| Setting {
        settings: LearningSettings {
            is_on: row.is_on,
            learns_with: Some(row.learns_with.clone()).filter(|home| home != namespace),
            keeps_text: row.keeps_text,
            keep_days: row.keep_days,
            least: row.own_least,
            signals: signals(&row.signals),
        },
        home: row.learns_with,
        version: row.version,
        trial: trial(row.trial, row.trial_kind),
        judged: row.judged,
        asked_at: row.asked_at,
        least: row.least,
    }))
}

/// A kind that a newer program has set is not tried.
fn trial(version: Option<i32>, kind: Option<TrialKind>) -> Option<Trial> {
    Some(Trial { version: version?, kind: kind? })
}

/// Keeps other transactions from changing which namespaces learn together, until the end of this one.
pub(crate) async fn hold_in_tx(connection: &mut PgConnection) -> Result<()> {
    sql!("select pg_advisory_xact_lock(hashtext('htm.learning'))").execute(connection).await.map(drop)
}

/// The namespace whose ranking `namespace` uses. None if `namespace` has no settings.
pub(crate) async fn home_in_tx(connection: &mut PgConnection, namespace: &str) -> Result<Option<String>> {
    let settings = learning::Entity::find_by_id(namespace).one(&on(connection)).await?;
    Ok(settings.map(|settings| settings.learns_with))
}

/// The namespaces that learn with `home`.
pub(crate) async fn learners(db: impl Into<Db<'_>>, home: &str) -> Result<Vec<String>> {
    let learners =
        learning::Entity::find().filter(learning::Column::LearnsWith.eq(home)).all(&on(db)).await?;
    Ok(learners.into_iter().map(|it| it.namespace).collect())
}

/// Sets what a namespace keeps. `home` has a row of its own, which stays off if it is new. What learnt with the namespace
/// learns with `home` from now on.
pub(crate) async fn set_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    home: &str,
    settings: &LearningSettings,
) -> Result<()> {
    let signals: Vec<&str> = settings.signals.iter().map(|signal| <&str>::from(*signal)).collect();
    sql!(
        "with home as (
             insert into htm.learning (namespace, learns_with, is_on) select :home, :home, false where :home <> :namespace
             on conflict (namespace) do nothing
         )
         insert into htm.learning (namespace, learns_with, is_on, keeps_text, keep_days, least, signals)
         values (:namespace, :home, :is_on, :keeps_text, :keep_days, :least, :signals)
         on conflict (namespace) do update
            set learns_with = excluded.learns_with, is_on = excluded.is_on, keeps_text = excluded.keeps_text,
                keep_days = excluded.keep_days, least = excluded.least, signals = excluded.signals"
    )
    .bind("namespace", namespace)?
    .bind("home", home)?
    .bind("is_on", settings.is_on)?
    .bind("keeps_text", settings.keeps_text)?
    .bind("keep_days", settings.keep_days)?
    .bind("least", settings.least)?
    .bind("signals", signals)?
    .execute(&mut *connection)
    .await?;
    lead_in_tx(connection, namespace, home).await
}

/// Counts the judged recalls that joining namespaces have brought. Outside of the transaction that joins them, because
/// others wait for that one, and a million recalls may be read.
pub(crate) async fn count_judged(pool: &dyn Connections, home: &str) -> Result<()> {
    sql!(
        "update htm.learning
            set judged = greatest(judged, (select count(*) from htm.recalls r
                                             join htm.learning l on l.namespace = r.namespace
                                            where l.learns_with = :home and l.is_on and r.judged))
          where namespace = :home"
    )
    .bind("home", home)?
    .execute(pool)
    .await
    .map(drop)
}

/// Lets the namespaces that learn with one learn with its `home`, as far as the connection sees them.
pub(super) async fn lead_in_tx(connection: &mut PgConnection, namespace: &str, home: &str) -> Result<()> {
    if home == namespace {
        return Ok(());
    }
    learning::Entity::update_many()
        .set(learning::ActiveModel { learns_with: Set(home.to_owned()), ..Default::default() })
        .filter(learning::Column::LearnsWith.eq(namespace))
        .exec(&on(connection))
        .await?;
    Ok(())
}

/// Applies the settings of a namespace to the recalls that are kept: their time, and whether they have texts.
pub(crate) async fn apply_in_tx(connection: &mut PgConnection, namespace: &str) -> Result<()> {
    kept_recalls::wait_for_keepers_in_tx(&mut *connection).await?;
    sql!(
        "update htm.recalls r
            set query = case when l.keeps_text then r.query end,
                keep_until = case when r.judged then r.made_at + l.keep_days * interval '1 day' else r.keep_until end
           from htm.learning l
          where l.namespace = :namespace and r.namespace = :namespace
            and (r.judged or r.query is not null and not l.keeps_text)"
    )
    .bind("namespace", namespace)?
    .execute(connection)
    .await
    .map(drop)
}

/// Lets the namespaces that learn with another one learn by themselves: it is about to be erased.
pub(crate) async fn part_in_tx(connection: &mut PgConnection, home: &str) -> Result<()> {
    hold_in_tx(&mut *connection).await?;
    let default = learning::ActiveModel {
        version: Set(0),
        trial: Set(None),
        trial_kind: Set(None),
        ..Default::default()
    };
    learning::Entity::update_many()
        .set(default)
        .col_expr(learning::Column::LearnsWith, Expr::col(learning::Column::Namespace))
        .filter(learning::Column::LearnsWith.eq(home))
        .filter(learning::Column::Namespace.ne(home))
        .exec(&on(connection))
        .await?;
    Ok(())
}

/// The numbers of kept recalls: of the namespace, and those with a used memory of all that learn with `home`.
pub(crate) async fn kept(pool: &dyn Connections, namespace: &str, home: &str) -> Result<(i64, i64)> {
    sql!(
        "select (select count(*) from htm.recalls where namespace = :namespace),
                (select count(*) from htm.recalls r join htm.learning l on l.namespace = r.namespace
                  where l.learns_with = :home and l.is_on and r.judged)"
    )
    .bind("namespace", namespace)?
    .bind("home", home)?
    .fetch_one(pool)
    .await
}

/// The rankings of a namespace, the newest first, or the one of a version.
pub(crate) async fn list(
    pool: &dyn Connections,
    namespace: &str,
    active: i32,
    version: Option<i32>,
) -> Result<Vec<RankingInfo>> {
    let of_version = version.map(|version| ranking::Column::Version.eq(version));
    let rows = ranking::Entity::find()
        .filter(ranking::Column::Namespace.eq(namespace))
        .filter(Condition::all().add_option(of_version))
        .order_by_desc(ranking::Column::Version)
        .all(&on(pool))
        .await?;
    let info = |row: ranking::Model| {
        let unreadable =
            |error| Error::corrupt(format!("the figures of ranking {} of {namespace}: {error}", row.version));
        let learnt = usable(Some(Json(row.learnt)));
        Ok(RankingInfo {
            namespace: row.namespace,
            version: row.version,
            is_active: row.version == active,
            was_adopted: row.adopted,
            reason: row.reason,
            made_at: row.made_at,
            figures: serde_json::from_value(row.figures).map_err(unreadable)?,
            trees: learnt.as_ref().map_or(0, |learnt| learnt.trees.len()),
            weights: learnt.as_ref().map(Learnt::described).unwrap_or_default(),
            unusable: learnt.err(),
        })
    };
    rows.into_iter().map(info).collect()
}

/// The last 20 changes of the active version, the newest first.
pub(crate) async fn choices(pool: &dyn Connections, namespace: &str) -> Result<Vec<RankingChoice>> {
    let rows = ranking_choice::Entity::find()
        .filter(ranking_choice::Column::Namespace.eq(namespace))
        .order_by_desc(ranking_choice::Column::Id)
        .limit(20)
        .all(&on(pool))
        .await?;
    let choice = |row: ranking_choice::Model| RankingChoice {
        version: row.version,
        former: row.former,
        chosen_at: row.chosen_at,
        chosen_by: row.chosen_by,
        reason: row.reason,
    };
    Ok(rows.into_iter().map(choice).collect())
}

/// The reason of a choice that takes an earlier one back.
pub(crate) const REVERTED: &str = "reverted";

/// The version before the last choice that was not taken back; none: every choice was, or there is none.
pub(crate) async fn former(pool: &dyn Connections, namespace: &str) -> Result<Option<i32>> {
    // Backwards, each reverting choice takes back one more of the others.
    sql!(
        "select former
           from (select id, former, sum(case when reason = :reverted then 1 else -1 end) over (order by id desc) as open
                   from htm.ranking_choices where namespace = :namespace) choice
          where open < 0 order by id desc limit 1"
    )
    .bind("namespace", namespace)?
    .bind("reverted", REVERTED)?
    .fetch_optional_scalar(pool)
    .await
}

/// Chooses the version that orders a namespace's hits, and ends a trial of it. Returns the version before; none if the
/// namespace has no settings.
pub(crate) async fn choose_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    version: i32,
    chosen_by: &str,
    reason: &str,
) -> Result<Option<i32>> {
    let settings =
        learning::Entity::find_by_id(namespace).lock_exclusive().one(&on(&mut *connection)).await?;
    let former = settings.map(|settings| settings.version);
    let Some(former) = former.filter(|former| *former != version) else { return Ok(former) };
    sql!(
        "with chosen as (
             update htm.learning set version = :version,
                    trial = case when trial = :version then null else trial end,
                    trial_kind = case when trial = :version then null else trial_kind end
              where namespace = :namespace
         )
         insert into htm.ranking_choices (namespace, version, former, chosen_by, reason)
         values (:namespace, :version, :former, :chosen_by, :reason)"
    )
    .bind("namespace", namespace)?
    .bind("version", version)?
    .bind("former", former)?
    .bind("chosen_by", chosen_by)?
    .bind("reason", reason)?
    .execute(connection)
    .await?;
    Ok(Some(former))
}

/// Sets the ranking that is tried, or ends the trial.
pub(crate) async fn try_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    trial: Option<Trial>,
) -> Result<()> {
    learning::Entity::update_many()
        .col_expr(learning::Column::Trial, Expr::value(trial.map(|trial| trial.version)))
        .col_expr(learning::Column::TrialKind, Expr::value(trial.map(|trial| trial.kind)))
        .filter(learning::Column::Namespace.eq(namespace))
        .exec(&on(connection))
        .await?;
    Ok(())
}

/// The counts of a version that was tried on live recalls of the namespaces that learn with `home`.
pub(crate) async fn compare(pool: &dyn Connections, home: &str, version: i32) -> Result<RankingComparison> {
    type Counts = (i64, i64, i64, i64, i64, Option<i32>, i64);
    let (shadowed, differing, interleaved, wins, losses, other, earlier): Counts =
        sql!(include_str!("sql/compare_rankings.sql"))
            .bind("home", home)?
            .bind("version", version)?
            .fetch_one(pool)
            .await?;
    let counts =
        RankingComparison { version, shadowed, differing, interleaved, wins, losses, ..Default::default() };
    Ok(counts.judged(other, earlier))
}

/// The chosen rankings that this program cannot use: namespace, version and reason.
pub(crate) async fn unusable(pool: &dyn Connections) -> Result<Vec<(String, i32, String)>> {
    let chosen: Vec<(String, i32, Option<Json<serde_json::Value>>)> = sql!(
        "select l.namespace, l.version, r.learnt
           from htm.learning l
           left join htm.rankings r on r.namespace = l.namespace and r.version = l.version
          where l.version > 0 order by l.namespace"
    )
    .fetch_all(pool)
    .await?;
    let broken = |(namespace, version, learnt)| Some((namespace, version, usable(learnt).err()?));
    Ok(chosen.into_iter().filter_map(broken).collect())
}
