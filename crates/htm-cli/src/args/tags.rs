//! What `htm tags` takes.

use clap::{Args, Subcommand, value_parser};

use super::ontology::{ApplyTemplateArgs, ExportArgs, ImportTagsArgs, TreeArgs};

#[derive(Subcommand)]
pub(crate) enum TagsCommand {
    /// List the tags with their counts, own and below
    List(ListTagsArgs),
    /// Draw the tags as a tree: as text, Mermaid or SVG
    Tree(TreeArgs),
    /// Show a tag: what it means, what stands around it, who assigned it
    Show(TagArgs),
    /// Add a tag, or say what one is about
    Add(AddTagArgs),
    /// Remove a tag and those below it
    Remove(RemoveTagArgs),
    /// Give a tag, and with it those below it, another name
    Rename(RenameTagArgs),
    /// Make one tag of several
    Merge(MergeTagsArgs),
    /// Tag the nodes of a tag again, by several that take its place
    Split(SplitTagArgs),
    /// The other names of tags
    #[command(subcommand)]
    Synonyms(SynonymsCommand),
    /// List the tags of few nodes, with a merge that would mend it
    Orphans(OrphansArgs),
    /// Suggest merges of tags that mean the same, with the evidence
    Suggest(SuggestArgs),
    /// Find tags by a name that is nearly right
    Similar(SimilarArgs),
    /// List tags that stand on the same nodes
    Cooccur(CooccurArgs),
    /// List the tags of most nodes
    Popular(TopArgs),
    /// Write the tags to a file, or to standard output
    Export(ExportArgs),
    /// Add the tags of a file
    Import(ImportTagsArgs),
    /// List the templates: ontologies to begin with
    Templates,
    /// Add the tags of a template
    ApplyTemplate(ApplyTemplateArgs),
    /// List what was changed
    Log(LogArgs),
    /// Undo a change
    Revert(RevertArgs),
}

/// Whose tags.
#[derive(Args)]
pub(crate) struct InNamespace {
    /// Whose tags
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

/// What a change of many nodes wants.
#[derive(Args)]
pub(crate) struct Consent {
    /// Yes, do it
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only say what it would do
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

/// What a change wants that takes nothing from anybody.
#[derive(Args)]
pub(crate) struct Rehearsal {
    /// Only say what it would do
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args)]
#[command(after_help = "NODES have the tag itself, TOTAL also one below it, each node once.

Examples:
  htm tags list
  htm tags list database              that tag and those below it
  htm tags list --namespace atlas --json")]
pub(crate) struct ListTagsArgs {
    /// Only this tag and those below it
    #[arg(value_name = "PREFIX")]
    pub(crate) below: Option<String>,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
}

#[derive(Args)]
pub(crate) struct TagArgs {
    /// The tag, by any of its names
    pub(crate) tag: String,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
}

#[derive(Args)]
#[command(after_help = "Those above it are added too. A tag that is there gets the description.

Examples:
  htm tags add database:postgresql --description \"The database of the ledger\"
  htm tags add database:postgresql --synonym pg --dry-run")]
pub(crate) struct AddTagArgs {
    /// The tag, as database:postgresql
    pub(crate) tag: String,
    /// What it is about
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Another name of it (may be repeated)
    #[arg(long = "synonym", value_name = "NAME")]
    pub(crate) synonyms: Vec<String>,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) rehearsal: Rehearsal,
}

#[derive(Args)]
#[command(
    after_help = "Tags below it, and their other names, go with it. A tag that nodes have stays, unless \
--assigned is given.

Examples:
  htm tags remove misc --dry-run
  htm tags remove misc --assigned --yes"
)]
pub(crate) struct RemoveTagArgs {
    /// The tag
    pub(crate) tag: String,
    /// Also when nodes have it: they lose it
    #[arg(long)]
    pub(crate) assigned: bool,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Args)]
#[command(after_help = "The old name still finds it, and who tags by the old name means the new one.

Example:
  htm tags rename db database --yes")]
pub(crate) struct RenameTagArgs {
    /// Its name
    pub(crate) old: String,
    /// Its name from now on
    pub(crate) new: String,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Args)]
#[command(
    after_help = "All nodes of FROM have INTO then, what stood below FROM stands below INTO, and FROM is \
another name of INTO. In one transaction; `htm tags revert` undoes it.

Examples:
  htm tags merge postgres psql database:postgresql --dry-run
  htm tags merge --namespace atlas postgres database:postgresql --yes"
)]
pub(crate) struct MergeTagsArgs {
    /// The tags that go
    #[arg(required = true)]
    pub(crate) from: Vec<String>,
    /// The tag that stays
    pub(crate) into: String,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Args)]
#[command(
    after_help = "The tags in its place are shown to the tagger from then on, and it is not. Its nodes are \
tagged again by the tag-worker, after every live job; each keeps the tag until then, and what was tagged by hand keeps it \
for ever. While a tag-worker runs the command waits for that, and says how many nodes fit which tag, and how many fit none.

Examples:
  htm tags split database database:postgresql database:sqlite --yes
  htm tags split work \"work:meeting=What was said in meetings\" \"work:task=What is to be done\" --yes"
)]
pub(crate) struct SplitTagArgs {
    /// The tag
    pub(crate) tag: String,
    /// Those that take its place, new ones or not; each may say what it is about, as TAG=TEXT
    #[arg(required = true, num_args = 2..)]
    pub(crate) into: Vec<String>,
    /// What nodes get that fit none of them: `keep` (the tag that they have), or `first` (the first of them)
    #[arg(long, value_name = "WHICH", value_parser = ["keep", "first"], default_value = "keep")]
    pub(crate) rest: String,
    /// Do not wait until the nodes are tagged
    #[arg(long)]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Subcommand)]
pub(crate) enum SynonymsCommand {
    /// List the other names of tags
    List(InNamespace),
    /// Give a tag another name beside its own
    #[command(after_help = "Example:\n  htm tags synonyms add pg database:postgresql")]
    Add {
        /// The other name
        name: String,
        /// The tag
        tag: String,
        #[command(flatten)]
        whose: InNamespace,
        #[command(flatten)]
        rehearsal: Rehearsal,
    },
    /// Remove another name
    #[command(after_help = "Example:\n  htm tags synonyms remove pg --dry-run")]
    Remove {
        /// The other name
        name: String,
        #[command(flatten)]
        whose: InNamespace,
        #[command(flatten)]
        rehearsal: Rehearsal,
    },
}

#[derive(Args)]
pub(crate) struct OrphansArgs {
    /// The most nodes, of the tag and those below it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) max: u32,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
}

#[derive(Args)]
#[command(
    after_help = "Evidence: NAME is the likeness of the last levels (trigrams, from 0.5), NODES how much of \
the nodes of both have both (from 0.5), MEANING that of their embeddings (from 0.85, with --embed).

Examples:
  htm tags suggest
  htm tags suggest --embed --limit 50"
)]
pub(crate) struct SuggestArgs {
    /// Also compare what they mean, by the configured embedding model
    #[arg(long)]
    pub(crate) embed: bool,
    #[command(flatten)]
    pub(crate) top: TopArgs,
}

#[derive(Args)]
pub(crate) struct SimilarArgs {
    /// A name, or a part of one
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) top: TopArgs,
}

#[derive(Args)]
pub(crate) struct CooccurArgs {
    /// Only what stands beside this tag
    pub(crate) tag: Option<String>,
    /// The least nodes that both have
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..))]
    pub(crate) min: u32,
    #[command(flatten)]
    pub(crate) top: TopArgs,
}

#[derive(Args)]
pub(crate) struct TopArgs {
    /// How many, 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
}

#[derive(Args)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) top: TopArgs,
}

#[derive(Args)]
#[command(
    after_help = "Names become what they were, and nodes get back the tags that were taken from them, with \
their origin, model and confidence. A change whose names another one changed since is refused: revert that one first. What \
nodes were given since stays.

Examples:
  htm tags log
  htm tags revert 7 --dry-run
  htm tags revert 7 --yes"
)]
pub(crate) struct RevertArgs {
    /// The change, as `htm tags log` numbers it
    pub(crate) change: i64,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}
