//! The structure of Markdown, by CommonMark's rules.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::outline::{Heading, Outline, Strength, one_line, sections};
use crate::unreadable::Unreadable;

/// The structure of the Markdown that begins at `start`. Headings within quotes and lists are no sections.
pub(crate) fn outline(text: &str, start: usize) -> Result<Outline, Unreadable> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS;
    let mut breaks = Vec::new();
    let mut headings = Vec::new();
    let mut fences = Vec::new();
    let mut depth = 0_usize;
    let mut open: Option<String> = None;
    for (event, range) in Parser::new_ext(&text[start..], options).into_offset_iter() {
        let range = range.start + start..range.end + start;
        match event {
            Event::Start(tag) => {
                if matches!(tag, Tag::Heading { .. }) && depth == 0 {
                    open = Some(String::new());
                }
                if matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_))) {
                    fences.push(range);
                }
                depth += 1;
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                if let (TagEnd::Heading(level), Some(name)) = (tag, open.take_if(|_| depth == 0)) {
                    headings.push(Heading {
                        level: level as usize,
                        text: one_line(&name).into(),
                        range: range.clone(),
                    });
                }
                // A line break ends most blocks, and is a part of them.
                match tag {
                    _ if depth == 0 => breaks.push((range.end, Strength::Block)),
                    TagEnd::Item | TagEnd::Paragraph | TagEnd::CodeBlock | TagEnd::TableRow => {
                        breaks.push((range.end, Strength::Part));
                    }
                    _ => {}
                }
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(name) = &mut open {
                    name.push_str(&part);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(name) = &mut open {
                    name.push(' ');
                }
            }
            _ => {}
        }
    }
    breaks.sort_unstable_by_key(|(at, strength)| (*at, std::cmp::Reverse(*strength)));
    breaks.dedup_by_key(|(at, _)| *at);
    breaks.retain(|(at, _)| text.is_char_boundary(*at));
    fences.retain(|it| text.is_char_boundary(it.start) && text.is_char_boundary(it.end));
    Ok(Outline { sections: sections(text, start, &headings)?, breaks, fences })
}
