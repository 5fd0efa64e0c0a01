//! A text as full text search keeps it.

/// The lexemes of a text and where they stand: a `tsvector` as PostgreSQL sends it in binary (`tsvectorsend`): how many
/// lexemes, then each with a zero byte, how many occurrences, and the occurrences.
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

/// Where a lexeme stands. Text search counts occurrences to 16,383.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
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
            let (occurrences, after) = after.split_at_checked(2 * usize::from(u16::from_be_bytes(*count)))?;
            rest = after;
            Some(Entry { lexeme, occurrences })
        })
    }
}

impl<'a> Entry<'a> {
    /// None of a text that keeps none.
    pub(crate) fn occurrences(self) -> impl Iterator<Item = Occurrence> + use<'a> {
        self.occurrences.chunks_exact(2).map(|occurrence| {
            let occurrence = u16::from_be_bytes([occurrence[0], occurrence[1]]);
            Occurrence { position: occurrence & 0x3FFF, is_opening: occurrence >> 14 == 3 }
        })
    }

    /// How often it comes.
    pub(crate) fn frequency(self) -> usize {
        (self.occurrences.len() / 2).max(1)
    }
}

/// As PostgreSQL sends it.
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
