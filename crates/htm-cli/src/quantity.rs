//! Quantities as people write and read them: `100M`, `50k`, `1_000_000`; bytes.

const UNITS: [(&str, f64); 4] = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("B", 1e9)];
/// The largest quantity. Sums of bytes stay far below the largest `u64`.
const MOST: f64 = 1e12;

/// Reads a whole number of at least 1, with `_` between digits, or with a unit: k, M, G (or B). With a unit, the number
/// may have a fraction.
pub(crate) fn parse_quantity(text: &str) -> Result<u64, String> {
    let (number, factor) = UNITS
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))
        .unwrap_or((text, 1.0));
    let digits = number.replace('_', "");
    let is_number = digits.starts_with(|it: char| it.is_ascii_digit())
        && digits.ends_with(|it: char| it.is_ascii_digit())
        && digits.chars().all(|it| it.is_ascii_digit() || it == '.');
    let read = digits.parse().ok().filter(|_| is_number).map(|number: f64| number * factor);
    match read {
        // Some fractions of decimals have none in binary: 1.1k is 1100.0000000000001.
        Some(number) if (1.0..=MOST).contains(&number) && (number - number.round()).abs() < 1e-6 => {
            Ok(number.round() as u64)
        }
        _ => Err("write a whole number from 1 to 1000G, such as 250000, 1_000_000, 50k, 100M or 1.5G".into()),
    }
}

/// A number for people, with `,` between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::new();
    if first > 0 {
        groups.push(&digits[..first]);
    }
    groups.extend(digits.as_bytes()[first..].chunks(3).filter_map(|group| std::str::from_utf8(group).ok()));
    groups.join(",")
}

/// A number of things a second, for people: whole, and with one decimal below 10.
pub(crate) fn rate(per_second: f64) -> String {
    if per_second < 9.95 { format!("{per_second:.1}") } else { grouped(per_second.round() as u64) }
}

/// Bytes for people, in decimal units.
pub(crate) fn bytes(bytes: u64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6)];
    let unit = units.iter().find(|(_, size)| bytes as f64 >= size * 0.9995);
    match unit {
        Some((unit, size)) => format!("{:.1} {unit}", bytes as f64 / size),
        None => format!("{:.1} kB", bytes as f64 / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantities_are_read() {
        let read = [
            ("1", 1),
            ("250000", 250_000),
            ("1_000_000", 1_000_000),
            ("50k", 50_000),
            ("1.1k", 1_100),
            ("100M", 100_000_000),
            ("1.5G", 1_500_000_000),
            ("2B", 2_000_000_000),
        ];
        for (text, number) in read {
            assert_eq!(parse_quantity(text), Ok(number), "{text}");
        }
        for text in
            ["", "0", "-1", "1.5", "0.0001k", "k", "M", "1e6", "1 000", "1,000", "100m", "1kk", ".5k", "5.k"]
        {
            assert!(parse_quantity(text).is_err(), "{text}");
        }
        assert!(parse_quantity("99999999999999999999").is_err(), "no number is rounded");
    }

    #[test]
    fn rates_are_shown() {
        for (per_second, text) in [(0.0, "0.0"), (0.94, "0.9"), (9.96, "10"), (3_677.6538, "3,678")] {
            assert_eq!(rate(per_second), text);
        }
    }

    #[test]
    fn bytes_are_shown() {
        let shown =
            [(512, "0.5 kB"), (1_500_000, "1.5 MB"), (999_950_000, "1.0 GB"), (205_000_000_000, "205.0 GB")];
        for (number, text) in shown {
            assert_eq!(bytes(number), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read(number in 1..MOST as u64) {
            prop_assert_eq!(parse_quantity(&grouped(number).replace(',', "_")), Ok(number));
        }
    }
}
