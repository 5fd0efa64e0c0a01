//! Prefixes. Some models are trained with different ones for queries and documents.

use htm_core::provider::Purpose;

/// The prefixes of a model.
#[derive(Debug)]
pub(crate) struct Prefixes {
    document: String,
    query: String,
}

impl Prefixes {
    /// The prefixes of the settings, else those of the model's card.
    pub(crate) fn new(model: &str, document: Option<String>, query: Option<String>) -> Self {
        // https://huggingface.co/nomic-ai/nomic-embed-text-v1.5#usage; Ollama's template does not add them.
        let nomic = model.contains("nomic-embed-text");
        let default = |text: &str| if nomic { text.to_owned() } else { String::new() };
        Self {
            document: document.unwrap_or_else(|| default("search_document: ")),
            query: query.unwrap_or_else(|| default("search_query: ")),
        }
    }

    /// The prefix of each text. May be empty.
    pub(crate) fn of(&self, purpose: Purpose) -> &str {
        match purpose {
            Purpose::Document => &self.document,
            Purpose::Query => &self.query,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nomic_has_its_own_and_settings_win() {
        let of = |model: &str, document: Option<&str>, purpose| {
            Prefixes::new(model, document.map(str::to_owned), None).of(purpose).to_owned()
        };
        let nomic = "nomic-embed-text:v1.5";
        assert_eq!(of(nomic, None, Purpose::Document), "search_document: ");
        assert_eq!(of(nomic, None, Purpose::Query), "search_query: ");
        assert_eq!(of(nomic, Some(""), Purpose::Document), "");
        assert_eq!(of("other", None, Purpose::Query), "");
    }
}
