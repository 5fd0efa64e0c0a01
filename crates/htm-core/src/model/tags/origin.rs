//! The source of an assignment.

/// The source of a tag's assignment to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(
    serde::Serialize,
    serde::Deserialize,
    strum::Display,
    strum::EnumString,
    strum::AsRefStr,
    strum::IntoStaticStr
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TagOrigin {
    /// The caller of `remember`.
    Manual,
    /// A language model.
    Llm,
    /// The nearest terms of the ontology, by embedding.
    Local,
    /// A fixed rule.
    Rule,
}
