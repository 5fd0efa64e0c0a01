//! The attributes of an open tag. The tokenizer compares each with all before it, so that a tag with very many would take
//! minutes, and it says nothing of a tag before its end.

/// The most attributes of a tag.
const MOST: usize = 1_000;

/// The beginning of a tag or another construct at a `<`, before the tokenizer has told which it is.
pub(super) struct Opened {
    at: At,
    attributes: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    /// A comment, or something else without attributes.
    Elsewhere,
    Start,
    TagName,
    Between,
    Name,
    AfterName,
    BeforeValue,
    Value,
    Quoted(u8),
}

impl Opened {
    /// The construct that begins with this text after a `<`. None: there is none, as in `</>`.
    pub(super) fn by(text: &str) -> Option<Self> {
        let tag = text.strip_prefix('/').unwrap_or(text);
        let at = match tag.bytes().next() {
            Some(first) if first.is_ascii_alphabetic() => At::Start,
            Some(b'>') if text.starts_with('/') => return None,
            _ => At::Elsewhere,
        };
        Some(Self { at, attributes: 0 })
    }

    /// Reads the next part of it.
    pub(super) fn read(&mut self, part: &str) {
        if self.at == At::Elsewhere {
            return;
        }
        for byte in part.bytes() {
            let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
            let next = match (self.at, byte) {
                (At::Start, _) => At::TagName,
                (At::Quoted(quote), byte) if byte == quote => At::Between,
                (At::Quoted(_), _) => self.at,
                (At::BeforeValue, b'"' | b'\'') => At::Quoted(byte),
                (At::BeforeValue, _) if is_space => At::BeforeValue,
                (At::BeforeValue | At::Value, _) if !is_space => At::Value,
                (At::Name | At::AfterName, b'=') => At::BeforeValue,
                (At::Name | At::AfterName, _) if is_space => At::AfterName,
                (_, _) if is_space || byte == b'/' => At::Between,
                (At::TagName | At::Name, _) => self.at,
                _ => At::Name,
            };
            let begins = next == At::Name && self.at != At::Name;
            self.attributes += usize::from(begins);
            self.at = next;
        }
    }

    /// Whether it is a tag with too many attributes.
    pub(super) fn is_too_much(&self) -> bool {
        self.attributes > MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_where_a_tag_has_them() {
        for (text, attributes) in [
            ("p", 0),
            ("p a b=c d = 'e f' g=\"h/i\"j/k", 6),
            ("/p a=b/c d", 2),
            ("p =a ==b c", 2),
            ("p a='1 > 2' <b", 2),
            ("!-- a b c", 0),
            (" a b c", 0),
        ] {
            let mut opened = Opened::by(text).unwrap();
            text.split_inclusive(|_| true).for_each(|part| opened.read(part));
            assert_eq!(opened.attributes, attributes, "{text}");
        }
        assert!(Opened::by("/>").is_none());
    }
}
