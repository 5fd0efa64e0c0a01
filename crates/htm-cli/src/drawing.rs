//! Trees of tags as pictures: text for a terminal, Mermaid for a document, SVG for the eye. Pure.

mod layout;
mod mermaid;
mod svg;
mod text;

pub(crate) use self::mermaid::mermaid;
pub(crate) use self::svg::svg;
pub(crate) use self::text::text;
