//! The plans of statements that ran, as PostgreSQL's `auto_explain` reports them.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use tracing_subscriber::util::SubscriberInitExt;

/// Connections on which every statement reports its plan, also those inside functions and of foreign keys. Needs a superuser.
pub fn explained(options: PgConnectOptions) -> PgConnectOptions {
    options.options([
        ("session_preload_libraries", "auto_explain"),
        ("auto_explain.log_min_duration", "0"),
        ("auto_explain.log_analyze", "on"),
        ("auto_explain.log_timing", "off"),
        ("auto_explain.log_nested_statements", "on"),
        ("auto_explain.log_format", "json"),
        ("auto_explain.log_level", "notice"),
    ])
}

/// The plans of this thread's statements on [`explained`] connections, as long as this value lives.
pub struct Plans {
    notices: Arc<Mutex<Vec<String>>>,
    _subscriber: tracing::subscriber::DefaultGuard,
}

/// A plan of a statement that ran.
pub struct Plan {
    /// The statement.
    pub sql: String,
    root: Value,
}

impl Plans {
    /// Collects plans from now on.
    pub fn collect() -> Self {
        let notices = Arc::new(Mutex::new(Vec::new()));
        let to = notices.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter("off,sqlx::postgres::notice=info")
            .json()
            .with_writer(move || Notices(to.clone()))
            .finish();
        Self { notices, _subscriber: subscriber.set_default() }
    }

    /// The plans since the last call.
    pub fn take(&self) -> Vec<Plan> {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let plan = |notice: String| {
            let event: Value = serde_json::from_str(&notice).expect("an event in JSON");
            let (_, plan) = event["fields"]["message"].as_str()?.split_once("plan:\n")?;
            let mut plan: Value = serde_json::from_str(plan).expect("a plan in JSON");
            Some(Plan { sql: plan["Query Text"].as_str()?.to_owned(), root: plan["Plan"].take() })
        };
        notices.drain(..).filter_map(plan).collect()
    }
}

impl Plan {
    /// The tables that it read or wrote, without those that it left out as it ran.
    pub fn tables(&self) -> BTreeSet<&str> {
        let ran = self.steps().filter(|step| step["Actual Loops"].as_f64().is_some_and(|loops| loops > 0.0));
        ran.filter_map(|step| step["Relation Name"].as_str()).collect()
    }

    /// The most rows that a step of it had, with those of each repetition.
    pub fn most_rows(&self) -> f64 {
        let rows = |step: &Value| Some(step["Actual Rows"].as_f64()? * step["Actual Loops"].as_f64()?);
        self.steps().filter_map(rows).fold(0.0, f64::max)
    }

    /// The tables that it read whole: one by one, or by an index without a condition.
    pub fn whole(&self) -> BTreeSet<&str> {
        let is_whole = |step: &&Value| match step["Node Type"].as_str() {
            Some("Seq Scan") => true,
            Some("Index Scan" | "Index Only Scan") => step["Index Cond"].is_null(),
            _ => false,
        };
        let ran = self.steps().filter(|step| step["Actual Loops"].as_f64().is_some_and(|loops| loops > 0.0));
        ran.filter(is_whole).filter_map(|step| step["Relation Name"].as_str()).collect()
    }

    /// Its steps, in no order.
    fn steps(&self) -> impl Iterator<Item = &Value> {
        let mut left = vec![&self.root];
        std::iter::from_fn(move || {
            let step = left.pop()?;
            left.extend(step["Plans"].as_array().into_iter().flatten());
            Some(step)
        })
    }
}

/// The statement with an outline of what ran of its plan.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.sql)?;
        let mut nodes = vec![(0, &self.root)];
        while let Some((depth, node)) = nodes.pop() {
            let loops = node["Actual Loops"].as_f64().unwrap_or_default();
            if loops > 0.0 {
                let text = |name: &str| node[name].as_str().unwrap_or_default();
                let (kind, table, index) = (text("Node Type"), text("Relation Name"), text("Index Name"));
                writeln!(f, "{:depth$}{kind} {table} {index} x{loops}", "")?;
            }
            nodes.extend(node["Plans"].as_array().into_iter().flatten().rev().map(|node| (depth + 2, node)));
        }
        Ok(())
    }
}

/// Receives one event per write.
struct Notices(Arc<Mutex<Vec<String>>>);

impl Write for Notices {
    fn write(&mut self, event: &[u8]) -> std::io::Result<usize> {
        let mut notices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notices.push(String::from_utf8_lossy(event).into_owned());
        Ok(event.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
