//! The structure of a text: its sections, and the places where it may be cut.

use std::ops::Range;
use std::sync::Arc;

use crate::unreadable::Unreadable;

/// The most sections of a text. Short ones are put together, so a text has far fewer passages.
const MAX_SECTIONS: usize = 25 * htm_core::MAX_PASSAGES;

/// A part of a text below one heading. The sections of a text are in its order, and leave out nothing but white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The headings above it, the outermost first.
    pub(crate) heading: Vec<Arc<str>>,
    /// Its place in the text.
    pub(crate) range: Range<usize>,
    /// Where its text begins behind its own heading.
    pub(crate) body: usize,
    /// The page that it is on, from 1.
    pub(crate) page: Option<u32>,
}

/// How well a text may be cut at a place. A cut at the end of a block keeps more together than one within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// The end of a part of a block, such as an item of a list.
    Part,
    /// The end of a block.
    Block,
}

/// The structure of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    pub(crate) sections: Vec<Section>,
    /// The ends of blocks, in the order of the text.
    pub(crate) breaks: Vec<(usize, Strength)>,
    /// The blocks of code between fences, in the order of the text.
    pub(crate) fences: Vec<Range<usize>>,
}

/// A heading of a text.
#[derive(Clone, Debug)]
pub(crate) struct Heading {
    /// 1 is the outermost.
    pub(crate) level: usize,
    pub(crate) text: Arc<str>,
    pub(crate) range: Range<usize>,
}

/// Adds a section, unless the text has too many.
pub(crate) fn add(sections: &mut Vec<Section>, section: Section) -> Result<(), Unreadable> {
    if sections.len() >= MAX_SECTIONS {
        return Err(Unreadable::TooLarge);
    }
    sections.push(section);
    Ok(())
}

/// The sections below headings, which are in the order of the text.
///
/// # Errors
/// [`Unreadable::TooLarge`].
pub(crate) fn sections(text: &str, start: usize, headings: &[Heading]) -> Result<Vec<Section>, Unreadable> {
    let mut sections = Vec::new();
    let first = headings.first().map_or(text.len(), |heading| heading.range.start);
    let mut add_filled = |heading: Vec<Arc<str>>, range: Range<usize>, body: usize| {
        if text[range.clone()].trim().is_empty() {
            return Ok(());
        }
        add(&mut sections, Section { heading, range, body, page: None })
    };
    add_filled(Vec::new(), start..first, start)?;
    let mut above: Vec<&Heading> = Vec::new();
    for (place, heading) in headings.iter().enumerate() {
        above.retain(|it| it.level < heading.level);
        above.push(heading);
        let end = headings.get(place + 1).map_or(text.len(), |next| next.range.start);
        let names = above.iter().filter(|it| !it.text.is_empty()).map(|it| it.text.clone()).collect();
        // What a cut heading leaves out stays in the text.
        let is_cut = heading.text.chars().count() > LONGEST;
        let body = if is_cut { heading.range.start } else { heading.range.end };
        add_filled(names, heading.range.start..end, body)?;
    }
    Ok(sections)
}

/// The most characters of a heading. A cut one has another, the sign of the cut.
const LONGEST: usize = 120;

/// A heading on one line.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
