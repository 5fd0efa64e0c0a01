//! The contents of a file, as the memory loads them.

use htm_core::tag::{TagPath, TagRules};
use htm_core::{Document, DocumentPassage};

use crate::read::Read;

/// The separator of the title and the headings above a passage.
const BETWEEN: &str = " › ";
/// The most bytes of the line of headings that a passage begins with.
const HEADINGS: usize = 400;

impl Read {
    /// The document to load, with further tags, and the tags of its front matter that no rule makes valid.
    ///
    /// The text of each passage begins with a line of the title and the headings above it: the passage is about what they
    /// say, though it may not repeat it.
    pub fn document(
        self,
        path: &str,
        bytes: u64,
        rules: &TagRules,
        tags: &[TagPath],
    ) -> (Document, Vec<String>) {
        let mut tags = tags.to_vec();
        let mut left_out = Vec::new();
        for tag in &self.tags {
            match rules.normalise(tag) {
                Ok(tag) => tags.push(tag),
                Err(_) => left_out.push(tag.clone()),
            }
        }
        tags.sort();
        tags.dedup();
        let name = match self.kind {
            // The path of code describes its subject.
            htm_core::DocumentKind::Code => path,
            _ => self.title.as_deref().unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path)),
        };
        let passages = self.passages.iter().enumerate().map(|(place, passage)| {
            let text = self.text[passage.body..passage.range.end].trim_start_matches(['\r', '\n']).trim_end();
            let first = passage.heading.first().filter(|first| *first == name);
            let names =
                first.is_none().then_some(name).into_iter().chain(passage.heading.iter().map(String::as_str));
            let mut content = shortened(names.collect::<Vec<_>>());
            let about = self.description.as_deref().filter(|_| place == 0);
            for part in about.into_iter().chain(Some(text).filter(|text| !text.is_empty())) {
                content.push_str("\n\n");
                content.push_str(part);
            }
            DocumentPassage {
                content,
                heading: passage.heading.clone(),
                line: passage.line,
                page: passage.page,
                start: passage.range.start as u64,
                end: passage.range.end as u64,
            }
        });
        let document = Document {
            namespace: None,
            path: path.to_owned(),
            kind: self.kind,
            bytes,
            digest: self.digest,
            at: self.date,
            passages: passages.collect(),
            title: self.title,
            tags,
        };
        (document, left_out)
    }
}

/// The names in one line. The ones in the middle are left out where it would be too long.
fn shortened(names: Vec<&str>) -> String {
    let line = names.join(BETWEEN);
    if line.len() <= HEADINGS {
        return line;
    }
    let ends = [names.first(), names.last()].into_iter().flatten();
    let cut = |name: &&str| name.chars().take(HEADINGS / 8).collect::<String>();
    ends.map(cut).collect::<Vec<_>>().join(&format!("{BETWEEN}…{BETWEEN}"))
}
