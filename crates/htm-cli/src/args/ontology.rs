//! Arguments of the commands that draw, export and import an ontology.

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};

use super::tags::{Consent, InNamespace};

#[derive(Args)]
#[command(
    after_help = "NODES counts memories with the tag, TOTAL those with the tag or one below it. Mermaid and SVG show \
TOTAL. Mermaid draws at most 500 edges by default; --depth and --min-count reduce them.

Examples:
  htm tags tree
  htm tags tree --root database --depth 2
  htm tags tree --min-count 3 --format mermaid
  htm tags tree --namespace atlas --format svg --output tags.svg"
)]
pub(crate) struct TreeArgs {
    /// Only this tag and those below it
    #[arg(long, value_name = "TAG")]
    pub(crate) root: Option<String>,
    /// The number of levels, including the first
    #[arg(long, value_name = "D", default_value_t = 5, value_parser = value_parser!(u8).range(1..=5))]
    pub(crate) depth: u8,
    /// Only tags with at least this TOTAL
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) min_count: u32,
    /// The format. Default: by the extension of --output, else text
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<TreeFormat>,
    /// Write to this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
}

/// How a tree is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFormat {
    /// Lines, for a terminal
    Text,
    /// A Mermaid flowchart, for a document
    Mermaid,
    /// A picture
    Svg,
    /// For programs
    Json,
}

#[derive(Args)]
#[command(
    after_help = "The file has every tag with its description and synonyms, but no memories or assignments. To move memories \
with their tags, use `htm import`. Equal ontologies give equal files, byte for byte.

Examples:
  htm tags export > tags.json
  htm tags export --namespace atlas --output tags.yaml"
)]
pub(crate) struct ExportArgs {
    /// The format. Default: by the extension of --output, else JSON
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<DocumentFormat>,
    /// Write to this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
}

/// How an ontology is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    /// JSON
    Json,
    /// YAML
    Yaml,
}

#[derive(Args)]
#[command(
    after_help = "Adds missing tags, their parents and synonyms, all or none. Other tags stay. `htm tags revert` undoes \
it.

Examples:
  htm tags import tags.json --dry-run
  htm tags import tags.yaml --namespace atlas --yes"
)]
pub(crate) struct ImportTagsArgs {
    /// A file from `htm tags export`, JSON or YAML; `-` reads standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) how: LayArgs,
}

#[derive(Args)]
#[command(
    after_help = "Adds missing terms, all or none. Other tags stay. `htm tags revert` undoes it. A file has one line per \
term below [terms]: \"pet:cat\" = \"cats at home\".

Examples:
  htm tags templates
  htm tags apply-template software --dry-run
  htm tags apply-template ./mine.toml --namespace atlas --yes"
)]
pub(crate) struct ApplyTemplateArgs {
    /// A template from `htm tags templates`, or a file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) template: String,
    #[command(flatten)]
    pub(crate) how: LayArgs,
}

/// How an ontology is laid over the one that is there.
#[derive(Args)]
pub(crate) struct LayArgs {
    /// Replace existing descriptions
    #[arg(long)]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}
