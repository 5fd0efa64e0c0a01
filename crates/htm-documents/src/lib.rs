//! Documents as passages: Markdown, HTML, PDF, text and source code, cut by their structure.
//!
//! [`read`] takes the bytes of a file and gives its text, its title, the tags of its front matter, and passages: parts of
//! the text that are small enough to be found and put into a prompt, each with the headings above it and its place. It
//! reads no file and no clock, and fails only with an [`Unreadable`], whatever the bytes are.
//!
//! ```
//! use htm_documents::{Cutting, read};
//! let read = read("guide.md", b"# Guide\n\n## Install\n\nRun the installer.\n", &Cutting::default()).unwrap();
//! assert_eq!(read.title.as_deref(), Some("Guide"));
//! assert_eq!(read.passages[0].heading, ["Guide", "Install"]);
//! ```

mod code;
mod cut;
mod document;
mod front_matter;
mod html;
mod markdown;
mod merge;
mod outline;
mod pdf;
mod plain;
mod read;
mod unreadable;

pub use cut::Cutting;
pub use pdf::PdfReader;
pub use read::{Passage, Read, kind_of, read, read_with};
pub use unreadable::Unreadable;

/// The most bytes of a file.
pub const MAX_FILE_BYTES: usize = 16 << 20;
