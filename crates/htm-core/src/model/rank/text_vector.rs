//! A text as full-text search stores it.

/// The lexemes of a text with their positions: a `tsvector` as PostgreSQL sends it in binary (`tsvectorsend`). The
/// format is the number of lexemes, then for each the lexeme, a zero byte, the number of occurrences, and the
/// occurrences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextVector<'a> {
    count: u32,
    entries: &'a [u8],
}

/// A lexeme of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) lexeme: &'a [u8],
    occurrences: &'a [u8],
}

/// The position of a lexeme. Text search counts positions to 16,383.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
    pub(crate) position: u16,
    /// Whether it is in the opening of the text (weight A).
    pub(crate) is_opening: bool,
}

impl<'a> TextVector<'a> {
    /// None if the bytes are too few for the number of lexemes.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let (count, entries) = bytes.split_first_chunk()?;
        Some(Self { count: u32::from_be_bytes(*count), entries })
    }

    /// The number of distinct lexemes.
    pub(crate) fn count(self) -> u32 {
        self.count
    }

    /// The lexemes, up to the first incomplete one.
    pub(crate) fn entries(self) -> impl Iterator<Item = Entry<'a>> {
        let mut rest = self.entries;
        std::iter::from_fn(move || {
            let end = rest.iter().position(|&byte| byte == 0)?;
            let (lexeme, after) = (&rest[..end], &rest[end + 1..]);
            let (count, after) = after.split_first_chunk()?;
            let (occurrences, after) = after.split_at_checked(2 * usize::from(u16::from_be_bytes(*count)))?;
            rest = after;
            Some(Entry { lexeme, occurrences })
        })
    }
}

impl<'a> Entry<'a> {
    /// The occurrences; empty if the text keeps none.
    pub(crate) fn occurrences(self) -> impl Iterator<Item = Occurrence> + use<'a> {
        self.occurrences.chunks_exact(2).map(|occurrence| {
            let occurrence = u16::from_be_bytes([occurrence[0], occurrence[1]]);
            Occurrence { position: occurrence & 0x3FFF, is_opening: occurrence >> 14 == 3 }
        })
    }

    /// The number of occurrences, at least 1.
    pub(crate) fn frequency(self) -> usize {
        (self.occurrences.len() / 2).max(1)
    }
}

/// Encodes lexemes as PostgreSQL sends them.
#[cfg(test)]
pub(crate) fn sent(lexemes: &[(&str, &[Occurrence])]) -> Vec<u8> {
    let mut bytes = (lexemes.len() as u32).to_be_bytes().to_vec();
    for (lexeme, occurrences) in lexemes {
        bytes.extend(lexeme.bytes().chain([0]));
        bytes.extend((occurrences.len() as u16).to_be_bytes());
        for occurrence in *occurrences {
            bytes.extend(
                (occurrence.position | if occurrence.is_opening { 3 << 14 } else { 0 }).to_be_bytes(),
            );
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn any_occurrence()(position in 1_u16..16_384, is_opening: bool) -> Occurrence {
            Occurrence { position, is_opening }
        }
    }

    proptest! {
        #[test]
        fn what_is_sent_is_read(
            lexemes in prop::collection::vec(("[a-zé]{1,8}", prop::collection::vec(any_occurrence(), 0..5)), 0..8),
        ) {
            let lexemes: Vec<(&str, &[Occurrence])> =
                lexemes.iter().map(|(lexeme, occurrences)| (lexeme.as_str(), occurrences.as_slice())).collect();
            let bytes = sent(&lexemes);
            let vector = TextVector::new(&bytes).unwrap();
            prop_assert_eq!(vector.count() as usize, lexemes.len());
            prop_assert_eq!(vector.entries().count(), lexemes.len());
            for (entry, (lexeme, occurrences)) in vector.entries().zip(&lexemes) {
                prop_assert_eq!(entry.lexeme, lexeme.as_bytes());
                prop_assert_eq!(entry.occurrences().collect::<Vec<_>>(), *occurrences);
                prop_assert_eq!(entry.frequency(), occurrences.len().max(1));
            }
        }

        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for entry in TextVector::new(&bytes).into_iter().flat_map(TextVector::entries) {
                prop_assert!(entry.occurrences().count() <= entry.frequency());
            }
        }
    }
}
