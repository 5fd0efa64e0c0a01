//! Where the members of objects stand in a JSON text. Comments and trailing commas are allowed, as in VS Code's files.

use std::ops::Range;

use serde_json::Value;

use super::line_of;
use crate::commands::mcp::install::Unusable;

/// The deepest nesting. serde_json has the same limit.
const DEEPEST: usize = 128;

/// A value.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    /// The place after it.
    pub(super) end: usize,
    /// The members of an object. None for other values.
    pub(super) members: Option<Vec<Member>>,
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    /// The place of its name.
    pub(super) start: usize,
    pub(super) value: Node,
    /// The place of the comma after it.
    pub(super) comma: Option<usize>,
}

impl Node {
    /// The value at a path of names. Of two members with a name the last counts, as for those who parse it.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Node> {
        let Some((name, rest)) = path.split_first() else { return Some(self) };
        let members = self.members.as_ref()?;
        members.iter().rev().find(|member| member.name == *name)?.value.at(rest)
    }

    /// The value itself. None if it has comments.
    pub(super) fn read(&self, text: &str) -> Option<Value> {
        serde_json::from_str(&text[self.start..self.end]).ok()
    }
}

/// The places of a text.
pub(super) fn scan(text: &str) -> Result<Node, Unusable> {
    let mut scanner = Scanner { text, place: 0 };
    let scanned = scanner.whole();
    scanned.map_err(|reason| {
        let place = text.floor_char_boundary(scanner.place);
        Unusable { line: Some(line_of(text, place)), reason: format!("it is not JSON: {reason}") }
    })
}

type Scanned<T> = Result<T, &'static str>;

struct Scanner<'a> {
    text: &'a str,
    place: usize,
}

impl Scanner<'_> {
    fn whole(&mut self) -> Scanned<Node> {
        // A byte order mark.
        self.skip("\u{feff}");
        self.space()?;
        let node = self.value(0)?;
        self.space()?;
        if self.peek().is_some() { Err("there is more after its end") } else { Ok(node) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    fn skip(&mut self, what: &str) -> bool {
        let is_next = self.text[self.place..].starts_with(what);
        if is_next {
            self.place += what.len();
        }
        is_next
    }

    /// White space and comments.
    fn space(&mut self) -> Scanned<()> {
        loop {
            let rest = &self.text[self.place..];
            if rest.starts_with("//") {
                self.place += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.place += rest.find("*/").ok_or("a comment does not end")? + 2;
            } else {
                match self.peek() {
                    Some(b' ' | b'\t' | b'\r' | b'\n') => self.place += 1,
                    _ => return Ok(()),
                }
            }
        }
    }

    fn value(&mut self, depth: usize) -> Scanned<Node> {
        if depth > DEEPEST {
            return Err("it is nested too deeply");
        }
        let start = self.place;
        let members = match self.peek() {
            Some(b'{') => Some(self.object(depth)?),
            Some(b'[') => {
                self.array(depth)?;
                None
            }
            Some(b'"') => {
                self.string()?;
                None
            }
            Some(_) => {
                self.word()?;
                None
            }
            None => return Err("a value is missing at the end"),
        };
        Ok(Node { start, end: self.place, members })
    }

    fn object(&mut self, depth: usize) -> Scanned<Vec<Member>> {
        self.place += 1;
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.space()?;
            if self.skip("}") {
                return Ok(members);
            }
            if members.last().is_some_and(|last| last.comma.is_none()) {
                return Err("a comma is missing");
            }
            let start = self.place;
            let name = self.string()?;
            let name = serde_json::from_str(&self.text[name]).map_err(|_| "a name is no string")?;
            self.space()?;
            if !self.skip(":") {
                return Err("a colon is missing");
            }
            self.space()?;
            let value = self.value(depth + 1)?;
            self.space()?;
            let comma = self.place;
            let comma = self.skip(",").then_some(comma);
            members.push(Member { name, start, value, comma });
        }
    }

    fn array(&mut self, depth: usize) -> Scanned<()> {
        self.place += 1;
        let mut needs_comma = false;
        loop {
            self.space()?;
            if self.skip("]") {
                return Ok(());
            }
            if needs_comma {
                return Err("a comma is missing");
            }
            self.value(depth + 1)?;
            self.space()?;
            needs_comma = !self.skip(",");
        }
    }

    fn string(&mut self) -> Scanned<Range<usize>> {
        let start = self.place;
        if self.peek() != Some(b'"') {
            return Err("a name in quotes is missing");
        }
        loop {
            self.place += 1;
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.place += 1,
                Some(b'\n') | None => return Err("a text in quotes does not end"),
                Some(_) => {}
            }
        }
        self.place += 1;
        let text = self.text.get(start..self.place).ok_or("a text in quotes is invalid")?;
        serde_json::from_str::<String>(text).map_err(|_| "a text in quotes is invalid")?;
        Ok(start..self.place)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Scanned<()> {
        let rest = &self.text[self.place..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let word = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        serde_json::from_str::<Value>(word).map_err(|_| "a value is no JSON")?;
        self.place += word.len();
        Ok(())
    }
}
