//! The kinds of a vector index.

use strum::VariantArray;

use crate::model::error::{Error, codes};

/// The kind of the index of a model's vectors.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    strum::Display,
    strum::EnumString,
    strum::VariantArray
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", parse_err_ty = String, parse_err_fn = no_kind)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum VectorIndex {
    /// HNSW over half-precision vectors, of pgvector.
    Hnsw,
    /// HNSW over the signs of the vectors, of pgvector. With 384 dimensions it has a third of the size; recall compares its
    /// candidates by their vectors.
    HnswBinary,
    /// DiskANN, of pgvectorscale. Recall compares its candidates by their vectors.
    Diskann,
    /// RaBitQ, of VectorChord.
    Vchordrq,
    /// No index: each search compares all vectors in scope.
    None,
}

fn no_kind(text: &str) -> String {
    let known: Vec<String> = VectorIndex::VARIANTS.iter().map(ToString::to_string).collect();
    format!("there is no kind of vector index `{text}`; kinds are {}", known.join(", "))
}

impl VectorIndex {
    /// The extension that brings it.
    pub fn extension(self) -> Option<&'static str> {
        match self {
            Self::Hnsw | Self::HnswBinary => Some("vector"),
            Self::Diskann => Some("vectorscale"),
            Self::Vchordrq => Some("vchord"),
            Self::None => None,
        }
    }

    /// The access method, by its name in PostgreSQL.
    pub(crate) fn method(self) -> Option<&'static str> {
        match self {
            Self::Hnsw | Self::HnswBinary => Some("hnsw"),
            Self::Diskann => Some("diskann"),
            Self::Vchordrq => Some("vchordrq"),
            Self::None => None,
        }
    }
}

/// The database lacks the extension of this kind. `usable` lists the kinds that it has.
pub(crate) fn unavailable(kind: VectorIndex, usable: &[VectorIndex]) -> Error {
    let usable = usable.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let extension = kind.extension().unwrap_or_default();
    let hint =
        format!("install it and run `create extension {extension}` in the database, or use one of: {usable}");
    let message =
        format!("the database has no index of the kind {kind}: the extension {extension} is missing");
    Error::new(codes::VECTOR_INDEX_UNAVAILABLE, message)
        .with_hint(hint)
        .with_value("kind", kind)
        .with_value("usable", usable)
}
