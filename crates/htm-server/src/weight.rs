//! The memory that JSON takes when it is read. A small value takes far more than its text: an object of seven bytes takes
//! over 600. So a body is weighed before it is read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::limits::MAX_BODY_WEIGHT;

/// A value of a list, in bytes.
const VALUE: usize = 32;

/// A string beside its text, in bytes.
const STRING: usize = 24;

/// An object, in bytes: a node of its tree has room for eleven entries.
const OBJECT: usize = 640;

/// An entry of an object beside its name and its value, in bytes: the nodes of its tree may be half empty.
const ENTRY: usize = 32;

/// The weight of `what`, a JSON text, if it may be read. The error is for its sender.
pub(crate) fn within_limit(what: &str, json: &[u8]) -> Result<usize, String> {
    match of(json) {
        weight if weight > MAX_BODY_WEIGHT => {
            let (mib, most) = (weight >> 20, MAX_BODY_WEIGHT >> 20);
            Err(format!(
                "the {what} has so many values that it takes {mib} MiB of memory; at most {most} MiB"
            ))
        }
        weight => Ok(weight),
    }
}

/// The memory that a JSON text takes when it is read, in bytes. Of an invalid text: the part before the error, which is
/// told when it is read.
fn of(json: &[u8]) -> usize {
    let mut total = 0;
    Adding(&mut total).deserialize(&mut serde_json::Deserializer::from_slice(json)).ok();
    total
}

/// Adds the weight of a value, or of a name.
struct Adding<'a>(&'a mut usize);

impl Adding<'_> {
    fn add<E>(self, bytes: usize) -> Result<(), E> {
        *self.0 += bytes;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Adding<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Adding<'_> {
    type Value = ();

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.add(VALUE)
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.add(VALUE + STRING + text.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        *self.0 += VALUE;
        while items.next_element_seed(Adding(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        *self.0 += OBJECT;
        while entries.next_key_seed(Adding(self.0))?.is_some() {
            *self.0 += ENTRY;
            entries.next_value_seed(Adding(self.0))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_weigh_more_than_their_text() {
        assert_eq!(of(b"[1, 2.5, null, true]"), 5 * VALUE);
        assert_eq!(of(br#""text""#), VALUE + STRING + 4);
        let entry = VALUE + STRING + 1 + ENTRY + VALUE;
        assert_eq!(of(br#"{"a": 1}"#), OBJECT + entry);
        let many = format!("[{}]", vec![r#"{"a":1}"#; 1_000].join(","));
        assert_eq!(of(many.as_bytes()), VALUE + 1_000 * (OBJECT + entry));
    }

    #[test]
    fn an_invalid_text_weighs_what_was_read() {
        assert_eq!(of(b"[1, 2, oops"), 3 * VALUE);
        assert_eq!(of(b""), 0);
    }
}
