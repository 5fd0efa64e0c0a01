//! The commands that change tags.

use htm_core::Htm;
use htm_core::ontology::{ChangeKind, Changed, Removal, Term};

use super::to_change;
use crate::args::{Consent, DistinctCommand, SynonymsCommand, TagsCommand};
use crate::error::CliError;
use crate::output::{Output, count, plain};

/// The most names that a list shows. The rest is only counted.
const SHOWN: usize = 10;

/// Requires `--yes` or `--dry-run` for a change of many nodes, before the database is opened.
pub(super) fn require_consent(command: &TagsCommand) -> Result<(), CliError> {
    let (consent, what): (&Consent, String) = match command {
        TagsCommand::Remove(it) => (&it.consent, format!("removing {} and the tags below it", it.tag)),
        TagsCommand::Rename(it) => (&it.consent, format!("renaming {} to {}", it.old, it.new)),
        TagsCommand::Merge(it) => (&it.consent, format!("merging {} into {}", it.from.join(" "), it.into)),
        TagsCommand::Split(it) => (&it.consent, format!("splitting {}", it.tag)),
        TagsCommand::Revert(it) => (&it.consent, format!("reverting change {}", it.change)),
        TagsCommand::Import(it) => (&it.how.consent, format!("importing {}", it.file.display())),
        TagsCommand::ApplyTemplate(it) => (&it.how.consent, format!("applying {}", it.template)),
        _ => return Ok(()),
    };
    match consent.yes || consent.dry_run {
        true => Ok(()),
        false => Err(CliError::not_confirmed(what)),
    }
}

pub(super) async fn run(htm: &Htm, command: TagsCommand, output: &Output) -> Result<(), CliError> {
    output.leaves(
        serde_json::json!({ "stopped": true }),
        "the change is whole or absent: if it was made, `htm tags log` shows it",
    );
    let changed = match command {
        TagsCommand::Add(it) => {
            let term = Term { tag: it.tag, description: it.description, synonyms: it.synonyms };
            to_change(htm, &it.whose, it.rehearsal.dry_run)?.define(ChangeKind::Add, &[term]).await?
        }
        TagsCommand::Remove(it) => {
            let removal = if it.assigned { Removal::Assigned } else { Removal::Unused };
            to_change(htm, &it.whose, it.consent.dry_run)?.remove(&it.tag, removal).await?
        }
        TagsCommand::Rename(it) => {
            to_change(htm, &it.whose, it.consent.dry_run)?.rename(&it.old, &it.new).await?
        }
        TagsCommand::Merge(it) => {
            let from: Vec<&str> = it.from.iter().map(String::as_str).collect();
            to_change(htm, &it.whose, it.consent.dry_run)?.merge(&from, &it.into).await?
        }
        TagsCommand::Split(it) => return super::split::run(htm, &it, output).await,
        TagsCommand::Revert(it) => to_change(htm, &it.whose, it.consent.dry_run)?.revert(it.change).await?,
        TagsCommand::Synonyms(SynonymsCommand::Add { name, tag, whose, rehearsal }) => {
            to_change(htm, &whose, rehearsal.dry_run)?.add_synonym(&name, &tag).await?
        }
        TagsCommand::Synonyms(SynonymsCommand::Remove { name, whose, rehearsal }) => {
            to_change(htm, &whose, rehearsal.dry_run)?.remove_synonym(&name).await?
        }
        TagsCommand::Distinct(DistinctCommand::Add(it)) => {
            to_change(htm, &it.whose, it.rehearsal.dry_run)?.mark_distinct(&it.tag, &it.other).await?
        }
        TagsCommand::Distinct(DistinctCommand::Remove(it)) => {
            to_change(htm, &it.whose, it.rehearsal.dry_run)?.unmark_distinct(&it.tag, &it.other).await?
        }
        // The other commands change nothing.
        _ => return Ok(()),
    };
    output.value(&changed, || describe(&changed));
    Ok(())
}

/// Parses `TAG` or `TAG=DESCRIPTION`.
pub(super) fn term(text: &str) -> Term {
    let (tag, description) = match text.split_once('=') {
        Some((tag, description)) => (tag, Some(description.trim().to_owned())),
        None => (text, None),
    };
    Term { tag: tag.to_owned(), description, synonyms: Vec::new() }
}

/// The text about a change for people, also for other commands that change tags.
pub(crate) fn describe(it: &Changed) -> String {
    let mut lines = Vec::new();
    let moved = it.moved.iter().map(|moved| {
        let how = match (moved.merged, it.dry_run) {
            (true, false) => "was merged into",
            (true, true) => "would be merged into",
            (false, false) => "is now called",
            (false, true) => "would be called",
        };
        format!("{} {how} {}", moved.from, moved.to)
    });
    lines.extend(listed(moved.collect()));
    let synonyms = it.synonyms.iter().map(|it| format!("{} means {}", it.name, it.tag));
    lines.extend(listed(synonyms.collect()));
    let described = match it.kind {
        ChangeKind::Split => "its nodes are retagged with the replacements",
        ChangeKind::MarkDistinct => "marked as distinct",
        ChangeKind::UnmarkDistinct => "no longer marked as distinct",
        // Its description, its split and what it is distinct from.
        ChangeKind::Revert => "as it was before",
        _ => "described",
    };
    for (what, names) in [
        ("new", &it.added),
        (described, &it.described),
        ("removed", &it.removed),
        ("no longer a synonym", &it.freed),
        ("kept, still in use", &it.kept),
    ] {
        lines.extend(listed(names.iter().map(|name| format!("{name}: {what}")).collect()));
    }
    let tags = it.moved.len() + it.added.len() + it.described.len() + it.removed.len();
    let about = match it.synonyms.len() + it.freed.len() {
        other_names if tags == 0 => count(other_names, "synonym"),
        _ => format!("{} on {}", count(tags, "tag"), count(it.nodes, "node")),
    };
    let mut last = match it.change {
        Some(change) => format!("change {change}: {about}"),
        None if it.dry_run => format!("nothing was changed; the change would be: {about}"),
        None => "nothing to change".into(),
    };
    if it.jobs > 0 {
        last.push_str(&format!(", {} to retag them", count(it.jobs, "job")));
    }
    lines.push(last);
    plain(&lines.join("\n"))
}

fn listed(mut lines: Vec<String>) -> Vec<String> {
    let rest = lines.len().saturating_sub(SHOWN);
    if rest > 1 {
        lines.truncate(SHOWN);
        lines.push(format!("… and {rest} more"));
    }
    lines
}
