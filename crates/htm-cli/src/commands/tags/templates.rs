//! `htm tags templates` and `apply-template`: ready-made ontologies.

use htm_core::ontology::{DocumentTag, OntologyDocument};
use htm_providers::templates;
use serde::Serialize;

use crate::codes;
use crate::error::CliError;
use crate::output::{Output, one_line, table};

#[derive(Serialize)]
struct Template {
    name: &'static str,
    terms: usize,
    /// The tags of the first level.
    roots: Vec<String>,
}

pub(super) fn list(output: &Output) -> Result<(), CliError> {
    let mut found = Vec::new();
    for name in templates::built_in() {
        let document = read(name)?;
        let roots = document.tags.iter().filter(|it| it.tag.depth() == 1).map(|it| it.tag.to_string());
        found.push(Template { name, terms: document.tags.len(), roots: roots.collect() });
    }
    output.value(&found, || {
        let row =
            |it: &Template| vec![it.name.into(), it.terms.to_string(), one_line(&it.roots.join(", "), 70)];
        table(&["TEMPLATE", "TERMS", "ROOTS"], &[1], found.iter().map(row).collect())
    });
    Ok(())
}

/// Reads the terms of a template, before the database is opened.
pub(super) fn read(template: &str) -> Result<OntologyDocument, CliError> {
    let terms = templates::read(template).map_err(|error| {
        CliError::new(codes::TEMPLATE_INVALID, one_line(&error.to_string(), 400)).with_hint(error.hint())
    })?;
    let tags = terms.into_iter().map(|term| DocumentTag::new(term.path, Some(term.description)));
    Ok(OntologyDocument::new(tags.collect()))
}
