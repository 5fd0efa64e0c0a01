//! How a robot uses its memory: it remembers, recalls, and makes a context for a prompt. Run it twice: the second run
//! goes on where the first one was.
//!
//! `cargo run -p htm-cli --example robot`

use htm_core::{ContextHeader, ContextOptions, Memory, RecallQuery};
use htm_runtime::Runtime;
use htm_runtime::config::Config;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The database of the configuration; the private PostgreSQL when none is named.
    let loaded = Config::load(&Default::default())?;
    let runtime = Runtime::open(&loaded.config).await?;
    let htm = runtime.htm();

    // A robot continues with its saved working memory.
    let robot = htm.robot("architect").await?;
    let from_before = robot.working_memory_stats();
    println!("Working memory from before: {} memories, {} tokens.", from_before.nodes, from_before.tokens);

    if from_before.nodes == 0 {
        // Long-term memory, for all robots, for good; embedded and tagged by the workers (`htm up`).
        for (key, importance, text) in [
            ("ledger", 8.0, "We chose PostgreSQL for the ledger, because transactions must not be lost."),
            ("tabs", 7.0, "Mara prefers tabs over spaces in every language but Python."),
            (
                "next",
                9.0,
                "Next step: write the migration of the ledger's balances, then ask Mara for a review.",
            ),
        ] {
            let memory = Memory::new(text).key(key).importance(importance).source("planning");
            robot.remember(memory).await?;
        }
    }

    // Hits enter the working memory. If they do not fit, the least important memories are evicted.
    let found = robot.recall(&RecallQuery::new("what is the next step for the ledger?")).await?;
    println!("Recalled: {} memories.", found.recalled.hits.len());

    // The text for the prompt, the hits first, never more tokens than asked for.
    let options =
        ContextOptions::new(1_000).first(found.recalled.nodes()).header(ContextHeader::AgeAndSource);
    let answer = robot.context(&options).await;
    println!("Context of {} tokens:\n\n{}", answer.context.tokens, answer.context.text);

    robot.close().await?;
    runtime.close().await;
    Ok(())
}
