//! Words as full text has them.

/// A lexeme as a `tsquery` has it.
pub(crate) fn quoted(lexeme: &str) -> String {
    format!("'{}'", lexeme.replace('\\', "\\\\").replace('\'', "''"))
}
