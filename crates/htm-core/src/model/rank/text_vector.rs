//! A text as full text search keeps it.

/// The lexemes of a text and where they stand: a `tsvector` as PostgreSQL sends it in binary (`tsvectorsend`): how many
/// lexemes, then each with a zero byte, how many places, and the places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextVector<'a> {
    count: u32,
    entries: &'a [u8],
}

/// A lexeme of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) lexeme: &'a [u8],
    places: &'a [u8],
}

/// Where a lexeme stands. Text search counts places to 16,383.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) position: u16,
    /// It stands in the opening of the text (weight A).
    pub(crate) is_opening: bool,
}

impl<'a> TextVector<'a> {
    /// None of bytes that are too few to say how many lexemes follow.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let (count, entries) = bytes.split_first_chunk()?;
        Some(Self { count: u32::from_be_bytes(*count), entries })
    }

    /// Distinct lexemes.
    pub(crate) fn count(self) -> u32 {
        self.count
    }

    /// The lexemes, to the first that is not whole.
    pub(crate) fn entries(self) -> impl Iterator<Item = Entry<'a>> {
        let mut rest = self.entries;
        std::iter::from_fn(move || {
            let end = rest.iter().position(|&byte| byte == 0)?;
            let (lexeme, after) = (&rest[..end], &rest[end + 1..]);
            let (count, after) = after.split_first_chunk()?;
            let (places, after) = after.split_at_checked(2 * usize::from(u16::from_be_bytes(*count)))?;
            rest = after;
            Some(Entry { lexeme, places })
        })
    }
}

impl<'a> Entry<'a> {
    /// None of a text that keeps none.
    pub(crate) fn places(self) -> impl Iterator<Item = Place> + use<'a> {
        self.places.chunks_exact(2).map(|place| {
            let place = u16::from_be_bytes([place[0], place[1]]);
            Place { position: place & 0x3FFF, is_opening: place >> 14 == 3 }
        })
    }

    /// How often it comes.
    pub(crate) fn frequency(self) -> usize {
        (self.places.len() / 2).max(1)
    }
}

/// As PostgreSQL sends it.
#[cfg(test)]
pub(crate) fn sent(lexemes: &[(&str, &[Place])]) -> Vec<u8> {
    let mut bytes = (lexemes.len() as u32).to_be_bytes().to_vec();
    for (lexeme, places) in lexemes {
        bytes.extend(lexeme.bytes().chain([0]));
        bytes.extend((places.len() as u16).to_be_bytes());
        for place in *places {
            bytes.extend((place.position | if place.is_opening { 3 << 14 } else { 0 }).to_be_bytes());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn any_place()(position in 1_u16..16_384, is_opening: bool) -> Place {
            Place { position, is_opening }
        }
    }

    proptest! {
        #[test]
        fn what_is_sent_is_read(
            lexemes in prop::collection::vec(("[a-zé]{1,8}", prop::collection::vec(any_place(), 0..5)), 0..8),
        ) {
            let lexemes: Vec<(&str, &[Place])> =
                lexemes.iter().map(|(lexeme, places)| (lexeme.as_str(), places.as_slice())).collect();
            let bytes = sent(&lexemes);
            let vector = TextVector::new(&bytes).unwrap();
            prop_assert_eq!(vector.count() as usize, lexemes.len());
            prop_assert_eq!(vector.entries().count(), lexemes.len());
            for (entry, (lexeme, places)) in vector.entries().zip(&lexemes) {
                prop_assert_eq!(entry.lexeme, lexeme.as_bytes());
                prop_assert_eq!(entry.places().collect::<Vec<_>>(), *places);
                prop_assert_eq!(entry.frequency(), places.len().max(1));
            }
        }

        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for entry in TextVector::new(&bytes).into_iter().flat_map(TextVector::entries) {
                prop_assert!(entry.places().count() <= entry.frequency());
            }
        }
    }
}
