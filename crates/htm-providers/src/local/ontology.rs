//! The terms of the local tagger.

use htm_core::Result;

use crate::templates;

pub(super) use crate::templates::Term;

/// Reads the terms of `templates`, which are built-in names or paths. A term of two templates occurs twice, each with
/// its own description: `finance` at home differs from `finance` in a company.
pub(super) fn load(templates: &[String]) -> Result<Vec<Term>> {
    let mut terms = Vec::new();
    for template in templates {
        terms.extend(templates::read(template)?);
    }
    Ok(terms)
}

impl Term {
    /// The lines to embed: the name with the whole description, then each clause of the description.
    ///
    /// A text is usually about one of the things that a description lists, and is nearest to that clause. The whole
    /// line keeps a clause from attracting texts that only sound similar.
    pub(super) fn lines(&self) -> Vec<String> {
        let leaf = self.path.leaf().replace('-', " ");
        let mut lines = vec![format!("{leaf}: {}", self.description)];
        let clauses = self.description.split([',', ';', ':']).flat_map(|part| part.split(" and "));
        lines.extend(clauses.map(str::trim).filter(|clause| !clause.is_empty()).map(str::to_owned));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_embedded_whole_and_by_clauses() {
        let term = Term {
            path: "pet:guinea-pig".parse().unwrap(),
            description: "rodents at home, a cage and hay; squeaks".to_owned(),
        };
        assert_eq!(
            term.lines(),
            [
                "guinea pig: rodents at home, a cage and hay; squeaks",
                "rodents at home",
                "a cage",
                "hay",
                "squeaks"
            ]
        );
    }
}
