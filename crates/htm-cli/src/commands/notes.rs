//! Notes about unknown names in a question. Without them, a mistyped name would find nothing for no visible reason.

use htm_core::{
    AsOf, Correction, Degraded, Filter, Htm, NameKind, RankingUsed, Step, TagFilter, TimeFilter, TimePhrase,
    UnknownName, Zone, ignored_exclusions,
};
use htm_runtime::commands;

use crate::error::{CliError, hint};
use crate::output::{Output, one_line, plain};

/// The most exclusions that a note names: a pasted text may have many.
const MOST_EXCLUSIONS: usize = 20;

/// A sentence for each part of a filter that names something unknown, for each unknown tag that is only preferred, and
/// for exclusions of the question's text that exclude nothing. `phrase` is the time that was taken from the text.
pub(crate) async fn of(
    htm: &Htm,
    text: &str,
    filter: &Filter,
    preferred: &[TagFilter],
    phrase: Option<&TimePhrase>,
) -> Result<Vec<String>, CliError> {
    let namespaces: Vec<&str> = match &filter.namespaces[..] {
        [] => vec![&htm.settings().namespace],
        named => named.iter().map(String::as_str).collect(),
    };
    let named: Vec<String> = namespaces.iter().map(|name| format!("`{}`", one_line(name, 60))).collect();
    let named = named.join(" or ");
    let unknown = htm.unknown_names(filter, preferred).await?;
    let mut notes: Vec<String> = unknown.iter().map(|it| unknown_name(it, &named)).collect();
    if filter.timeframe == TimeFilter::Auto && phrase.is_none() {
        notes.push("no time that has begun was recognised in the query; all times were searched".into());
    }
    if let Some(ignored) = ignored_exclusions(phrase.map_or(text, |taken| &taken.query)) {
        let all = &ignored.exclusions;
        let named: Vec<String> =
            all.iter().take(MOST_EXCLUSIONS).map(|it| format!("`{}`", one_line(it, 40))).collect();
        let others = match all.len() - named.len() {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        notes.push(format!("{}{others} excluded nothing, because {}", named.join(" "), ignored.reason));
    }
    Ok(notes)
}

/// A note about a name that none of the searched namespaces has.
fn unknown_name(unknown: &UnknownName, namespaces: &str) -> String {
    let UnknownName { kind, name, nearest: alike } = unknown;
    let alike = nearest(alike);
    match kind {
        NameKind::Namespace => unknown_namespace(name, &unknown.nearest),
        NameKind::Robot => format!("namespace {namespaces} has no robot `{}`{alike}", one_line(name, 60)),
        NameKind::Tag => format!("no tag of namespace {namespaces} is `{name}`{alike}"),
    }
}

/// A note's sentence about the names that are nearest to an unknown one.
fn nearest(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; the nearest: {}", names.join(", ")),
    }
}

/// A sentence for each namespace in which no memory is stored. For the default one only if there are others, because a
/// new database is empty.
pub(crate) async fn unknown_namespaces(
    htm: &Htm,
    namespaces: &[&str],
    are_named: bool,
) -> htm_core::Result<Vec<String>> {
    let unknown = htm.unknown_namespaces(namespaces).await?;
    let told = unknown.iter().filter(|it| are_named || !it.nearest.is_empty());
    Ok(told.map(|it| unknown_namespace(&it.namespace, &it.nearest)).collect())
}

fn unknown_namespace(namespace: &str, nearest: &[String]) -> String {
    let nearest = match nearest {
        [] => "there are no others".into(),
        nearest => format!("the nearest: {}", nearest.join(", ")),
    };
    format!("no memory is stored in namespace `{}`; {nearest}", one_line(namespace, 60))
}

/// Says beside an answer in which of the named namespaces no memory is stored: they may be mistyped.
pub(crate) async fn tell_unknown(htm: &Htm, named: &[&str], output: &Output) -> htm_core::Result<()> {
    if !named.is_empty() {
        for note in unknown_namespaces(htm, named, true).await? {
            output.aside(&note);
        }
    }
    Ok(())
}

/// The time as of which an answer is, and what it cannot know.
pub(crate) fn describe_as_of(as_of: Option<&AsOf>, zone: &Zone) -> String {
    as_of.map_or_else(String::new, |AsOf { at, warning, .. }| {
        format!("\nas of {} ({zone}): {warning}", zone.local(*at).format("%Y-%m-%d %H:%M:%S"))
    })
}

/// A line if a model on standby answered for the active one.
pub(crate) fn describe_model(models: &[String], instead_of: Option<&str>) -> String {
    match instead_of {
        Some(active) => format!(
            "\nnote: the standby model `{}` answered: the active model `{active}` has no embedder here; see `htm doctor`",
            models.join("`, `")
        ),
        None => String::new(),
    }
}

/// Replaces the hint of each step that did not run by the command that fixes it, instead of the library's function.
pub(crate) fn name_commands(degraded: &mut [Degraded]) {
    for degraded in degraded {
        degraded.hint = commands::hint_of_step(degraded).unwrap_or_else(|| hint(&degraded.error));
    }
}

/// A line for each step that did not run. `models` were searched.
pub(crate) fn describe_degraded(degraded: &[Degraded], models: &[String]) -> String {
    let line = |degraded: &Degraded| {
        let what = match degraded.step {
            Step::Rerank => "not re-ranked",
            Step::Expansion => "fewer other phrasings, or none",
            Step::Vector if models.is_empty() => "no vector search",
            Step::Vector => "one of the models was not searched",
        };
        let why = one_line(&format!("{}; {}", degraded.reason, degraded.hint), 300);
        format!("\ndegraded: {what}: {why}")
    };
    degraded.iter().map(line).collect()
}

/// A line for each note, to follow an answer.
pub(crate) fn describe(notes: &[String]) -> String {
    notes.iter().map(|note| format!("\nnote: {}", one_line(note, 300))).collect()
}

/// A line for each difference between the searched words and those of the query.
pub(crate) fn describe_words(corrected: &[Correction], relaxed: bool) -> String {
    let mut text = String::new();
    if relaxed {
        text.push_str("\nno memory among those searched has the quoted phrase; searched for its words");
    }
    if !corrected.is_empty() {
        let word = |word: &Correction| {
            format!("`{}` instead of `{}`", one_line(&word.used, 40), one_line(&word.asked, 40))
        };
        let words: Vec<String> = corrected.iter().map(word).collect();
        text.push_str(&format!("\nno memory has these words; searched for {}", words.join(", ")));
    }
    text
}

/// The learnt ranking that answered for a namespace, and how to judge the recall.
pub(crate) fn describe_ranking(
    ranking: &RankingUsed,
    namespace: Option<&str>,
    recall: Option<&str>,
) -> String {
    let mut text = match ranking.version {
        0 => String::new(),
        version => format!(
            "\nordered by version {version} of what was learnt: `htm ranking show {version}{}`",
            plain(&commands::in_namespace(namespace))
        ),
    };
    if let Some(why) = &ranking.fallback {
        text.push_str(&format!("\nordered by the default ranking: {}", one_line(why, 200)));
    }
    if let Some(version) = ranking.interleaved_with {
        text.push_str(&format!("\nmixed with the hits of version {version}"));
    }
    if let Some(recall) = recall {
        text.push_str(&format!(
            "\nto judge it: `htm feedback last --used NODE,… --useless NODE,…` (recall {recall})"
        ));
    }
    text
}
