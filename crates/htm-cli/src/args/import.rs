//! The arguments of `htm import`.

use std::path::PathBuf;

use clap::{Args, value_parser};
use htm_sources::System;

use super::words::Words;

#[derive(Args)]
#[command(
    after_help = "A line is {\"id\", \"ns\", \"text\", \"created_at\"?, \"expires_at\"? or \"ttl_seconds\"?, \"speaker\"?, \
\"session\"?, \"seq\"?, \"tags\"?, \"metadata\"?, \"robot\"?, \"importance\"?, \"source\"?, \"type\"?, \"vectors\"?}: \
the id becomes the memory's key, ns its namespace. Existing lines are skipped, so an interrupted import can be run again. A \
rejected line is reported with its number; the other lines are imported. The file may also be one that `htm export` wrote: everything in it is restored.

With --from, the memories of another system are read: its export, its folder or its database. Times, users, agents, \
conversations and speakers are kept. Skipped items are listed with the reason. A repeated import adds what is new.

Systems and their locations:
  basic-memory   a folder of Markdown files
  chatgpt        the archive that ChatGPT exports, its folder, or its conversations.json
  claude         the archive that Claude exports, its folder, or its conversations.json
  htm-ruby       the URL of the database of HTM in Ruby
  langgraph      the URL of the database of LangGraph's store
  letta          the URL of Letta's database
  mem0           the URL of its database, or answers of its REST API, saved as JSON
  memobase       the URL of memobase's database
  openmemory     its SQLite database, openmemory.db

Examples:
  htm import memories.jsonl
  htm import backup.jsonl
  htm import --from chatgpt --dry-run chatgpt-export.zip     reports what it would write
  htm import --from chatgpt --namespace old/chatgpt chatgpt-export.zip
  htm import --from basic-memory ~/basic-memory
  htm import --from mem0 --model openai/text-embedding-3-small postgres://mem0@localhost/mem0"
)]
pub(crate) struct ImportArgs {
    /// The file; `-` reads standard input. With --from: the file, folder or database URL of the other system
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Lines per transaction; fewer if their texts are long
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = value_parser!(u16).range(1..=10_000))]
    pub(crate) chunk: u16,
    /// Read the memories of this system
    #[arg(long, value_name = "SYSTEM", value_parser = Words(System::names()), hide_possible_values = true)]
    pub(crate) from: Option<String>,
    /// The namespace of its memories; users become namespaces below it. Default: the system's name
    #[arg(long, value_name = "N", requires = "from")]
    pub(crate) namespace: Option<String>,
    /// Report what the import would write, without writing
    #[arg(long, requires = "from")]
    pub(crate) dry_run: bool,
    /// The table of the memories, for mem0's PostgreSQL. Default: mem0
    #[arg(long, value_name = "T", requires = "from")]
    pub(crate) table: Option<String>,
    /// The model of HTM (`htm models list`) that made the vectors of the other system, which are then taken. Without it,
    /// workers make new ones
    #[arg(long, value_name = "M", requires = "from")]
    pub(crate) model: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use htm_sources::System;

    use crate::args::Arguments;

    #[test]
    fn the_help_and_the_guide_have_every_system() {
        let arguments = Arguments::command();
        let import = arguments.find_subcommand("import").unwrap();
        let help = import.get_after_help().unwrap().to_string();
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coming-from.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        for name in System::names() {
            assert!(help.contains(&format!("\n  {name} ")), "the help of `htm import` has no {name}");
            assert!(guide.contains(&format!("`{name}`")), "docs/coming-from.md has no {name}");
        }
    }
}
