//! The text of HTML with its structure. Only tokens are read, without a tree: no nesting is too deep for the stack.

mod attributes;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

use crate::outline::{Heading, Outline, Strength, one_line, sections};
use crate::unreadable::Unreadable;
use attributes::Opened;

/// The time for a page, as for a PDF.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most bytes that are read without a look at the time and at the open tag.
const PART: usize = 4 << 10;
/// Elements whose text is none of the document's.
const HIDDEN: &[&str] =
    &["script", "style", "noscript", "template", "svg", "iframe", "object", "select", "button"];
/// Elements of a page around its document.
const AROUND: &[&str] = &["nav", "footer"];
/// Elements that stand apart from the text around them.
const BLOCKS: &[&str] = &[
    "p",
    "pre",
    "table",
    "ul",
    "ol",
    "dl",
    "blockquote",
    "figure",
    "hr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "section",
    "article",
    "main",
    "header",
    "aside",
    "details",
    "body",
];
/// Elements that begin a line.
const LINES: &[&str] =
    &["div", "br", "li", "tr", "dt", "dd", "caption", "figcaption", "summary", "option", "thead"];

/// A page as text.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    pub(crate) outline: Outline,
}

/// Reads a page. The text is that of its `main`, or of its only `article` if that has most of it, otherwise all but
/// navigation and footers. In XML, any element may be empty: `<title/>`. HTML reads this as a start tag.
pub(crate) fn read(source: &str, is_xml: bool) -> Result<Page, Unreadable> {
    let is_xml = is_xml || source.trim_start().starts_with("<?xml");
    let end = Instant::now() + PATIENCE;
    let mut collected = collect(source, is_xml, true, end)?;
    // An element that is never closed may hide all of the text.
    if collected.text.trim().is_empty() {
        collected = collect(source, is_xml, false, end)?;
    }
    let core = collected.core();
    let Collected { title, mut text, mut headings, mut breaks, .. } = collected;
    if let Some((from, to)) = core {
        text = text[from..to].to_owned();
        headings.retain(|it| it.range.start >= from && it.range.end <= to);
        headings.iter_mut().for_each(|it| it.range = it.range.start - from..it.range.end - from);
        breaks.retain(|(at, _)| (from..=to).contains(at));
        breaks.iter_mut().for_each(|(at, _)| *at -= from);
    }
    let title = Some(one_line(&title)).filter(|title| !title.is_empty());
    Ok(Page {
        title,
        outline: Outline { sections: sections(&text, 0, &headings)?, breaks, fences: Vec::new() },
        text,
    })
}

fn collect(source: &str, is_xml: bool, skips_around: bool, end: Instant) -> Result<Collected, Unreadable> {
    let collected = RefCell::new(Collected { skips_around, ..Collected::default() });
    let sink = Sink { is_xml, collected, tokens: Cell::new(0) };
    // It would look for a mark at the start of every part.
    let options = TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() };
    let tokenizer = Tokenizer::new(sink, options);
    feed(&tokenizer, source.strip_prefix('\u{feff}').unwrap_or(source), end)?;
    tokenizer.end();
    let mut collected = tokenizer.sink.collected.into_inner();
    collected.end_main();
    Ok(collected)
}

/// Has a source tokenized in parts that end with a `<`, or are short. A part that yields no token is in the midst of a tag
/// or a comment.
fn feed(tokenizer: &Tokenizer<Sink>, source: &str, end: Instant) -> Result<(), Unreadable> {
    // A tendril has at most 4 GiB; files are far smaller.
    let (whole, input) = (StrTendril::from(source), BufferQueue::default());
    let (mut from, mut opened) = (0, None);
    for (place, piece) in source.split_inclusive('<').enumerate() {
        if place > 0 && opened.is_none() {
            opened = Opened::by(piece);
        }
        let (before, mut rest) = (tokenizer.sink.tokens.get(), piece);
        while !rest.is_empty() {
            let (part, more) = rest.split_at(rest.floor_char_boundary(PART));
            input.push_back(whole.subtendril(from, part.len() as u32));
            (from, rest) = (from + part.len() as u32, more);
            while !input.is_empty() {
                let _ = tokenizer.feed(&input);
            }
            if tokenizer.sink.tokens.get() != before {
                opened = None;
            }
            if let Some(opened) = &mut opened {
                opened.read(part);
                if opened.is_too_much() {
                    return Err(Unreadable::TooLarge);
                }
            }
            if Instant::now() > end {
                return Err(Unreadable::TooSlow);
            }
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Collected {
    skips_around: bool,
    title: String,
    text: String,
    headings: Vec<Heading>,
    breaks: Vec<(usize, Strength)>,
    /// The ranges of the `main` and `article` elements.
    mains: Vec<(usize, usize)>,
    articles: Vec<(usize, usize)>,
    in_title: bool,
    /// The element that is left out, and how many of its name are open.
    hidden: Option<(String, usize)>,
    /// How many `pre` are open.
    preformatted: usize,
    /// The open `main` or `article`: its start, how many are open, and whether the outermost is a `main`.
    open_main: Option<(usize, usize, bool)>,
    /// The level and the start of an open heading.
    open_heading: Option<(usize, usize)>,
    /// The cells of the row so far.
    cells: usize,
    /// Whether white space stands before the next word.
    blank: bool,
}

impl Collected {
    fn characters(&mut self, text: &str) {
        if self.in_title {
            return self.title.push_str(text);
        }
        if self.hidden.is_some() {
            return;
        }
        if self.preformatted > 0 {
            return self.text.push_str(&text.replace("\r\n", "\n"));
        }
        for (place, word) in text.split(|c: char| c.is_ascii_whitespace()).enumerate() {
            self.blank |= place > 0;
            if word.is_empty() {
                continue;
            }
            if self.blank && !self.text.is_empty() && !self.text.ends_with(['\n', ' ']) {
                self.text.push(' ');
            }
            self.blank = false;
            self.text.push_str(word);
        }
    }

    /// Ends the line, with as many line breaks as there have to be.
    fn line(&mut self, breaks: usize) {
        self.blank = false;
        if self.preformatted == 0 {
            self.text.truncate(self.text.trim_end_matches(' ').len());
        }
        // Preformatted text may end with any number of line breaks: no more are counted than are needed.
        let there = self.text.bytes().rev().take(breaks).take_while(|byte| *byte == b'\n').count();
        if !self.text.is_empty() {
            (there..breaks).for_each(|_| self.text.push('\n'));
            let strength = if breaks > 1 { Strength::Block } else { Strength::Part };
            match self.breaks.last_mut() {
                Some((at, last)) if *at == self.text.len() => *last = strength.max(*last),
                _ => self.breaks.push((self.text.len(), strength)),
            }
        }
    }

    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let opens = tag.kind == TagKind::StartTag;
        if let Some((hidden, depth)) = &mut self.hidden {
            if hidden == name {
                *depth = if opens { *depth + usize::from(!tag.self_closing) } else { *depth - 1 };
            }
            self.hidden.take_if(|(_, depth)| *depth == 0);
            return if opens { raw(name) } else { TokenSinkResult::Continue };
        }
        match name {
            // A picture may have a title, too.
            "title" => self.in_title = opens && self.title.is_empty(),
            _ if opens && self.hides(name) && !tag.self_closing => self.hidden = Some((name.to_owned(), 1)),
            "pre" => {
                self.line(2);
                self.preformatted =
                    if opens { self.preformatted + 1 } else { self.preformatted.saturating_sub(1) };
            }
            "main" | "article" => {
                self.line(2);
                match (&mut self.open_main, opens) {
                    (Some((_, depth, _)), true) => *depth += 1,
                    (Some((_, depth, _)), false) if *depth > 1 => *depth -= 1,
                    (Some(_), false) => self.end_main(),
                    (None, true) => self.open_main = Some((self.text.len(), 1, name == "main")),
                    (None, false) => {}
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_heading();
                self.line(2);
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.open_heading = opens.then_some((level, self.text.len()));
            }
            "tr" => {
                self.line(1);
                self.cells = 0;
            }
            "td" | "th" if opens => {
                if self.cells > 0 {
                    self.text.push_str(" | ");
                }
                self.cells += 1;
                self.blank = false;
            }
            "li" if opens => {
                self.line(1);
                self.text.push_str("- ");
            }
            _ if BLOCKS.contains(&name) => self.line(2),
            _ if LINES.contains(&name) => self.line(1),
            _ => {}
        }
        if opens { raw(name) } else { TokenSinkResult::Continue }
    }

    fn hides(&self, name: &str) -> bool {
        HIDDEN.contains(&name) || (self.skips_around && AROUND.contains(&name))
    }

    fn end_heading(&mut self) {
        let Some((level, from)) = self.open_heading.take() else { return };
        let from = from.min(self.text.len());
        let text = one_line(&self.text[from..]);
        // The sign of a link to the heading.
        let text = text.trim_end_matches(['#', '¶', '§', ' ']);
        if !text.is_empty() {
            self.headings.push(Heading { level, text: text.into(), range: from..self.text.len() });
        }
    }

    fn end_main(&mut self) {
        let Some((from, _, is_main)) = self.open_main.take() else { return };
        let to = self.text.len();
        let kind = if is_main { &mut self.mains } else { &mut self.articles };
        kind.push((from.min(to), to));
    }

    /// The part of the text that counts: the longest `main`, or the only `article` if it has half of the text. Others may
    /// be teasers, or the posts of a thread.
    fn core(&self) -> Option<(usize, usize)> {
        let length = |(from, to): &(usize, usize)| to - from;
        let has_text = |(from, to): &&(usize, usize)| !self.text[*from..*to].trim().is_empty();
        let main = self.mains.iter().filter(has_text).max_by_key(|range| length(range));
        let article = match &self.articles[..] {
            [one] if 2 * length(one) >= self.text.len() => Some(one),
            _ => None,
        };
        main.or(article.filter(has_text)).copied()
    }
}

/// How the text of an element is read. Within some, `<` begins no tag.
fn raw(name: &str) -> TokenSinkResult<()> {
    match name {
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

struct Sink {
    is_xml: bool,
    collected: RefCell<Collected>,
    /// How many tokens there were. An error is none.
    tokens: Cell<u64>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut collected = self.collected.borrow_mut();
        self.tokens.update(|tokens| tokens + u64::from(!matches!(token, Token::ParseError(_))));
        match token {
            Token::CharacterTokens(text) => collected.characters(&text),
            Token::TagToken(mut tag) if self.is_xml && tag.self_closing && tag.kind == TagKind::StartTag => {
                tag.self_closing = false;
                // How its text would be read does not matter, as it has none.
                let _ = collected.tag(&tag);
                tag.kind = TagKind::EndTag;
                return collected.tag(&tag);
            }
            Token::TagToken(tag) => return collected.tag(&tag),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}
