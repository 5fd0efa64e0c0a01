//! A body of JSON, read strictly. serde reads an object from a list too, in the order of its fields: `[]` would be an object
//! without any. An error here has its place in the body, and no names of Rust's types.

use std::cell::RefCell;
use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};

/// The most characters of a name or a value in an error.
const MAX_SHOWN: usize = 80;

/// Reads a body. The error is for its sender.
pub(crate) fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    let place = Place::default();
    let mut from = serde_json::Deserializer::from_slice(json);
    let read = T::deserialize(Strict { inner: &mut from, place: &place });
    read.and_then(|value| from.end().map(|()| value)).map_err(|error| place.said(&error))
}

/// The place in the body that is read, and where the first error is.
#[derive(Default)]
struct Place(RefCell<Vec<Step>>);

enum Step {
    Field(String),
    Item(usize),
}

impl Place {
    fn enter(&self, step: Step) {
        self.0.borrow_mut().push(step);
    }

    fn leave(&self) {
        self.0.borrow_mut().pop();
    }

    /// Goes on with the next item of a list.
    fn next(&self) {
        if let Some(Step::Item(item)) = self.0.borrow_mut().last_mut() {
            *item += 1;
        }
    }

    /// An error with its place.
    fn said(&self, error: &serde_json::Error) -> String {
        let mut said = htm_core::unreadable(error);
        if error.is_data() {
            // The place says it better than the line.
            said = plain(said.rsplit_once(" at line ").map_or(&*said, |(said, _)| said));
        }
        match self.to_string() {
            place if place.is_empty() => format!("the body cannot be read: {said}"),
            place => format!("`{place}` of the body cannot be read: {said}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.borrow().iter().enumerate() {
            match step {
                Step::Field(name) if depth == 0 => f.write_str(&short(name))?,
                Step::Field(name) => write!(f, ".{}", short(name))?,
                Step::Item(item) => write!(f, "[{item}]")?,
            }
        }
        Ok(())
    }
}

fn short(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

/// An error of serde in the words of JSON.
fn plain(said: &str) -> String {
    let Some((found, expected)) = said.rsplit_once(", expected ") else { return said.to_owned() };
    let found = found.replace("type: sequence", "type: list").replace("type: map", "type: object");
    let expected = match expected {
        "i32" => "a whole number from -2147483648 to 2147483647",
        "u32" => "a whole number from 0 to 4294967295",
        "i64" => "a whole number",
        "u64" | "usize" => "a whole number, 0 or more",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        it if it.starts_with("struct ") => "an object",
        it => it,
    };
    format!("{found}, expected {expected}")
}

/// A part of serde that reads strictly, and notes its place.
struct Strict<'p, T> {
    inner: T,
    place: &'p Place,
}

macro_rules! as_it_is {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(visitor)
        }
    )*};
}

macro_rules! strictly {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(Strict { inner: visitor, place: self.place })
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<'_, D> {
    type Error = D::Error;

    // What may be anything, such as metadata, has no fields of ours.
    as_it_is! {
        deserialize_any deserialize_ignored_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32
        deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32
        deserialize_f64 deserialize_char deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_unit deserialize_identifier
    }

    strictly! { deserialize_option deserialize_seq deserialize_map deserialize_str }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_newtype_struct(name, Strict { inner: visitor, place: self.place })
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_tuple(length, Strict { inner: visitor, place: self.place })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Strict { inner: visitor, place: self.place };
        self.inner.deserialize_tuple_struct(name, length, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_enum(name, variants, visitor)
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strict<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.inner.visit_some(Strict { inner: from, place: self.place })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.inner.visit_newtype_struct(Strict { inner: from, place: self.place })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.place.enter(Step::Item(0));
        let value = self.inner.visit_seq(Strict { inner: items, place: self.place })?;
        self.place.leave();
        Ok(value)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Strict { inner: entries, place: self.place })
    }

    /// Reads a text with a form of its own, such as a time. Its error does not say what was read and what is expected.
    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        let expected = match (&self.inner as &dyn Expected).to_string() {
            it if it.starts_with("an RFC 3339") => {
                "a time with a time zone, such as 2026-01-01T00:00:00Z".to_owned()
            }
            it => it,
        };
        let refused = |_: E| E::custom(format_args!("`{}` is not {expected}", short(text)));
        self.inner.visit_str(text).map_err(refused)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(Strict { inner: from, place: self.place })
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let item = self.inner.next_element_seed(Strict { inner: seed, place: self.place })?;
        self.place.next();
        Ok(item)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(name) = self.inner.next_key::<String>()? else { return Ok(None) };
        let key = seed.deserialize(IntoDeserializer::<A::Error>::into_deserializer(name.as_str()))?;
        self.place.enter(Step::Field(name));
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let value = self.inner.next_value_seed(Strict { inner: seed, place: self.place })?;
        self.place.leave();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use serde::Deserialize;
    use serde_json::{Map, Value};

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Body {
        limit: Option<u32>,
        at: Option<DateTime<Utc>>,
        parts: Vec<Part>,
        filter: Box<Part>,
        metadata: Map<String, Value>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Part {
        text: String,
        vector: Vec<f32>,
    }

    #[test]
    fn a_body_is_read_as_serde_reads_it() {
        let json = r#" {"limit": 3, "at": "2026-01-01T00:00:00+01:00", "parts": [{"text": "a\n", "vector": [1, 2.5]}],
                        "filter": {"vector": [], "text": ""}, "metadata": {"a": {"b": [1, null]}}} "#;
        let body: Body = read(json.as_bytes()).unwrap();
        assert_eq!(body, serde_json::from_str(json).unwrap());
        assert_eq!((body.limit, body.parts[0].vector.len()), (Some(3), 2));
        assert_eq!(read::<Body>(b"{}"), Ok(Body::default()));
    }

    #[test]
    fn an_error_has_its_place_and_says_what_is_expected() {
        for (json, said) in [
            ("[]", "the body cannot be read: invalid type: list, expected an object"),
            ("[[]]", "the body cannot be read: invalid type: list, expected an object"),
            (
                r#"{"filter": []}"#,
                "`filter` of the body cannot be read: invalid type: list, expected an object",
            ),
            (
                r#"{"parts": [{"text": "", "vector": []}, ["a", []]]}"#,
                "`parts[1]` of the body cannot be read: invalid type: list, expected an object",
            ),
            (
                r#"{"parts": [{"text": "", "vector": [1, "x"]}]}"#,
                "`parts[0].vector[1]` of the body cannot be read: invalid type: string \"x\", expected a number",
            ),
            (r#"{"parts": [{"text": ""}]}"#, "`parts[0]` of the body cannot be read: missing field `vector`"),
            (
                r#"{"limit": -1}"#,
                "`limit` of the body cannot be read: invalid value: integer `-1`, expected a whole number from 0 to \
                 4294967295",
            ),
            (
                r#"{"at": "2026-01-01T00:00:00"}"#,
                "`at` of the body cannot be read: `2026-01-01T00:00:00` is not a time with a time zone, such as \
                 2026-01-01T00:00:00Z",
            ),
            (
                r#"{"metadata": 1}"#,
                "`metadata` of the body cannot be read: invalid type: integer `1`, expected an object",
            ),
            ("{\"limit\": 1", "the body cannot be read: EOF while parsing an object at line 1 column 11"),
            ("{} x", "the body cannot be read: trailing characters at line 1 column 4"),
        ] {
            assert_eq!(read::<Body>(json.as_bytes()).unwrap_err(), said, "{json}");
        }
        let half = read::<Body>(br#"{"parts": [{"text": "\ud83d"}]}"#).unwrap_err();
        let said = "`parts[0].text` of the body cannot be read: a text has half of a surrogate pair";
        assert!(half.starts_with(said), "{half}");
        let unknown = read::<Body>(br#"{"limits": 1}"#).unwrap_err();
        assert!(
            unknown.starts_with("the body cannot be read: unknown field `limits`, expected one of"),
            "{unknown}"
        );
    }
}
