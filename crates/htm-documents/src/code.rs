//! The structure of source code, of any language that is indented: a definition is a line with deeper lines below it.

use std::ops::Range;
use std::sync::Arc;

use crate::outline::{Outline, Section, Strength, add, one_line};
use crate::unreadable::Unreadable;

/// The deepest definition that is a section of its own: a module, a type in it, a method of that.
const DEPTH: usize = 3;
/// The columns of a tab.
const TAB: usize = 4;

struct Line<'a> {
    range: Range<usize>,
    text: &'a str,
    /// None: the line is blank.
    indent: Option<usize>,
}

/// The structure of source code. A definition with more than `size` characters has the definitions in it as sections.
pub(crate) fn outline(text: &str, size: usize) -> Result<Outline, Unreadable> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let indent = (!line.trim().is_empty()).then(|| indent(line));
        lines.push(Line { range: at..at + line.len(), text: line.trim(), indent });
        at += line.len();
    }
    let blank = lines.iter().filter(|line| line.indent.is_none());
    let breaks = blank.map(|line| (line.range.end, Strength::Part)).collect();
    let mut sections = Vec::new();
    within(text, &lines, &[], size, DEPTH, &mut sections)?;
    Ok(Outline { sections, breaks, fences: Vec::new() })
}

/// Adds the sections of lines, which are at the same place in the code's structure.
fn within(
    text: &str,
    lines: &[Line<'_>],
    above: &[Arc<str>],
    size: usize,
    depth: usize,
    sections: &mut Vec<Section>,
) -> Result<(), Unreadable> {
    let Some(least) = lines.iter().filter_map(|line| line.indent).min() else { return Ok(()) };
    // A part begins with a definition, or with what stands between two of them.
    let mut starts: Vec<(usize, Option<usize>)> = vec![(0, None)];
    let mut lead = None;
    for (place, line) in lines.iter().enumerate() {
        let Some(indent) = line.indent else {
            lead = None;
            continue;
        };
        if indent > least {
            lead = None;
            continue;
        }
        // The end of a definition, such as a brace.
        if !line.text.chars().any(char::is_alphanumeric) && line.text.starts_with(['}', ')', ']']) {
            lead = None;
            continue;
        }
        // Comments, attributes and decorators stand above what they are about.
        let first = *lead.get_or_insert(place);
        let next = lines[place + 1..].iter().find_map(|line| line.indent);
        if next.is_some_and(|next| next > least) {
            let definition = Some(place);
            match starts.last_mut().filter(|(start, found)| *start == first && found.is_none()) {
                Some((_, found)) => *found = definition,
                None => starts.push((first, definition)),
            }
            lead = None;
        }
    }
    for (number, (start, definition)) in starts.iter().enumerate() {
        let end = starts.get(number + 1).map_or(lines.len(), |(start, _)| *start);
        let part = &lines[*start..end];
        let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
        let range = first.range.start..last.range.end;
        if text[range.clone()].trim().is_empty() {
            continue;
        }
        let mut heading = above.to_vec();
        heading.extend(definition.map(|place| name(lines[place].text).into()));
        let inner = definition.map(|place| place + 1 - start);
        match inner.filter(|_| depth > 1 && text[range.clone()].chars().count() > size) {
            Some(inner) => {
                let head = &part[..inner];
                let at = head[0].range.start..head[inner - 1].range.end;
                let section = Section { heading: heading.clone(), body: at.start, range: at, page: None };
                add(sections, section)?;
                let body_end = part.iter().rposition(|line| line.indent.is_some_and(|it| it > least));
                let body_end = body_end.map_or(inner, |at| at + 1);
                within(text, &part[inner..body_end], &heading, size, depth - 1, sections)?;
                within(text, &part[body_end..], above, size, 1, sections)?;
            }
            None => add(sections, Section { heading, body: range.start, range, page: None })?,
        }
    }
    Ok(())
}

fn indent(line: &str) -> usize {
    let blank = line.chars().take_while(|c| c.is_whitespace());
    blank.map(|c| if c == '\t' { TAB } else { 1 }).sum()
}

/// The line of a definition without what opens its body.
fn name(line: &str) -> String {
    one_line(line.trim_end_matches(['{', ':', '(', '[', '=', '>', ' ']))
}
