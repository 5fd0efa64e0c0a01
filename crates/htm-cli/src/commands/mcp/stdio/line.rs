//! The lines of a client, of a bounded length.

use std::io::{self, BufRead, Read};

use htm_mcp::id_of;
use rmcp::model::RequestId;

/// The most bytes of a line without its end. Over HTTP a body has as many.
pub(super) const MOST: usize = 16 << 20;

/// A line, or what is known of one that is longer than any message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// The id of its request, if it has one.
    TooLong(Option<RequestId>),
}

/// Reads the next line. None at the end. A line that is too long is read to its end, and not kept.
pub(super) fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    Read::take(&mut *input, MOST as u64 + 1).read_until(b'\n', &mut line)?;
    if line.len() <= MOST || line.ends_with(b"\n") {
        return Ok((!line.is_empty()).then_some(Line::Whole(line)));
    }
    let mut rest = Rest { input, is_over: false };
    let id = id_of(line.as_slice().chain(&mut rest));
    io::copy(&mut rest, &mut io::sink())?;
    Ok(Some(Line::TooLong(id)))
}

/// The rest of a line.
struct Rest<'a, R> {
    input: &'a mut R,
    is_over: bool,
}

impl<R: BufRead> Read for Rest<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over || buffer.is_empty() {
            return Ok(0);
        }
        let available = self.input.fill_buf()?;
        let end = available.iter().position(|byte| *byte == b'\n').map_or(available.len(), |place| place + 1);
        let length = end.min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.is_over = matches!(available[..length].last(), None | Some(b'\n'));
        self.input.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_and_the_last_needs_no_end() {
        let mut input = &b"{}\n\n[1]"[..];
        for line in ["{}\n", "\n", "[1]"] {
            assert_eq!(next(&mut input).unwrap(), Some(Line::Whole(line.into())));
        }
        assert_eq!(next(&mut input).unwrap(), None);
    }

    #[test]
    fn of_a_line_that_is_too_long_the_id_is_known_wherever_it_stands() {
        let text = "x".repeat(MOST);
        for (request, id) in [
            (format!(r#"{{"id": 7, "params": "{text}"}}"#), Some(RequestId::Number(7))),
            (
                format!(r#"{{"params": {{"id": 1, "text": "{text}"}}, "id": "a"}}"#),
                Some(RequestId::String("a".into())),
            ),
            (format!(r#"{{"params": "{text}"}}"#), None),
            (format!("{text}x"), None),
        ] {
            let input = format!("{request}\nnext\n");
            let mut input = input.as_bytes();
            // Not `assert_eq`, which would print the line.
            assert!(next(&mut input).unwrap() == Some(Line::TooLong(id)));
            assert!(next(&mut input).unwrap() == Some(Line::Whole(b"next\n".to_vec())));
        }
    }

    #[test]
    fn the_longest_line_is_whole() {
        let line = format!("{}\n", "x".repeat(MOST));
        assert!(next(&mut line.as_bytes()).unwrap() == Some(Line::Whole(line.clone().into_bytes())));
    }
}
