//! The commands that only read tags.

use htm_core::ontology::{DistinctTags, LoggedChange, TagDetails, TagUse};
use htm_core::provider::Embedder;
use htm_core::{Filter, Ontology, Zone};
use htm_runtime::commands::in_namespace;

use crate::error::CliError;
use crate::instant::{local, local_or_dash};
use crate::output::{Output, count, fields, limited, one_line, plain, table};

/// The most characters of a description, or of a memory, in a row.
const WIDTH: usize = 60;

pub(super) async fn list(
    ontology: &Ontology<'_>,
    below: Option<&str>,
    zone: &Zone,
    output: &Output,
) -> Result<(), CliError> {
    let tags = ontology.list(below).await?;
    output.value(&tags, || counted(&tags, zone));
    Ok(())
}

pub(super) async fn popular(
    ontology: &Ontology<'_>,
    filter: &Filter,
    limit: u32,
    zone: &Zone,
    output: &Output,
) -> Result<(), CliError> {
    let tags = ontology.popular(filter, limit).await?;
    output.value(&tags, || counted(&tags, zone) + &limited(tags.len(), limit as usize));
    Ok(())
}

pub(super) async fn show(
    ontology: &Ontology<'_>,
    tag: &str,
    zone: &Zone,
    output: &Output,
) -> Result<(), CliError> {
    let details = ontology.show(tag).await?;
    output.value(&details, || describe(&details, zone));
    Ok(())
}

pub(super) async fn orphans(
    ontology: &Ontology<'_>,
    namespace: Option<&str>,
    max: u32,
    output: &Output,
) -> Result<(), CliError> {
    let orphans = ontology.orphans(max).await?;
    output.value(&orphans, || {
        if orphans.is_empty() {
            return "no tag has so few nodes".into();
        }
        let of = plain(&in_namespace(namespace));
        let row = |it: &htm_core::ontology::Orphan| {
            let merge =
                it.merge_into.as_ref().map(|into| format!("htm tags merge {} {into}{of}", it.tag.tag));
            let remove = || format!("htm tags remove {}{of}", it.tag.tag);
            vec![it.tag.tag.to_string(), it.tag.total.to_string(), merge.unwrap_or_else(remove)]
        };
        table(&["TAG", "TOTAL", "SUGGESTED"], &[1], orphans.iter().map(row).collect())
    });
    Ok(())
}

pub(super) async fn suggest(
    ontology: &Ontology<'_>,
    embedder: Option<&dyn Embedder>,
    limit: u32,
    output: &Output,
) -> Result<(), CliError> {
    let suggestions = ontology.suggest(embedder, limit).await?;
    output.value(&suggestions, || {
        if suggestions.is_empty() {
            return "no synonymous tags found".into();
        }
        let share = |it: Option<f32>| it.map_or("–".into(), |it| format!("{it:.2}"));
        let row = |it: &htm_core::ontology::Suggestion| {
            let nodes = |tag: &htm_core::TagPath, nodes: i64| format!("{tag} ({nodes})");
            vec![
                nodes(&it.from, it.from_nodes),
                nodes(&it.into, it.into_nodes),
                share(it.name),
                share(it.nodes),
                share(it.meaning),
            ]
        };
        let header = ["MERGE", "INTO", "NAME", "NODES", "MEANING"];
        table(&header, &[2, 3, 4], suggestions.iter().map(row).collect())
            + &limited(suggestions.len(), limit as usize)
    });
    Ok(())
}

pub(super) async fn similar(
    ontology: &Ontology<'_>,
    text: &str,
    limit: u32,
    output: &Output,
) -> Result<(), CliError> {
    let tags = ontology.similar(text, limit).await?;
    output.value(&tags, || {
        if tags.is_empty() {
            return "no tag has a similar name".into();
        }
        let rows = tags.iter().map(|it| vec![it.tag.clone(), format!("{:.2}", it.similarity)]);
        table(&["TAG", "SIMILARITY"], &[1], rows.collect()) + &limited(tags.len(), limit as usize)
    });
    Ok(())
}

pub(super) async fn cooccur(
    ontology: &Ontology<'_>,
    tag: Option<&str>,
    filter: &Filter,
    min: u32,
    limit: u32,
    output: &Output,
) -> Result<(), CliError> {
    let pairs = ontology.cooccurring(tag, filter, min, limit).await?;
    output.value(&pairs, || {
        if pairs.is_empty() {
            return format!("no two tags share {}", count(min, "node"));
        }
        let rows = pairs.iter().map(|it| {
            let share = format!("{:.2}", it.jaccard);
            vec![it.tag.clone(), it.other.clone(), it.nodes.to_string(), share]
        });
        table(&["TAG", "OTHER", "NODES", "SHARE"], &[2, 3], rows.collect())
            + &limited(pairs.len(), limit as usize)
    });
    Ok(())
}

pub(super) async fn synonyms(ontology: &Ontology<'_>, output: &Output) -> Result<(), CliError> {
    let synonyms = ontology.synonyms().await?;
    output.value(&synonyms, || {
        if synonyms.is_empty() {
            return "no synonyms".into();
        }
        table(
            &["NAME", "TAG"],
            &[],
            synonyms.iter().map(|it| vec![it.name.clone(), it.tag.clone()]).collect(),
        )
    });
    Ok(())
}

pub(super) async fn distinct(ontology: &Ontology<'_>, output: &Output) -> Result<(), CliError> {
    let pairs = ontology.distinct().await?;
    output.value(&pairs, || {
        if pairs.is_empty() {
            return "no tags are marked as distinct".into();
        }
        let row = |it: &DistinctTags| vec![it.tag.to_string(), it.other.to_string()];
        table(&["TAG", "OTHER"], &[], pairs.iter().map(row).collect())
    });
    Ok(())
}

pub(super) async fn log(
    ontology: &Ontology<'_>,
    limit: u32,
    zone: &Zone,
    output: &Output,
) -> Result<(), CliError> {
    let changes = ontology.log(None, limit).await?;
    output.value(&changes, || {
        if changes.is_empty() {
            return "no changes yet".into();
        }
        let row = |it: &LoggedChange| {
            vec![
                it.change.to_string(),
                local(it.made_at, zone),
                it.kind.as_ref().replace('_', " "),
                it.nodes.to_string(),
                plain(it.made_by.as_deref().unwrap_or("–")),
                it.reverted_by.map_or("–".into(), |by| by.to_string()),
                one_line(&asked(it), WIDTH),
            ]
        };
        let header = ["CHANGE", "MADE", "KIND", "NODES", "BY", "REVERTED BY", "WHAT"];
        table(&header, &[0, 3, 5], changes.iter().map(row).collect())
            + &limited(changes.len(), limit as usize)
    });
    Ok(())
}

/// The names in a change, as `a, b → c`. Each kind of change has some of these parts.
fn asked(it: &LoggedChange) -> String {
    let text = |name: &str| match &it.details[name] {
        serde_json::Value::Array(names) => {
            let names = names.iter().filter_map(|name| name.as_str());
            Some(names.collect::<Vec<_>>().join(", "))
        }
        serde_json::Value::String(name) => Some(name.clone()),
        serde_json::Value::Number(number) if name == "change" => Some(format!("change {number}")),
        serde_json::Value::Number(number) => number.as_u64().map(|tags| count(tags, "tag")),
        _ => None,
    };
    let first = |names: &[&str]| names.iter().find_map(|name| text(name));
    let (from, to) = match it.kind.as_ref() {
        "add_synonym" | "remove_synonym" => (text("name"), text("tag")),
        _ => (first(&["from", "tag", "tags", "change"]), first(&["to", "into"])),
    };
    [from, to].into_iter().flatten().collect::<Vec<_>>().join(" → ")
}

fn counted(tags: &[TagUse], zone: &Zone) -> String {
    if tags.is_empty() {
        return "there are no tags".into();
    }
    let row = |it: &TagUse| {
        vec![
            it.tag.to_string(),
            it.nodes.to_string(),
            it.total.to_string(),
            local_or_dash(it.last_used, zone),
            it.description.as_deref().map_or("–".into(), |text| one_line(text, WIDTH)),
        ]
    };
    let header = ["TAG", "NODES", "TOTAL", "LAST USED", "ABOUT"];
    table(&header, &[1, 2], tags.iter().map(row).collect())
}

fn describe(it: &TagDetails, zone: &Zone) -> String {
    let or_none = |names: Vec<String>| if names.is_empty() { "–".into() } else { names.join(", ") };
    let children = it.children.iter().map(|it| format!("{} ({})", it.tag.leaf(), it.total));
    let origins = it.origins.iter().map(|it| {
        let by = [it.model.as_deref(), it.prompt_version.as_deref()];
        let by: String = by.into_iter().flatten().map(|it| format!(" {it}")).collect();
        let sure = it.mean_confidence.map(|it| format!(", confidence {it:.2}")).unwrap_or_default();
        format!("{} {}{by}{sure}", it.nodes, it.origin)
    });
    let mut rows: Vec<(&str, String)> = vec![
        ("tag", it.tag.tag.to_string()),
        ("about", it.tag.description.clone().unwrap_or_else(|| "–".into())),
        ("nodes", format!("{}, {} with those below it", it.tag.nodes, it.tag.total)),
        ("assigned", or_none(origins.collect())),
        ("last used", local_or_dash(it.tag.last_used, zone)),
        ("registered", local(it.tag.created_at, zone)),
        ("synonyms", or_none(it.synonyms.clone())),
        ("above", or_none(it.parents.iter().map(ToString::to_string).collect())),
        ("below", or_none(children.collect())),
        ("beside", or_none(it.siblings.iter().map(ToString::to_string).collect())),
    ];
    for (what, tags) in [("split into", &it.tag.split_into), ("not the same", &it.tag.distinct_from)] {
        if !tags.is_empty() {
            rows.push((what, tags.join(", ")));
        }
    }
    rows.extend(
        it.newest.iter().map(|it| ("node", format!("{}  {}", it.node, one_line(&it.content, WIDTH)))),
    );
    fields(&rows)
}
