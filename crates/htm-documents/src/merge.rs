//! Short sections of a text, put together: a passage of a few words is found for little, and answers less.

use std::sync::Arc;

use crate::outline::Section;

/// The sections, of which those with fewer than `least` characters are put together with the next one below the same
/// heading, as long as both have at most `size`.
pub(crate) fn short(text: &str, sections: Vec<Section>, least: usize, size: usize) -> Vec<Section> {
    let count = |section: &Section| text[section.range.clone()].chars().count();
    let mut merged: Vec<(Section, usize)> = Vec::new();
    for section in sections {
        let characters = count(&section);
        match merged.last_mut() {
            // A heading that others follow at once.
            Some((last, before))
                if text[last.body..last.range.end].trim().is_empty()
                    && section.heading.starts_with(&last.heading) =>
            {
                last.range.end = section.range.end;
                (last.heading, last.body) = (section.heading, section.body);
                *before += characters;
            }
            Some((last, before))
                if (*before < least || characters < least)
                    && *before + characters <= size
                    && last.page == section.page
                    && related(&last.heading, &section.heading) =>
            {
                last.range.end = section.range.end;
                last.heading = common(&last.heading, &section.heading);
                // The headings of both are parts of the text.
                last.body = last.range.start;
                *before += characters;
            }
            _ => merged.push((section, characters)),
        }
    }
    merged.into_iter().map(|(section, _)| section).collect()
}

/// Whether two sections are below the same heading, or one is below the other.
fn related(a: &[Arc<str>], b: &[Arc<str>]) -> bool {
    let common = common(a, b).len();
    common == a.len().min(b.len()) || (a.len() == b.len() && common + 1 == a.len())
}

fn common(a: &[Arc<str>], b: &[Arc<str>]) -> Vec<Arc<str>> {
    a.iter().zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a.clone()).collect()
}
