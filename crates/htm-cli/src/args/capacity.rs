//! Arguments of `htm capacity`.

use clap::Args;
use htm_runtime::capacity::Workload;

use crate::quantity::{parse_number, parse_quantity, parse_whole};

#[derive(Args)]
#[command(
    after_help = "The figures come from constants that a benchmark measures; docs/capacity.md has its results and their error. \
No database is asked.

Examples:
  htm capacity --memories 100M --namespaces 50k --dimensions 768
  htm capacity --memories 20k --dimensions 384 --words 60
  htm capacity --memories 5M --writes-per-second 20 --recalls-per-second 50 --provider-latency 150
  htm capacity --memories 5M --dimensions 1536 --price 0.02 --json"
)]
pub(crate) struct CapacityArgs {
    /// The memories that are kept: a number such as 250000, 50k, 100M or 1.5G
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_quantity)]
    memories: u64,
    /// The namespaces that they are in, of equal size
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_quantity, default_value = "1")]
    namespaces: u64,
    /// The dimensions of the embedding model, 1 to 4000
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_whole::<1, 4_000>, default_value_t = Workload::default().dimensions)]
    dimensions: u32,
    /// The words of a memory, on average
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one, default_value_t = Workload::default().words)]
    words: f64,
    /// The tags of a memory, on average
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = not_negative, default_value_t = Workload::default().tags)]
    tags: f64,
    /// The share of memories that are turns of conversations, 0 to 1
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = share, default_value_t = Workload::default().turns)]
    turns: f64,
    /// The new memories a second
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = not_negative, default_value_t = Workload::default().writes_per_second)]
    writes_per_second: f64,
    /// The recalls a second
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = not_negative, default_value_t = Workload::default().recalls_per_second)]
    recalls_per_second: f64,
    /// The time of one call of the embedding provider, in milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = at_least_one, default_value_t = Workload::default().provider_latency_ms)]
    provider_latency: f64,
    /// The most texts in one call of the embedding provider, as embed_worker.batch
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_whole::<1, 2_048>, default_value_t = Workload::default().batch)]
    batch: u32,
    /// The price of a million tokens of the embedding model. Default: nothing
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, value_parser = not_negative, default_value_t = 0.0, hide_default_value = true)]
    price: f64,
    /// The price of a million tokens of the language model that tags. Default: nothing
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, value_parser = not_negative, default_value_t = 0.0, hide_default_value = true)]
    tag_price: f64,
    /// The memory of one database host, in GB
    #[arg(long, value_name = "GB", allow_negative_numbers = true, value_parser = at_least_one, default_value_t = Workload::default().host_memory_gb)]
    host_memory: f64,
    /// The processor cores of one database host
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_whole::<1, 4_096>, default_value_t = Workload::default().host_cores)]
    host_cores: u32,
}

impl CapacityArgs {
    pub(crate) fn workload(&self) -> Workload {
        Workload {
            memories: self.memories,
            namespaces: self.namespaces,
            dimensions: self.dimensions,
            words: self.words,
            tags: self.tags,
            turns: self.turns,
            writes_per_second: self.writes_per_second,
            recalls_per_second: self.recalls_per_second,
            provider_latency_ms: self.provider_latency,
            batch: self.batch,
            price: self.price,
            tag_price: self.tag_price,
            host_memory_gb: self.host_memory,
            host_cores: self.host_cores,
        }
    }
}

/// The largest of these numbers: with it, no result is infinite.
const MOST: f64 = 1e9;

fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number = parse_number(text).filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("write a number from {least} to {most}"))
}

fn at_least_one(text: &str) -> Result<f64, String> {
    within(text, 1.0, MOST)
}

fn not_negative(text: &str) -> Result<f64, String> {
    within(text, 0.0, MOST)
}

fn share(text: &str) -> Result<f64, String> {
    within(text, 0.0, 1.0)
}
