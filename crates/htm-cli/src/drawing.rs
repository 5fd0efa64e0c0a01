//! Drawings of trees of tags: text for a terminal, Mermaid for documents, SVG for viewing. No input or output.

mod layout;
mod mermaid;
mod svg;
mod text;

pub(crate) use self::mermaid::mermaid;
pub(crate) use self::svg::svg;
pub(crate) use self::text::text;
