//! Scripts that write no spaces between words: Chinese, Japanese, Thai. Full text has pairs of their adjacent letters
//! (`htm.segmented`).

/// Whether a letter is of such a script.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3005}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{e01}'..='\u{e30}' | '\u{e32}' | '\u{e33}' | '\u{e40}'..='\u{e46}')
}

/// Whether it is a mark of the letter before it.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

/// Whether a text is one letter of such a script, with its marks.
pub(super) fn is_letter(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_unspaced) && chars.all(is_mark)
}

/// The letters of such scripts that stand alone in a token. Within longer runs, full text has them in pairs.
pub(super) fn lone_letters(token: &str) -> impl Iterator<Item = &str> {
    token.split(|c: char| !c.is_alphanumeric() && !is_mark(c)).filter(|run| is_letter(run))
}

/// A text with the pairs of adjacent letters in the place of a run of several: `東京都` is `東京 京都`. As a phrase, they find
/// the run also within a longer one.
pub(super) fn pairs(text: &str) -> String {
    let mut paired = String::new();
    let mut run: Vec<String> = Vec::new();
    for c in text.chars() {
        match run.last_mut() {
            Some(letter) if is_mark(c) => letter.push(c),
            _ if is_unspaced(c) => run.push(c.into()),
            _ => {
                end(&mut run, &mut paired);
                paired.push(c);
            }
        }
    }
    end(&mut run, &mut paired);
    paired
}

fn end(run: &mut Vec<String>, paired: &mut String) {
    let letters = std::mem::take(run);
    if let [one] = &letters[..] {
        return paired.push_str(one);
    }
    let pairs: Vec<String> = letters.windows(2).map(<[String]>::concat).collect();
    paired.push_str(&pairs.join(" "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_its_pairs() {
        for (text, expected) in [
            ("plain text", "plain text"),
            ("東", "東"),
            ("東京", "東京"),
            ("東京都 x", "東京 京都 x"),
            ("v2の東京都", "v2の東 東京 京都"),
            ("ตู้นิ", "ตู้นิ"),
        ] {
            assert_eq!(pairs(text), expected);
        }
    }

    #[test]
    fn letters_stand_alone_between_what_is_no_letter() {
        for (token, expected) in [
            ("猫", &["猫"][..]),
            ("「猫、犬」", &["猫", "犬"]),
            ("ตู้", &["ตู้"]),
            ("東京、v2の", &[]),
            ("word", &[]),
        ] {
            assert_eq!(lone_letters(token).collect::<Vec<_>>(), expected, "{token}");
        }
    }
}
