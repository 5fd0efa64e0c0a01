//! The text of a file: its lines with their numbers, and its edits.

use super::path::FilePath;
use crate::model::error::{Error, Result, codes};

/// The most lines whose numbers fit into six characters.
const MAX_LINES: usize = 999_999;

/// The lines before and after a change that are shown with it.
const AROUND: usize = 2;

/// The most places of a text that occurs several times. Nobody reads more.
const MAX_PLACES: usize = 1_000;

/// A new text, and the reply that says what has changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) text: String,
    pub(crate) reply: String,
}

/// The lines of a file from the first to the last of `range`, which begins at 1. The last may be -1, the end of the file.
pub(crate) fn view(path: &FilePath, text: &str, range: Option<&[i64]>) -> Result<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.len() > MAX_LINES {
        let message = format!("File {path} exceeds maximum line limit of 999,999 lines.");
        return Err(Error::new(codes::FILE_TOO_MANY_LINES, message));
    }
    let (first, end) = match range {
        None => (1, lines.len()),
        Some(&[first, last]) if last == -1 || last >= first => {
            let first = usize::try_from(first).unwrap_or(0).max(1);
            (first, usize::try_from(last).map_or(lines.len(), |last| last.min(lines.len())))
        }
        Some(range) => {
            let message = format!(
                "Invalid `view_range` parameter: {range:?}. It should be a first and a last line within the \
                 range [1, {}], or -1 as the last.",
                lines.len()
            );
            return Err(Error::new(codes::FILE_LINE_INVALID, message));
        }
    };
    let shown = lines.get(first - 1..end).unwrap_or_default();
    Ok(format!("Here's the content of {path} with line numbers:\n{}", numbered(shown, first)))
}

fn numbered(lines: &[&str], first: usize) -> String {
    let numbered: Vec<String> =
        lines.iter().zip(first..).map(|(line, number)| format!("{number:>6}\t{line}")).collect();
    numbered.join("\n")
}

/// Replaces a text that occurs exactly once.
pub(crate) fn replace(path: &FilePath, text: &str, old: &str, new: &str) -> Result<FileChange> {
    let unfit = |message: String| Err(Error::new(codes::FILE_EDIT_UNFIT, message));
    let Some(at) = text.find(old) else {
        return unfit(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        ));
    };
    if text.matches(old).nth(1).is_some() {
        let lines = places(text, old).join(", ");
        return unfit(format!(
            "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is \
             unique"
        ));
    }
    let text = [&text[..at], new, &text[at + old.len()..]].concat();
    let lines: Vec<&str> = text.split('\n').collect();
    let changed = text[..at].matches('\n').count();
    let first = changed.saturating_sub(AROUND);
    let snippet = numbered(&lines[first..lines.len().min(changed + AROUND + 1)], first + 1);
    let reply = format!(
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
    );
    Ok(FileChange { text, reply })
}

/// The lines where a text begins. Occurrences may overlap.
fn places(text: &str, searched: &str) -> Vec<String> {
    let (mut lines, mut line, mut from, mut counted) = (Vec::new(), 1, 0, 0);
    while let Some(at) = text[from..].find(searched).map(|at| from + at) {
        line += text[counted..at].matches('\n').count();
        lines.push(line.to_string());
        let Some(next) = text[at..].chars().next().filter(|_| lines.len() < MAX_PLACES) else { break };
        (counted, from) = (at, at + next.len_utf8());
    }
    lines
}

/// Inserts lines after the line of this number; 0 is the beginning.
pub(crate) fn insert(path: &FilePath, text: &str, after: i64, inserted: &str) -> Result<FileChange> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop_if(|last| last.is_empty());
    let Some(place) = usize::try_from(after).ok().filter(|place| *place <= lines.len()) else {
        let message = format!(
            "Invalid `insert_line` parameter: {after}. It should be within the range [0, {}].",
            lines.len()
        );
        return Err(Error::new(codes::FILE_LINE_INVALID, message));
    };
    lines.insert(place, inserted.trim_end_matches('\n'));
    let mut text = lines.join("\n");
    // As the SDK does it: of empty lines at the end, one is lost.
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(FileChange { text, reply: format!("The file {path} has been edited.") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path() -> FilePath {
        FilePath::parse("/memories/a.md").unwrap()
    }

    fn error(result: Result<impl std::fmt::Debug>) -> (&'static str, String) {
        let error = result.unwrap_err();
        (error.code(), error.to_string())
    }

    #[test]
    fn lines_have_numbers() {
        let seen = |text, range: Option<&[i64]>| {
            let seen = view(&path(), text, range).unwrap();
            let (head, lines) = seen.split_once('\n').unwrap();
            assert_eq!(head, "Here's the content of /memories/a.md with line numbers:");
            lines.to_owned()
        };
        assert_eq!(seen("one\ntwo\r\n", None), "     1\tone\n     2\ttwo\r\n     3\t");
        assert_eq!(seen("", None), "     1\t");
        let text = "a\nb\nc\nd";
        assert_eq!(seen(text, Some(&[2, 3])), "     2\tb\n     3\tc");
        assert_eq!(seen(text, Some(&[3, -1])), "     3\tc\n     4\td");
        assert_eq!(seen(text, Some(&[0, 1])), "     1\ta");
        assert_eq!(seen(text, Some(&[4, 99])), "     4\td");
        assert_eq!(seen(text, Some(&[9, -1])), "");
        for wrong in [&[3, 2][..], &[1, -2], &[1], &[], &[1, 2, 3]] {
            let (code, message) = error(view(&path(), text, Some(wrong)));
            assert_eq!(code, "file_line_invalid");
            assert!(message.contains(&format!("{wrong:?}")) && message.contains("[1, 4]"), "{message}");
        }
        let many = "\n".repeat(MAX_LINES);
        assert_eq!(
            error(view(&path(), &many, None)),
            (
                "file_too_many_lines",
                "File /memories/a.md exceeds maximum line limit of 999,999 lines.".into()
            )
        );
        assert!(seen(&many[1..], Some(&[999_999, -1])).starts_with("999999\t"));
    }

    #[test]
    fn a_text_is_replaced_where_it_is_unique() {
        let text = "1\n2\n3\n4\n5\n6\n7\n";
        let done = replace(&path(), text, "4\n", "four\nand\n").unwrap();
        assert_eq!(done.text, "1\n2\n3\nfour\nand\n5\n6\n7\n");
        assert_eq!(
            done.reply,
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     \
             2\t2\n     3\t3\n     4\tfour\n     5\tand\n     6\t5"
        );
        assert_eq!(replace(&path(), "", "", "x").unwrap().text, "x");
        assert_eq!(
            error(replace(&path(), text, "8", "x")),
            (
                "file_edit_unfit",
                "No replacement was performed, old_str `8` did not appear verbatim in /memories/a.md.".into()
            )
        );
        let (_, message) = error(replace(&path(), "ü ü\n\nüü", "ü", "x"));
        assert_eq!(
            message,
            "No replacement was performed. Multiple occurrences of old_str `ü` in lines: 1, 1, 3, 3. Please ensure it is \
             unique"
        );
        let (_, message) = error(replace(&path(), &"x".repeat(5_000), "x", "y"));
        assert_eq!(message.matches("1, ").count() + 1, MAX_PLACES);
    }

    #[test]
    fn lines_are_inserted_after_a_line() {
        let inserted = |text, after, lines| insert(&path(), text, after, lines).unwrap().text;
        assert_eq!(inserted("a\nb\n", 0, "x"), "x\na\nb\n");
        assert_eq!(inserted("a\nb", 2, "x\ny\n\n"), "a\nb\nx\ny\n");
        assert_eq!(inserted("", 0, "x"), "x\n");
        assert_eq!(inserted("", 0, ""), "\n");
        for wrong in [-1, 3, i64::MAX] {
            let expected =
                format!("Invalid `insert_line` parameter: {wrong}. It should be within the range [0, 2].");
            assert_eq!(error(insert(&path(), "a\nb\n", wrong, "x")), ("file_line_invalid", expected));
        }
    }

    proptest! {
        #[test]
        fn a_view_has_every_line_once(text in "[ab\n]{0,20}", first in 1_i64..8, more in 0_i64..8) {
            let all = view(&path(), &text, None).unwrap();
            let lines: Vec<&str> = all.split('\n').skip(1).map(|line| &line[7..]).collect();
            prop_assert_eq!(lines.join("\n"), text.clone());
            let some = view(&path(), &text, Some(&[first, first + more])).unwrap();
            let expected: Vec<&str> =
                all.split('\n').skip(first as usize).take(more as usize + 1).collect();
            prop_assert_eq!(some.split_once('\n').unwrap().1, expected.join("\n"));
        }

        #[test]
        fn a_replacement_is_undone_by_its_opposite(before in "[ab\n]{0,9}", after in "[ab\n]{0,9}") {
            let text = format!("{before}old{after}");
            let done = replace(&path(), &text, "old", "new").unwrap();
            prop_assert_eq!(&done.text, &format!("{before}new{after}"));
            prop_assert_eq!(replace(&path(), &done.text, "new", "old").unwrap().text, text);
        }

        #[test]
        fn an_insertion_keeps_all_lines(text in "([ab]{1,3}\n){0,5}", place in 0_usize..6, line in "[xy]{1,3}") {
            let count = text.matches('\n').count();
            let result = insert(&path(), &text, place as i64, &line);
            prop_assert_eq!(result.is_ok(), place <= count);
            if let Ok(done) = result {
                let mut lines: Vec<&str> = done.text.lines().collect();
                prop_assert_eq!(lines.remove(place), line);
                prop_assert_eq!(lines, text.lines().collect::<Vec<_>>());
            }
        }

        #[test]
        fn no_text_breaks_a_replacement(text in any::<String>(), old in any::<String>(), new in any::<String>()) {
            let count = text.matches(&old).count();
            prop_assert_eq!(replace(&path(), &text, &old, &new).is_ok(), count == 1);
        }
    }
}
