//! Helpers of the benchmarks: arguments, medians, percentiles, tables.

use std::str::FromStr;
use std::time::Duration;

/// The value after `name` on the command line, or `default`.
///
/// # Panics
/// If the value cannot be parsed.
pub fn argument<T: FromStr>(name: &str, default: T) -> T {
    match std::env::args().skip_while(|argument| argument != name).nth(1) {
        Some(value) => value.parse().unwrap_or_else(|_| panic!("{name} {value} is not understood")),
        None => default,
    }
}

/// Whether `name` is on the command line.
pub fn flag(name: &str) -> bool {
    std::env::args().any(|argument| argument == name)
}

/// The median. For an even number of values, the upper of the two middle ones.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The percentile of `times` in milliseconds. `share` is from 0 to 1.
pub fn percentile_ms(times: &[Duration], share: f64) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    let place = (times.len() as f64 * share).ceil() as usize;
    times[place.clamp(1, times.len()) - 1].as_secs_f64() * 1_000.0
}

/// The machine's load average over one minute and its number of processors, to show what else ran during a measurement.
pub fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    format!("load {} on {processors} processors", load.split(' ').next().unwrap_or("?"))
}

/// A table. It is printed row by row, so that a long run shows its results so far.
pub struct Table {
    widths: Vec<usize>,
}

impl Table {
    /// Prints the heads of the columns. Each has a minimum width.
    pub fn new(heads: &[(&str, usize)]) -> Self {
        let widths = heads.iter().map(|(head, width)| head.chars().count().max(*width)).collect();
        let table = Self { widths };
        table.row(heads.iter().map(|(head, _)| (*head).to_owned()));
        table
    }

    /// Prints a row. The first cell is aligned to the left, the others to the right.
    pub fn row(&self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().zip(&self.widths).enumerate();
        let cells: Vec<String> = cells
            .map(|(place, (cell, &width))| match place {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        println!("{}", cells.join("  ").trim_end());
    }
}

/// Random numbers from a seed, by SplitMix64: the same in every run.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from 0 to below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
