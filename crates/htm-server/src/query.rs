//! The query of a URI: its parameters, decoded and read into a type. An error names the parameter and its value.

use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};

use serde::de::value::{Error, MapDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, Expected, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::codes;
use crate::problem::{Problem, Result};

/// The most characters of a value in an error.
const MAX_SHOWN: usize = 80;

/// The parameters in their order.
pub(crate) fn pairs(query: &str) -> Result<Vec<(String, String)>> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((decoded(name)?, decoded(value)?))
        })
        .collect()
}

/// A text without the escapes of a form. Refuses what is not UTF-8: with another character in its place it would name
/// something else.
fn decoded(text: &str) -> Result<String> {
    let (mut decoded, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail.get(..2).filter(|_| first == b'%');
        match digits.and_then(|digits| hex::decode(digits).ok()) {
            Some(byte) => {
                decoded.extend(byte);
                rest = &tail[2..];
            }
            None => {
                decoded.push(if first == b'+' { b' ' } else { first });
                rest = tail;
            }
        }
    }
    String::from_utf8(decoded).map_err(|_| {
        let text: String = text.chars().take(MAX_SHOWN).collect();
        Problem::new(codes::QUERY_INVALID, format!("`{text}` in the query is not UTF-8"))
    })
}

/// Reads the parameters.
pub(crate) fn read<T: DeserializeOwned>(query: &str) -> Result<T> {
    let pairs = pairs(query)?.into_iter().map(|(name, text)| (name.clone(), Parameter { name, text }));
    let from: MapDeserializer<'_, _, Error> = MapDeserializer::new(pairs);
    T::deserialize(from).map_err(|error| Problem::new(codes::QUERY_INVALID, error.to_string()))
}

/// The text of a parameter.
struct Parameter {
    name: String,
    text: String,
}

impl Parameter {
    fn refused(&self, what: impl Display) -> Error {
        let text: String = self.text.chars().take(MAX_SHOWN).collect();
        de::Error::custom(format_args!("`{}` {what}: `{text}`", self.name))
    }
}

impl<'de> IntoDeserializer<'de, Error> for Parameter {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! whole_numbers {
    ($($method:ident $visit:ident $kind:ty, $what:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let number: Result<$kind, ParseIntError> = self.text.parse();
            match number.map_err(|error| error.kind().clone()) {
                Ok(number) => visitor.$visit(number),
                Err(IntErrorKind::PosOverflow) => Err(self.refused("is too large")),
                Err(IntErrorKind::NegOverflow) => Err(self.refused("is too small")),
                Err(_) => Err(self.refused($what)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Parameter {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let expected = (&visitor as &dyn Expected).to_string();
        visitor.visit_str::<Error>(&self.text).map_err(|_| self.refused(format_args!("is not {expected}")))
    }

    whole_numbers! {
        deserialize_i32 visit_i32 i32, "is not a whole number";
        deserialize_i64 visit_i64 i64, "is not a whole number";
        deserialize_u32 visit_u32 u32, "is not a whole number, 0 or more";
        deserialize_u64 visit_u64 u64, "is not a whole number, 0 or more";
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &*self.text {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(self.refused("is neither true nor false")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let refused = |_: Error| self.refused(format_args!("is not one of {}", variants.join(", ")));
        visitor.visit_enum(IntoDeserializer::<Error>::into_deserializer(self.text.as_str())).map_err(refused)
    }

    // No path has a parameter of these kinds.
    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use htm_core::NodeId;
    use serde::Deserialize;
    use uuid::Uuid;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Old,
        New,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        q: String,
        limit: Option<u32>,
        node: Option<NodeId>,
        id: Option<Uuid>,
        kind: Option<Kind>,
        #[serde(default)]
        all: bool,
        most: Option<usize>,
    }

    fn said(query: &str) -> String {
        let problem = read::<Asked>(query).unwrap_err();
        assert!(problem.is(codes::QUERY_INVALID));
        serde_json::to_value(problem.details()).unwrap()["detail"].as_str().unwrap().to_owned()
    }

    #[test]
    fn parameters_are_decoded_and_read() {
        let asked: Asked =
            read("q=a+b%20%c3%A9%26100%&limit=3&node=7&kind=new&all=true&most=0&&id=67e55044-10b1-426f-9247-bb680e5fe0c8")
                .unwrap();
        let id = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse().ok();
        let (limit, node, kind, most) = (Some(3), Some(NodeId(7)), Some(Kind::New), Some(0));
        assert_eq!(asked, Asked { q: "a b é&100%".into(), limit, node, id, kind, all: true, most });
        let all: Vec<(String, String)> = read("a=1&b&a=%3D").unwrap();
        assert_eq!(
            all,
            [("a", "1"), ("b", ""), ("a", "=")].map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn an_error_names_the_parameter_and_its_value() {
        for (query, expected) in [
            ("q=a&limit=abc", "`limit` is not a whole number, 0 or more: `abc`"),
            ("q=a&limit=-1", "`limit` is not a whole number, 0 or more: `-1`"),
            ("q=a&limit=", "`limit` is not a whole number, 0 or more: ``"),
            ("q=a&limit=4294967296", "`limit` is too large: `4294967296`"),
            ("q=a&node=x", "`node` is not a whole number: `x`"),
            ("q=a&all=yes", "`all` is neither true nor false: `yes`"),
            ("q=a&kind=odd", "`kind` is not one of old, new: `odd`"),
            ("q=a&id=x", "`id` is not a formatted UUID string: `x`"),
            ("limit=1", "missing field `q`"),
            ("q=a&q=b", "duplicate field `q`"),
            ("q=%ff", "`%ff` in the query is not UTF-8"),
            ("%ff=a", "`%ff` in the query is not UTF-8"),
        ] {
            assert_eq!(said(query), expected, "{query}");
        }
    }
}
