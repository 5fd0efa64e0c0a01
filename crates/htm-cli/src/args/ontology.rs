//! What the commands take that draw an ontology and carry it about.

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};

use super::tags::{Consent, InNamespace};

#[derive(Args)]
#[command(
    after_help = "NODES have the tag itself, TOTAL also one below it, each node once. In Mermaid and SVG the number \
is the TOTAL. Mermaid draws at most 500 lines unless the page allows more: --depth and --min-count make fewer.

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
    /// How many levels, the first one counted
    #[arg(long, value_name = "D", default_value_t = 5, value_parser = value_parser!(u8).range(1..=5))]
    pub(crate) depth: u8,
    /// Only tags that so many nodes have, or have one below it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) min_count: u32,
    /// How it is drawn; text if left out, by the name of the file if one is given
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<TreeFormat>,
    /// Write it to this file
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
    after_help = "Every tag, with what it is about and its other names; neither nodes nor who has which tag: a \
memory goes elsewhere with its tags by `htm import`. The same tags are the same file, byte for byte.

Examples:
  htm tags export > tags.json
  htm tags export --namespace atlas --output tags.yaml"
)]
pub(crate) struct ExportArgs {
    /// How it is written; JSON if left out, by the name of the file if one is given
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<DocumentFormat>,
    /// Write it to this file
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
    after_help = "Tags and other names that are not there are added, those above them too; all or none. What the \
file does not name stays. `htm tags revert` undoes it.

Examples:
  htm tags import tags.json --dry-run
  htm tags import tags.yaml --namespace atlas --yes"
)]
pub(crate) struct ImportTagsArgs {
    /// What `htm tags export` wrote, JSON or YAML; `-` reads standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) how: LayArgs,
}

#[derive(Args)]
#[command(
    after_help = "Terms that are not there are added; all or none. What the template does not name stays. \
`htm tags revert` undoes it. A file has a line a term below [terms], as \"pet:cat\" = \"cats at home\".

Examples:
  htm tags templates
  htm tags apply-template software --dry-run
  htm tags apply-template ./mine.toml --namespace atlas --yes"
)]
pub(crate) struct ApplyTemplateArgs {
    /// One that `htm tags templates` lists, or a file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) template: String,
    #[command(flatten)]
    pub(crate) how: LayArgs,
}

/// How an ontology is laid over the one that is there.
#[derive(Args)]
pub(crate) struct LayArgs {
    /// Tags that are described already get this description instead
    #[arg(long)]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}
