//! What some models want before a text, so that questions and documents meet.

use htm_core::provider::Purpose;

/// The prefixes of a model.
#[derive(Debug)]
pub(crate) struct Prefixes {
    document: String,
    query: String,
}

impl Prefixes {
    /// What the settings say, else what the model's card says.
    pub(crate) fn new(model: &str, document: Option<String>, query: Option<String>) -> Self {
        // https://huggingface.co/nomic-ai/nomic-embed-text-v1.5#usage; Ollama's template does not add them.
        let nomic = model.contains("nomic-embed-text");
        let default = |text: &str| if nomic { text.to_owned() } else { String::new() };
        Self {
            document: document.unwrap_or_else(|| default("search_document: ")),
            query: query.unwrap_or_else(|| default("search_query: ")),
        }
    }

    /// `texts` as they are sent. An empty one becomes a space: OpenAI refuses an empty string, and with it
    /// the whole batch.
    pub(crate) fn apply(&self, texts: &[String], purpose: Purpose) -> Vec<String> {
        let prefix = match purpose {
            Purpose::Document => &self.document,
            Purpose::Query => &self.query,
        };
        let sent = texts.iter().map(|text| format!("{prefix}{text}"));
        sent.map(|text| if text.is_empty() { " ".to_owned() } else { text }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nomic_has_its_own_and_settings_win() {
        let sent = |model: &str, document: Option<&str>, purpose| {
            Prefixes::new(model, document.map(str::to_owned), None)
                .apply(&["x".to_owned(), String::new()], purpose)
        };
        let nomic = "nomic-embed-text:v1.5";
        assert_eq!(sent(nomic, None, Purpose::Document), ["search_document: x", "search_document: "]);
        assert_eq!(sent(nomic, None, Purpose::Query), ["search_query: x", "search_query: "]);
        assert_eq!(sent(nomic, Some(""), Purpose::Document), ["x", " "]);
        assert_eq!(sent("other", None, Purpose::Query), ["x", " "]);
    }
}
