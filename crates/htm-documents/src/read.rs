//! A file as a document.

use std::ops::Range;

use chrono::{DateTime, Utc};
use htm_core::DocumentKind;
use sha2::{Digest, Sha256};

use crate::cut::{Cutting, Piece, pieces};
use crate::front_matter::{self, FrontMatter};
use crate::outline::{Outline, Section};
use crate::pdf::PdfReader;
use crate::unreadable::Unreadable;
use crate::{MAX_FILE_BYTES, code, html, markdown, merge, pdf, plain};

/// The version of the cut. A document that was cut by another one is cut anew when it is loaded again.
const VERSION: u8 = 6;

/// The text of a file, and its passages.
#[derive(Clone, Debug)]
pub struct Read {
    /// The kind of the file.
    pub kind: DocumentKind,
    /// The title, of its front matter, its first heading or its head.
    pub title: Option<String>,
    /// The description in its front matter.
    pub description: Option<String>,
    /// The tags of its front matter, as they are written.
    pub tags: Vec<String>,
    /// When it was written, by its front matter.
    pub date: Option<DateTime<Utc>>,
    /// The date of its front matter, if it cannot be read.
    pub date_left_out: Option<String>,
    /// Why its front matter cannot be read, if it cannot. It is no part of the text.
    pub front_matter_left_out: Option<String>,
    /// The pages of a PDF that cannot be read.
    pub pages_left_out: Vec<u32>,
    /// SHA-256 of the bytes and of how they were cut.
    pub digest: [u8; 32],
    /// The text: that of the file, or the one that HTML or PDF shows.
    pub text: String,
    /// Its parts, in its order. They cover all of it but white space, the front matter, and headings without a text.
    pub passages: Vec<Passage>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The headings above it, the outermost first.
    pub heading: Vec<String>,
    /// Its bytes in [`Read::text`].
    pub range: Range<usize>,
    /// Where its text begins behind its own heading, which [`heading`](Self::heading) has.
    pub body: usize,
    /// The number of its first line, from 1.
    pub line: u32,
    /// The page that it is on, from 1; none: the document has no pages.
    pub page: Option<u32>,
}

/// The kind of a file by its name; none: any text.
pub fn kind_of(path: &str) -> Option<DocumentKind> {
    Some(match extension(path)?.as_str() {
        "md" | "markdown" | "mdown" | "mkd" | "mdx" | "qmd" => DocumentKind::Markdown,
        "html" | "htm" | "xhtml" => DocumentKind::Html,
        "pdf" => DocumentKind::Pdf,
        "txt" | "text" | "rst" | "adoc" | "asciidoc" | "org" | "tex" | "log" => DocumentKind::Text,
        "rs" | "py" | "pyi" | "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" | "go" | "java" | "kt" | "kts"
        | "scala" | "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "cs" | "swift" | "m" | "mm" | "rb"
        | "php" | "pl" | "pm" | "lua" | "r" | "jl" | "ex" | "exs" | "erl" | "hs" | "ml" | "mli" | "clj"
        | "lisp" | "el" | "sh" | "bash" | "zsh" | "fish" | "ps1" | "sql" | "proto" | "graphql" | "css"
        | "scss" | "vue" | "svelte" | "dart" | "zig" | "nim" | "tf" | "toml" | "yaml" | "yml" | "json"
        | "xml" | "ini" | "cfg" | "gradle" | "cmake" => DocumentKind::Code,
        _ => return None,
    })
}

fn extension(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    Some(name.rsplit_once('.')?.1.to_ascii_lowercase())
}

/// Reads the bytes of a file. Its name tells what kind it is; a name that tells nothing is of a text.
///
/// A PDF is read within this process: [`read_with`] reads one that nobody trusts.
///
/// # Errors
/// The reason why it is no document.
pub fn read(path: &str, bytes: &[u8], cutting: &Cutting) -> Result<Read, Unreadable> {
    read_with(path, bytes, cutting, &PdfReader::in_process())
}

/// As [`read`], with another reader of PDFs.
///
/// # Errors
/// The reason why it is no document.
pub fn read_with(path: &str, bytes: &[u8], cutting: &Cutting, pdfs: &PdfReader) -> Result<Read, Unreadable> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(Unreadable::TooLarge);
    }
    let kind = match kind_of(path) {
        _ if bytes.starts_with(b"%PDF-") => DocumentKind::Pdf,
        // A PDF by its name alone.
        Some(DocumentKind::Pdf) => return Err(Unreadable::Damaged),
        kind => kind.unwrap_or(DocumentKind::Text),
    };
    let cutting = cutting.clamped();
    let mut matter = FrontMatter::default();
    let (mut text, mut title, mut pages_left_out) = (String::new(), None, Vec::new());
    let outline = match kind {
        DocumentKind::Pdf => {
            let (pages, outline);
            (pages, pages_left_out) = pdf::pages(bytes, pdfs)?;
            (text, outline) = bound(&pages)?;
            outline
        }
        DocumentKind::Html => {
            let page = html::read(utf8(bytes)?, extension(path).as_deref() == Some("xhtml"))?;
            (text, title) = (page.text, page.title);
            page.outline
        }
        kind => {
            text.push_str(utf8(bytes)?);
            let start;
            (matter, start) = match kind {
                DocumentKind::Code => Default::default(),
                _ => front_matter::split(&text),
            };
            match kind {
                DocumentKind::Markdown => markdown::outline(&text, start)?,
                DocumentKind::Code => code::outline(&text, cutting.size)?,
                _ => plain::outline(&text, start)?,
            }
        }
    };
    let Outline { sections, breaks, fences } = outline;
    if kind != DocumentKind::Code {
        title = matter.title.take().or_else(|| only_outermost(&sections)).or(title);
    }
    let sections = merge::short(&text, sections, cutting.least, cutting.size);
    let outline = Outline { sections, breaks, fences };
    let pieces = pieces(&text, &outline, &cutting);
    if pieces.len() > htm_core::MAX_PASSAGES {
        return Err(Unreadable::TooLarge);
    }
    let mut passages = passages(&text, &outline, pieces);
    if passages.is_empty() && matter.description.is_some() {
        // A page that its front matter describes, and that says nothing more.
        passages.push(Passage { heading: Vec::new(), range: 0..0, body: 0, line: 1, page: None });
    }
    if passages.is_empty() {
        // A page that cannot be read may have had a text.
        return Err(if pages_left_out.is_empty() { Unreadable::Empty } else { Unreadable::Damaged });
    }
    let digest = digest(bytes, kind, &cutting);
    let FrontMatter { description, tags, date, date_left_out, left_out: front_matter_left_out, .. } = matter;
    Ok(Read {
        kind,
        title,
        description,
        tags,
        date,
        date_left_out,
        front_matter_left_out,
        pages_left_out,
        digest,
        text,
        passages,
    })
}

/// The text of bytes. A mark of the byte order is none of it.
fn utf8(bytes: &[u8]) -> Result<&str, Unreadable> {
    if bytes.contains(&0) {
        return Err(Unreadable::Binary);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| match has_controls(bytes) {
        true => Unreadable::Binary,
        false => Unreadable::NotUtf8,
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Whether the first bytes have control characters that texts of other encodings do not have.
fn has_controls(bytes: &[u8]) -> bool {
    let controls = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    bytes.iter().take(8 << 10).any(controls)
}

/// The first heading if all others are below it: the title of a text.
fn only_outermost(sections: &[Section]) -> Option<String> {
    let first = sections.iter().find_map(|section| section.heading.first())?;
    let is_above = |section: &Section| section.heading.first().is_none_or(|outermost| outermost == first);
    sections.iter().all(is_above).then(|| first.to_string())
}

/// The text of pages, each of them a section.
fn bound(pages: &[(u32, String)]) -> Result<(String, Outline), Unreadable> {
    let (mut text, mut outline) = (String::new(), Outline::default());
    for (number, page) in pages {
        let start = text.len();
        text.extend(page.trim().chars().filter(|c| *c != '\0'));
        text.push_str("\n\n");
        if !text[start..].trim().is_empty() {
            let inner = plain::outline(&text[start..], 0)?;
            outline.breaks.extend(inner.breaks.into_iter().map(|(at, strength)| (start + at, strength)));
            let (range, page) = (start..text.len(), Some(*number));
            outline.sections.push(Section { heading: Vec::new(), range, body: start, page });
        }
    }
    Ok((text, outline))
}

fn passages(text: &str, outline: &Outline, pieces: Vec<Piece>) -> Vec<Passage> {
    let (mut line, mut at) = (1, 0);
    let passage = |piece: Piece| {
        let section = &outline.sections[piece.section];
        let range = piece.range;
        // Passages may overlap, so a line is counted from the start of the last one.
        line += text[at..range.start].matches('\n').count() as u32;
        at = range.start;
        let body = if range.start <= section.body { section.body.min(range.end) } else { range.start };
        let heading = section.heading.iter().map(|it| it.to_string()).collect();
        Passage { heading, range, body, line, page: section.page }
    };
    pieces.into_iter().map(passage).collect()
}

fn digest(bytes: &[u8], kind: DocumentKind, cutting: &Cutting) -> [u8; 32] {
    let mut digest = Sha256::new();
    let how = format!("{VERSION} {} {} {} {kind}\n", cutting.size, cutting.overlap, cutting.least);
    digest.update(how.as_bytes());
    digest.update(bytes);
    digest.finalize().into()
}
