//! One form of texts that are typed in two: the same as `htm.alike` of the database.

/// The zeros of scripts beyond ASCII. Their other digits follow them.
const ZEROS: [char; 35] = [
    '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{1090}',
    '\u{17e0}', '\u{1810}', '\u{1946}', '\u{19d0}', '\u{1a80}', '\u{1a90}', '\u{1b50}', '\u{1bb0}',
    '\u{1c40}', '\u{1c50}', '\u{a620}', '\u{a8d0}', '\u{a900}', '\u{a9d0}', '\u{a9f0}', '\u{aa50}',
    '\u{abf0}',
];

/// A text in which digits are those of ASCII, ligatures are two letters, and the points of Hebrew and the vowel signs of
/// Arabic are left out. Only forms of one word become alike.
pub(super) fn alike(text: &str) -> String {
    let mut alike = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'ß' => alike.push_str("ss"),
            'ẞ' => alike.push_str("SS"),
            'æ' => alike.push_str("ae"),
            'Æ' => alike.push_str("AE"),
            'œ' => alike.push_str("oe"),
            'Œ' => alike.push_str("OE"),
            'İ' => alike.push('I'),
            'ς' => alike.push('σ'),
            // Apostrophes that are letters.
            '\u{2bb}' | '\u{2bc}' => alike.push('\''),
            // Kaf and yeh of a Persian keyboard.
            '\u{6a9}' => alike.push('\u{643}'),
            '\u{6cc}' => alike.push('\u{64a}'),
            c if is_left_out(c) => {}
            c => alike.push(digit(c).unwrap_or(c)),
        }
    }
    alike
}

fn is_left_out(c: char) -> bool {
    matches!(c,
        '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}')
}

fn digit(c: char) -> Option<char> {
    let of_zero = |zero: &char| u32::from(c).checked_sub(u32::from(*zero)).filter(|digit| *digit < 10);
    ZEROS.iter().find_map(of_zero).and_then(|digit| char::from_digit(digit, 10))
}
