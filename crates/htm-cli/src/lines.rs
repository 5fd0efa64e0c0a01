//! Reads a file of any size line by line. A line longer than the limit is skipped, and only its beginning is kept
//! meanwhile.

use std::io::{self, BufRead, ErrorKind};

/// The lines of a reader.
pub(crate) struct Lines<R> {
    reader: R,
    limit: usize,
    line: Vec<u8>,
    number: u64,
    read: u64,
}

/// A line of a file.
#[derive(Debug, PartialEq)]
pub(crate) enum Line<'a> {
    /// The line, with its line break if it has one.
    Whole(&'a [u8]),
    /// A line with more bytes than the limit.
    TooLong,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines of at most `limit` bytes.
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader, limit, line: Vec::new(), number: 0, read: 0 }
    }

    /// The next line. None at the end.
    ///
    /// # Errors
    /// The reader's error.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut length = 0;
        loop {
            let available = match self.reader.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                available => available?,
            };
            let line_break = available.iter().position(|byte| *byte == b'\n');
            let part = line_break.map_or(available, |at| &available[..=at]);
            let is_end = line_break.is_some() || part.is_empty();
            let room = self.limit.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let taken = part.len();
            length += taken;
            self.reader.consume(taken);
            if is_end {
                break;
            }
        }
        self.read += length as u64;
        if length == 0 {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(if length > self.limit { Line::TooLong } else { Line::Whole(&self.line) }))
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The number of bytes that were read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.read
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn read(text: &str, limit: usize, buffer: usize) -> Vec<(u64, Option<String>)> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, text.as_bytes()), limit);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            let text = match line {
                Line::Whole(bytes) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
                Line::TooLong => None,
            };
            found.push((lines.number(), text));
        }
        assert_eq!(lines.bytes(), text.len() as u64);
        found
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_is_read() {
        let text = "one\n\nthis one is too long\ntwo";
        for buffer in [1, 3, 8, 1024] {
            let lines = read(text, 8, buffer);
            let whole = |text: &str| Some(text.to_owned());
            assert_eq!(lines, [(1, whole("one\n")), (2, whole("\n")), (3, None), (4, whole("two"))]);
        }
        assert!(read("", 8, 8).is_empty());
        assert_eq!(read("12345678", 8, 3), [(1, Some("12345678".into()))]);
        assert_eq!(read("123456789", 8, 3), [(1, None)]);
    }

    #[test]
    fn what_is_kept_of_a_line_is_no_longer_than_the_limit() {
        let endless = BufReader::new(io::Read::take(io::repeat(b'x'), 100 << 20));
        let mut lines = Lines::new(endless, 1_000);
        assert_eq!(lines.next().unwrap(), Some(Line::TooLong));
        assert!(lines.line.capacity() <= 2_000, "{}", lines.line.capacity());
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.bytes(), 100 << 20);
    }
}
