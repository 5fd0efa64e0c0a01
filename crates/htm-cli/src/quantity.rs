//! Quantities as people write and read them: `100M`, `50k`, `1_000_000`, `1e6`; bytes.

const UNITS: [(&str, f64); 5] = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("B", 1e9)];
/// The largest quantity. Sums of bytes stay far below the largest `u64`.
const MOST: f64 = 1e12;

/// Reads a number with `_` between digits, with a unit (k, K, M, G or B), or with a power of ten (`1e6`).
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.unwrap_or((text, 1.0));
    let number = number.replace('_', "");
    let power = number.split_once(['e', 'E']);
    if power.is_some() && unit.is_some() {
        return None;
    }
    let (digits, power) = power.unwrap_or((number.as_str(), "0"));
    let is_number = digits.starts_with(|it: char| it.is_ascii_digit())
        && digits.ends_with(|it: char| it.is_ascii_digit())
        && digits.chars().all(|it| it.is_ascii_digit() || it == '.')
        && power.strip_prefix(['-', '+']).unwrap_or(power).bytes().all(|it| it.is_ascii_digit());
    let number: f64 = number.parse().ok().filter(|_| is_number)?;
    Some(sign * number * factor)
}

/// Reads a whole number of at least 1, as [`parse_number`].
pub(crate) fn parse_quantity(text: &str) -> Result<u64, String> {
    let why = "write a whole number from 1 to 1000G, such as 250000, 1_000_000, 50k, 100M, 1.5G or 1e6";
    whole(text, 1.0, MOST).ok_or_else(|| why.into())
}

/// Reads a whole number of a range, as [`parse_number`].
pub(crate) fn parse_whole<const LEAST: u32, const MOST: u32>(text: &str) -> Result<u32, String> {
    let number = whole(text, LEAST.into(), MOST.into()).and_then(|number| number.try_into().ok());
    number.ok_or_else(|| format!("write a whole number from {LEAST} to {MOST}"))
}

fn whole(text: &str, least: f64, most: f64) -> Option<u64> {
    // Some fractions of decimals have none in binary: 1.1k is 1100.0000000000001.
    let is_whole = |number: &f64| (number - number.round()).abs() < 1e-6;
    let number = parse_number(text).filter(|number| (least..=most).contains(number) && is_whole(number));
    number.map(|number| number.round() as u64)
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
            ("50K", 50_000),
            ("1e6", 1_000_000),
            ("1.5E3", 1_500),
            ("1.1k", 1_100),
            ("100M", 100_000_000),
            ("1.5G", 1_500_000_000),
            ("2B", 2_000_000_000),
        ];
        for (text, number) in read {
            assert_eq!(parse_quantity(text), Ok(number), "{text}");
        }
        for text in [
            "", "0", "-1", "1.5", "0.0001k", "k", "M", "1e-6", "e6", "1e", "1e3k", "1 000", "1,000", "100m",
            "1kk", ".5k", "5.k",
        ] {
            assert!(parse_quantity(text).is_err(), "{text}");
        }
        assert!(parse_quantity("99999999999999999999").is_err(), "no number is rounded");
    }

    #[test]
    fn numbers_of_a_range_are_read_in_the_same_forms() {
        assert_eq!(["0.5", "-5", "1e-3", "2k"].map(parse_number), [0.5, -5.0, 0.001, 2e3].map(Some));
        assert_eq!(["NaN", "inf", "--5", "1..2"].map(parse_number), [None; 4]);
        assert_eq!(["1", "2k", "4e3"].map(parse_whole::<1, 4_000>), [1, 2_000, 4_000].map(Ok));
        for text in ["0", "-5", "4001", "1.5"] {
            assert_eq!(parse_whole::<1, 4_000>(text).unwrap_err(), "write a whole number from 1 to 4000");
        }
    }

    #[test]
    fn rates_are_shown() {
        for (per_second, text) in [(0.0, "0.0"), (0.94, "0.9"), (9.96, "10"), (3_677.65, "3,678")] {
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
