//! Arguments of `htm tags`.

use clap::{Args, Subcommand, value_parser};

use super::WhichArgs;
use super::ontology::{ApplyTemplateArgs, ExportArgs, ImportTagsArgs, TreeArgs};

#[derive(Subcommand)]
pub(crate) enum TagsCommand {
    /// List tags with their counts
    List(ListTagsArgs),
    /// Draw the tag tree as text, Mermaid or SVG
    Tree(TreeArgs),
    /// Show a tag: description, parents, children, assignments
    Show(TagArgs),
    /// Add a tag, or describe one
    Add(AddTagArgs),
    /// Remove a tag and those below it
    Remove(RemoveTagArgs),
    /// Rename a tag and those below it
    Rename(RenameTagArgs),
    /// Merge tags into one
    Merge(MergeTagsArgs),
    /// Replace a tag by several, and retag its memories
    Split(SplitTagArgs),
    /// List, add and remove synonyms
    #[command(subcommand)]
    Synonyms(SynonymsCommand),
    /// List, add and remove pairs of distinct tags
    #[command(subcommand)]
    Distinct(DistinctCommand),
    /// List tags with few memories, and suggested merges
    Orphans(OrphansArgs),
    /// Suggest merges of synonymous tags, with the evidence
    Suggest(SuggestArgs),
    /// Find tags by an approximate name
    Similar(SimilarArgs),
    /// List tags that occur on the same memories
    Cooccur(CooccurArgs),
    /// List the tags with the most memories
    Popular(PopularArgs),
    /// Write the tags to a file, or to standard output
    Export(ExportArgs),
    /// Add the tags of a file
    Import(ImportTagsArgs),
    /// List the templates: ready-made ontologies
    Templates,
    /// Add the tags of a template
    ApplyTemplate(ApplyTemplateArgs),
    /// List the changes
    Log(LogArgs),
    /// Undo a change
    Revert(RevertArgs),
}

/// The namespace of the tags.
#[derive(Args)]
pub(crate) struct InNamespace {
    /// The namespace. Default: memory.namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

/// Confirmation of a change of many memories.
#[derive(Args)]
pub(crate) struct Consent {
    /// Confirm the change
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

/// Options of a change that takes nothing away.
#[derive(Args)]
pub(crate) struct Rehearsal {
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args)]
#[command(after_help = "NODES counts memories with the tag, TOTAL those with the tag or one below it.

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
#[command(after_help = "Missing parents are added too. An existing tag gets the description.

Examples:
  htm tags add database:postgresql --description \"The database of the ledger\"
  htm tags add database:postgresql --synonym pg --dry-run")]
pub(crate) struct AddTagArgs {
    /// The tag, for example database:postgresql
    pub(crate) tag: String,
    /// Its description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// A synonym (may be repeated)
    #[arg(long = "synonym", value_name = "NAME")]
    pub(crate) synonyms: Vec<String>,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) rehearsal: Rehearsal,
}

#[derive(Args)]
#[command(
    after_help = "Tags below it and their synonyms are removed too. Tags with memories are kept unless --assigned is \
given.

Examples:
  htm tags remove misc --dry-run
  htm tags remove misc --assigned --yes"
)]
pub(crate) struct RemoveTagArgs {
    /// The tag
    pub(crate) tag: String,
    /// Also remove it from its memories
    #[arg(long)]
    pub(crate) assigned: bool,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Args)]
#[command(after_help = "The old name stays a synonym, for searches and for new memories.

Example:
  htm tags rename db database --yes")]
pub(crate) struct RenameTagArgs {
    /// Its name
    pub(crate) old: String,
    /// Its new name
    pub(crate) new: String,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Args)]
#[command(
    after_help = "Memories of FROM get INTO, tags below FROM move below INTO, and FROM becomes a synonym of INTO. One \
transaction; `htm tags revert` undoes it.

Examples:
  htm tags merge postgres psql database:postgresql --dry-run
  htm tags merge --namespace atlas postgres database:postgresql --yes"
)]
pub(crate) struct MergeTagsArgs {
    /// The tags to merge
    #[arg(required = true)]
    pub(crate) from: Vec<String>,
    /// The tag to keep
    pub(crate) into: String,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Args)]
#[command(
    after_help = "The tagger then sees the new tags instead of the old one. The tag-worker retags the memories after all live \
jobs; until then they keep the old tag. Manually tagged memories keep it for good. If a tag-worker runs, the command \
waits for it and prints how many memories fit each tag and how many fit none.

Examples:
  htm tags split database database:postgresql database:sqlite --yes
  htm tags split work \"work:meeting=What was said\" \"work:task=To be done\" --yes"
)]
pub(crate) struct SplitTagArgs {
    /// The tag
    pub(crate) tag: String,
    /// The replacements, new or existing; TAG=TEXT adds a description
    #[arg(required = true, num_args = 2..)]
    pub(crate) into: Vec<String>,
    /// The tag of memories that fit none: `keep` (the old tag) or `first` (the first new tag)
    #[arg(long, value_name = "WHICH", value_parser = ["keep", "first"], default_value = "keep")]
    pub(crate) rest: String,
    /// Do not wait for the tag-worker
    #[arg(long)]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Subcommand)]
pub(crate) enum SynonymsCommand {
    /// List synonyms
    List(InNamespace),
    /// Add a synonym
    #[command(after_help = "Example:\n  htm tags synonyms add pg database:postgresql")]
    Add {
        /// The synonym
        name: String,
        /// The tag
        tag: String,
        #[command(flatten)]
        whose: InNamespace,
        #[command(flatten)]
        rehearsal: Rehearsal,
    },
    /// Remove a synonym
    #[command(after_help = "Example:\n  htm tags synonyms remove pg --dry-run")]
    Remove {
        /// The synonym
        name: String,
        #[command(flatten)]
        whose: InNamespace,
        #[command(flatten)]
        rehearsal: Rehearsal,
    },
}

#[derive(Subcommand)]
pub(crate) enum DistinctCommand {
    /// List pairs of distinct tags
    List(InNamespace),
    /// Declare two tags distinct: no merge of them is suggested
    #[command(after_help = "Example:\n  htm tags distinct add work:report work:reports")]
    Add(TagPairArgs),
    /// Remove a pair of distinct tags
    #[command(after_help = "Example:\n  htm tags distinct remove work:report work:reports")]
    Remove(TagPairArgs),
}

#[derive(Args)]
pub(crate) struct TagPairArgs {
    /// One of the tags
    pub(crate) tag: String,
    /// The other one
    pub(crate) other: String,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) rehearsal: Rehearsal,
}

#[derive(Args)]
pub(crate) struct OrphansArgs {
    /// The most memories of a listed tag, including those of tags below it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) max: u32,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
}

#[derive(Args)]
#[command(
    after_help = "Evidence: NAME is the similarity of the last levels (trigrams, from 0.5), NODES the share of common \
memories (from 0.5), MEANING the similarity of embeddings (from 0.85, with --embed). `htm tags distinct add` refuses a suggestion.

Examples:
  htm tags suggest
  htm tags suggest --embed --limit 50"
)]
pub(crate) struct SuggestArgs {
    /// Also compare meanings, with the configured embedding model
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
#[command(after_help = "Only memories that pass the filters are counted.

Examples:
  htm tags cooccur database
  htm tags cooccur --min 5 --type decision")]
pub(crate) struct CooccurArgs {
    /// Only tags that occur with this one
    pub(crate) tag: Option<String>,
    /// The minimum number of common memories
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..))]
    pub(crate) min: u32,
    #[command(flatten)]
    pub(crate) top: TopArgs,
    #[command(flatten)]
    pub(crate) which: WhichArgs,
}

#[derive(Args)]
#[command(after_help = "Only memories that pass the filters are counted.

Examples:
  htm tags popular --limit 5
  htm tags popular --timeframe \"last month\" --robot architect")]
pub(crate) struct PopularArgs {
    #[command(flatten)]
    pub(crate) top: TopArgs,
    #[command(flatten)]
    pub(crate) which: WhichArgs,
}

#[derive(Args)]
pub(crate) struct TopArgs {
    /// The most rows of the answer, 1 to 10000
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
    after_help = "Names are restored, and memories get their removed tags back with origin, model and confidence. Tags \
assigned since then stay. If a later change touched the same names, revert that one first.

Examples:
  htm tags log
  htm tags revert 7 --dry-run
  htm tags revert 7 --yes"
)]
pub(crate) struct RevertArgs {
    /// The number of the change, see `htm tags log`
    pub(crate) change: i64,
    #[command(flatten)]
    pub(crate) whose: InNamespace,
    #[command(flatten)]
    pub(crate) consent: Consent,
}
