//! Places in the database's write-ahead log (WAL).

use std::fmt;
use std::str::FromStr;

use crate::model::error::{Error, codes};

/// A place in the write-ahead log, in PostgreSQL's notation of a `pg_lsn`: `16/B374D848`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WalPosition(pub(crate) u64);

impl WalPosition {
    /// From PostgreSQL's difference to `0/0`, in bytes.
    pub(crate) fn of_bytes(bytes: i64) -> Self {
        Self(bytes.max(0) as u64)
    }
}

impl fmt::Display for WalPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}/{:X}", self.0 >> 32, self.0 & 0xFFFF_FFFF)
    }
}

impl FromStr for WalPosition {
    type Err = Error;

    /// # Errors
    /// `wal_position_invalid`.
    fn from_str(text: &str) -> Result<Self, Error> {
        // `from_str_radix` accepts a sign.
        let half = |text: &str| {
            let is_hex = (1..=8).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
            is_hex.then(|| u64::from_str_radix(text, 16).ok()).flatten()
        };
        let parsed = text.split_once('/').and_then(|(high, low)| Some(half(high)? << 32 | half(low)?));
        parsed.map(Self).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            let message = format!("`{shown}` is no position in the write-ahead log");
            Error::new(codes::WAL_POSITION_INVALID, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_position_is_read_as_it_is_written(place: u64) {
            let position = WalPosition(place);
            prop_assert_eq!(position.to_string().parse::<WalPosition>().unwrap(), position);
        }
    }

    #[test]
    fn positions_have_postgresqls_notation() {
        assert_eq!("16/B374D848".parse::<WalPosition>().unwrap().0, 0x16_B374_D848);
        assert_eq!(WalPosition(0x16_0000_0028).to_string(), "16/28");
        for wrong in ["", "/", "16", "16/", "/28", "+1/2", "1/2/3", "123456789/0", "g/0", "1/ 2"] {
            let error = wrong.parse::<WalPosition>().unwrap_err();
            assert_eq!(error.code(), "wal_position_invalid", "{wrong}");
        }
    }
}
