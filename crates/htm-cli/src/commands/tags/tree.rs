//! `htm tags tree`: draws the ontology.

use std::path::Path;

use htm_core::ontology::TagUse;
use htm_core::{Ontology, TagTree};
use serde::Serialize;

use super::exchange;
use crate::args::{TreeArgs, TreeFormat};
use crate::destination::file_of;
use crate::drawing;
use crate::error::CliError;
use crate::output::Output;

#[derive(Serialize)]
struct Forest<'a> {
    namespace: &'a str,
    tags: &'a [TagTree],
}

pub(super) async fn tree(ontology: &Ontology<'_>, args: &TreeArgs, output: &Output) -> Result<(), CliError> {
    let leaf = |it: TagUse| TagTree::new(it.tag, it.description, it.nodes, it.total);
    let mut roots = TagTree::grow(ontology.list(args.root.as_deref()).await?.into_iter().map(leaf));
    TagTree::trim(&mut roots, args.depth.into(), args.min_count.into());
    let file = file_of(args.output.as_deref());
    let format = args.format.or_else(|| file.and_then(by_name)).unwrap_or(match output.is_json() {
        true => TreeFormat::Json,
        false => TreeFormat::Text,
    });
    let title = match &args.root {
        Some(_) if !roots.is_empty() => format!("{} in {}", roots[0].tag, ontology.namespace()),
        _ => format!("Tags of {}", ontology.namespace()),
    };
    let colours = file.is_none() && !output.is_json() && console::colors_enabled();
    let drawn = match format {
        TreeFormat::Text if roots.is_empty() => "no such tags".into(),
        TreeFormat::Text => drawing::text(&roots, colours),
        TreeFormat::Mermaid => drawing::mermaid(&title, &roots),
        TreeFormat::Svg => drawing::svg(&title, &roots),
        TreeFormat::Json => {
            let forest = Forest { namespace: ontology.namespace(), tags: &roots };
            serde_json::to_string(&forest).map_err(|error| exchange::unprintable(error.to_string()))?
        }
    };
    let tags = roots.iter().flat_map(TagTree::iter).count();
    exchange::write(file, format, &drawn, tags, output)
}

fn by_name(file: &Path) -> Option<TreeFormat> {
    match file.extension()?.to_str()?.to_lowercase().as_str() {
        "txt" => Some(TreeFormat::Text),
        "mmd" | "mermaid" => Some(TreeFormat::Mermaid),
        "svg" => Some(TreeFormat::Svg),
        "json" => Some(TreeFormat::Json),
        _ => None,
    }
}
