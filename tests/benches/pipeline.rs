//! The way of a job through the worker, against floors measured in the same run.
//!
//! `./justw bench-rust --bench pipeline`. Every figure is the median of three measurements, each on a database of its own.
//! `--quick` measures once, and less; `--only drain`, `--only idle`, `--only live` measure a part.

#[path = "pipeline/drain.rs"]
mod drain;
#[path = "pipeline/handlers.rs"]
mod handlers;
#[path = "pipeline/idle.rs"]
mod idle;
#[path = "pipeline/live.rs"]
mod live;

use htm_tests::measure::{Table, argument, flag, load, median};

#[tokio::main]
async fn main() {
    let only: String = argument("--only", String::new());
    let effort = if flag("--quick") { Effort::QUICK } else { Effort::FULL };
    println!("medians of {}; {}", effort.times, load());
    let report = Report::new();
    if only.is_empty() || only == "drain" {
        drain::measure(&report, effort).await;
    }
    if only.is_empty() || only == "idle" {
        idle::measure(&report, effort).await;
    }
    if only.is_empty() || only == "live" {
        live::measure(&report, effort).await;
    }
    println!("{}", load());
}

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Measurements a figure.
    times: usize,
    /// Jobs that do nothing.
    noops: usize,
    /// Calls to the provider, by each that may be under way at once.
    calls: usize,
    /// Memories that find the worker idle.
    singles: usize,
    /// Seconds of doing nothing.
    idle_s: u64,
    /// Seconds of writing during a backfill.
    live_s: u64,
}

impl Effort {
    const FULL: Self = Self { times: 3, noops: 20_000, calls: 100, singles: 200, idle_s: 30, live_s: 20 };
    const QUICK: Self = Self { times: 1, noops: 5_000, calls: 20, singles: 30, idle_s: 10, live_s: 5 };

    /// The median of a measurement.
    async fn median(self, measure: impl AsyncFn() -> f64) -> f64 {
        let [value] = self.medians(async || [measure().await]).await;
        value
    }

    /// The medians of a measurement that gives several figures.
    async fn medians<const N: usize>(self, measure: impl AsyncFn() -> [f64; N]) -> [f64; N] {
        let mut runs = Vec::with_capacity(self.times);
        for _ in 0..self.times {
            runs.push(measure().await);
        }
        std::array::from_fn(|place| median(runs.iter().map(|run| run[place]).collect()))
    }
}

/// The goal of a figure.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// None: it explains another.
    Shown,
}

/// The table.
pub(crate) struct Report(Table);

impl Report {
    fn new() -> Self {
        Self(Table::new(&[
            ("what", 58),
            ("measured", 9),
            ("floor", 9),
            ("unit", 7),
            ("ratio", 6),
            ("target", 7),
            ("", 6),
        ]))
    }

    /// A figure beside its floor; the target is for their ratio.
    fn ratio(&self, what: &str, measured: f64, floor: f64, unit: &str, target: Target) {
        self.row(what, measured, Some(floor), unit, measured / floor, target);
    }

    /// A figure with a target of its own.
    fn figure(&self, what: &str, measured: f64, unit: &str, target: Target) {
        self.row(what, measured, None, unit, measured, target);
    }

    fn row(&self, what: &str, measured: f64, floor: Option<f64>, unit: &str, judged: f64, target: Target) {
        let digits = |value: f64| match value.abs() {
            value if value >= 1_000.0 => format!("{value:.0}"),
            value if value >= 10.0 => format!("{value:.1}"),
            _ => format!("{value:.2}"),
        };
        let (target, met) = match target {
            Target::AtLeast(least) => (format!("≥ {}", digits(least)), Some(judged >= least)),
            Target::AtMost(most) => (format!("≤ {}", digits(most)), Some(judged <= most)),
            Target::Shown => (String::new(), None),
        };
        self.0.row([
            what.to_owned(),
            digits(measured),
            floor.map(digits).unwrap_or_default(),
            unit.to_owned(),
            floor.map(|_| digits(judged)).unwrap_or_default(),
            target,
            met.map_or("", |met| if met { "met" } else { "MISSED" }).to_owned(),
        ]);
    }
}
