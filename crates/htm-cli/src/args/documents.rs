//! Arguments of the commands of documents: load, unload, documents.

use std::path::PathBuf;

use clap::Args;

use super::memories::CallerArgs;

#[derive(Args)]
#[command(
    after_help = "Markdown, HTML, PDF, text and source code are cut by their structure into passages, each a memory with its \
document, its headings and its place. Loading again writes what changed and no more: a passage with the same text keeps its \
memory, wherever it stands. Directories are searched without hidden files, links, and what .gitignore or .ignore names. A file \
that cannot be read is named, and the others are loaded. A document's name is its path as given: load from the same directory \
each time.

Examples:
  htm load docs README.md
  htm load --namespace atlas --tag manual --glob '*.md' --glob '!drafts/**' handbook
  htm load --dry-run .
  htm load --forget-removed docs
  htm load --watch --forget-removed docs"
)]
pub(crate) struct LoadArgs {
    /// Files and directories
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// A tag of each passage, beside those of the front matter (may be repeated)
    #[arg(long = "tag", value_name = "T")]
    pub(crate) tags: Vec<String>,
    /// Only files of directories that match, as in .gitignore; `!` excludes them (may be repeated)
    #[arg(long = "glob", value_name = "GLOB")]
    pub(crate) globs: Vec<String>,
    /// Forget the documents at or below the paths whose files are gone
    #[arg(long)]
    pub(crate) forget_removed: bool,
    /// Only say what would be done
    #[arg(long, conflicts_with = "watch")]
    pub(crate) dry_run: bool,
    /// Go on and load what changes, until Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    /// The most characters of a passage, 200 to 100000
    #[arg(long, value_name = "N", default_value_t = htm_documents::Cutting::default().size as u32,
          value_parser = clap::value_parser!(u32).range(200..=100_000))]
    pub(crate) size: u32,
    /// The characters that a passage repeats of the one before it, up to half of --size
    #[arg(long, value_name = "N", default_value_t = htm_documents::Cutting::default().overlap as u32,
          value_parser = clap::value_parser!(u32).range(0..=50_000))]
    pub(crate) overlap: u32,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
#[command(
    after_help = "The passages are forgotten: `htm forgotten` lists them, and loading the file again brings them all back.

Examples:
  htm unload docs/old.md
  htm unload handbook --namespace atlas"
)]
pub(crate) struct UnloadArgs {
    /// The document's path, or a directory for all documents below it, as `htm documents` shows them
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm documents
  htm documents docs --namespace atlas --limit 20")]
pub(crate) struct DocumentsArgs {
    /// Only documents at or below this path
    #[arg(value_name = "PATH")]
    pub(crate) below: Option<String>,
    /// Their namespace. Default: memory.namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// The number of documents, 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) limit: usize,
}
