//! Lexemes of full-text search.

/// A lexeme, quoted for a `tsquery`.
pub(crate) fn quoted(lexeme: &str) -> String {
    format!("'{}'", lexeme.replace('\\', "\\\\").replace('\'', "''"))
}
