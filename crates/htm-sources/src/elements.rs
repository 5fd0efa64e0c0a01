//! The elements of a list in a JSON file, one at a time: an export of conversations may be larger than the memory.

use std::io::{BufRead, ErrorKind};

use htm_core::{Error, Result};

use crate::codes;

/// The most bytes of an element. A longer one is not a conversation but a missing quotation mark.
const MOST: usize = 256 << 20;

/// The elements of the list that a file is, or of the list under one of some names in the object that it is.
pub(crate) struct Elements {
    reader: Box<dyn BufRead + Send>,
    file: String,
    /// The number of bytes read.
    at: u64,
    is_over: bool,
}

impl Elements {
    /// Reads up to the list. The names are those of fields that have it, if the file is an object.
    ///
    /// # Errors
    /// `source_unrecognised` if there is no such list, `source_damaged`, `source_unreadable`.
    pub(crate) fn open(reader: Box<dyn BufRead + Send>, file: &str, names: &[&str]) -> Result<Self> {
        let mut elements = Self { reader, file: file.into(), at: 0, is_over: false };
        let mut first = elements.after_space()?;
        // The mark of UTF-8, which some editors write.
        if first == Some(0xef) {
            for _ in 0..3 {
                elements.take()?;
            }
            first = elements.after_space()?;
        }
        match first {
            Some(b'[') => elements.take().map(drop)?,
            Some(b'{') => elements.find(names)?,
            _ => return Err(elements.unrecognised(names)),
        }
        Ok(elements)
    }

    /// The text of the next element; none at the end of the list.
    ///
    /// # Errors
    /// `source_damaged` if the file ends before its list, `source_unreadable`.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        if self.is_over {
            return Ok(None);
        }
        loop {
            match self.after_space()? {
                Some(b',') => drop(self.take()?),
                Some(b']') => {
                    self.is_over = true;
                    return Ok(None);
                }
                Some(_) => return self.value().map(Some),
                None => return Err(self.cut()),
            }
        }
    }

    /// Goes to the list under one of the names.
    fn find(&mut self, names: &[&str]) -> Result<()> {
        self.take()?;
        loop {
            match self.after_space()? {
                Some(b',') => drop(self.take()?),
                Some(b'"') => {
                    let name = self.value()?;
                    let name: String = serde_json::from_slice(&name).unwrap_or_default();
                    if self.after_space()? != Some(b':') {
                        return Err(self.cut());
                    }
                    self.take()?;
                    if self.after_space()? == Some(b'[') && names.contains(&name.as_str()) {
                        return self.take().map(drop);
                    }
                    self.value()?;
                }
                Some(b'}') => return Err(self.unrecognised(names)),
                _ => return Err(self.cut()),
            }
        }
    }

    /// Reads a value to its end, without checking more of it than its brackets and quotation marks.
    fn value(&mut self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
        loop {
            let bytes = self.filled()?;
            if bytes.is_empty() {
                // A number at the end of a file has no end of its own; a list has.
                return Err(self.cut());
            }
            let mut end = None;
            for (place, byte) in bytes.iter().enumerate() {
                let is_first = text.is_empty() && place == 0;
                if !in_string && depth == 0 && !is_first && matches!(byte, b',' | b']' | b'}' | b':') {
                    end = Some(place);
                    break;
                }
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' if in_string => is_escaped = true,
                    b'"' => in_string = !in_string,
                    b'[' | b'{' if !in_string => depth += 1,
                    b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
                    _ => continue,
                }
                if depth == 0 && !in_string && matches!(byte, b'"' | b']' | b'}') {
                    end = Some(place + 1);
                    break;
                }
            }
            let taken = end.unwrap_or(bytes.len());
            text.extend_from_slice(&bytes[..taken]);
            self.consume(taken);
            if end.is_some() {
                return Ok(text);
            }
            if text.len() > MOST {
                return Err(self.damaged(format!("an element has more than {MOST} bytes")));
            }
        }
    }

    /// The next byte that is no white space, which stays.
    fn after_space(&mut self) -> Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => drop(self.take()?),
                other => return Ok(other),
            }
        }
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        Ok(self.filled()?.first().copied())
    }

    fn take(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        self.consume(usize::from(byte.is_some()));
        Ok(byte)
    }

    fn consume(&mut self, bytes: usize) {
        self.reader.consume(bytes);
        self.at += bytes as u64;
    }

    /// The bytes that are read and not taken; none at the end.
    fn filled(&mut self) -> Result<&[u8]> {
        loop {
            match self.reader.fill_buf() {
                // Asked again below: the borrow of an answer would last for the loop.
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(&[]),
                // Of an archive: what is compressed cannot be read further.
                Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData) => {
                    return Err(self.damaged(format!("it cannot be decompressed ({error})")));
                }
                Err(error) => return Err(unreadable(&self.file, error)),
            }
        }
        let file = &self.file;
        self.reader.fill_buf().map_err(|error| unreadable(file, error))
    }

    fn cut(&self) -> Error {
        self.damaged(format!("its JSON ends or breaks after byte {}", self.at))
    }

    fn damaged(&self, what: String) -> Error {
        Error::new(codes::SOURCE_DAMAGED, format!("{}: {what}", self.file))
    }

    fn unrecognised(&self, names: &[&str]) -> Error {
        let named = match names {
            [] => String::new(),
            names => format!(", nor an object with a list `{}`", names.join("` or `")),
        };
        let message = format!("{} is not a list of JSON{named}", self.file);
        Error::new(codes::SOURCE_UNRECOGNISED, message)
    }
}

fn unreadable(file: &str, error: std::io::Error) -> Error {
    Error::new(codes::SOURCE_UNREADABLE, format!("{file} cannot be read further")).with_source(error)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &[u8], buffer: usize) -> Result<Vec<Value>> {
        let reader = BufReader::with_capacity(buffer, Cursor::new(text.to_vec()));
        let mut elements = Elements::open(Box::new(reader), "a.json", &["results", "memories"])?;
        let mut found = Vec::new();
        while let Some(text) = elements.next()? {
            found.push(serde_json::from_slice(&text).unwrap_or(Value::Null));
        }
        Ok(found)
    }

    #[test]
    fn the_elements_are_those_of_the_list() {
        let list = json!([{"a": "]}\\\"["}, [1, [2]], 3, -1.5, "x, y", null, true, {}]);
        let pretty = serde_json::to_string_pretty(&list).unwrap();
        let marked = format!("\u{feff} {pretty}");
        let under = json!({"a": {"results": [9]}, "total": 8, "results": list}).to_string();
        for text in [list.to_string(), pretty, marked, under] {
            for buffer in [1, 7, 4096] {
                assert_eq!(Value::Array(read(text.as_bytes(), buffer).unwrap()), list, "{text}");
            }
        }
        assert!(read(b"[]", 8).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_list_is_said() {
        for (text, code) in [
            ("", "source_unrecognised"),
            ("PK\u{3}\u{4}", "source_unrecognised"),
            ("{}", "source_unrecognised"),
            (r#"{"results": {}}"#, "source_unrecognised"),
            (r#"{"results"}"#, "source_damaged"),
            ("[", "source_damaged"),
            ("[1", "source_damaged"),
            (r#"[{"a": "b]"#, "source_damaged"),
        ] {
            assert_eq!(read(text.as_bytes(), 16).unwrap_err().code(), code, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_list_is_never_whole(numbers in prop::collection::vec("[a-z\\\\\"\\[{]{0,6}", 1..6), part in 0.0..1.0) {
            let text = json!(numbers).to_string();
            let cut = (text.len() as f64 * part) as usize;
            prop_assert!(read(&text.as_bytes()[..cut], 4).is_err());
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&[&b"["[..], &bytes].concat(), 16);
        }
    }
}
