//! The listing of a directory.

use std::collections::BTreeMap;

use super::path::FilePath;

/// The levels that are listed.
const LEVELS: usize = 2;

/// A file, a directory or both, by a name in a directory.
#[derive(Default)]
struct Item<'a> {
    /// The bytes of the file.
    file: Option<u64>,
    /// The bytes of the files below.
    bytes: u64,
    /// The items below, in the order of the names.
    items: BTreeMap<&'a str, Item<'a>>,
}

/// The listing of a directory, by the keys and the bytes of the files below it. A directory has the bytes of its files.
pub(crate) fn listing<'a>(directory: &FilePath, files: impl Iterator<Item = (&'a str, u64)>) -> String {
    let mut root = Item::default();
    for (key, bytes) in files {
        let Some(below) = key.strip_prefix(directory.as_str()) else { continue };
        let mut item = &mut root;
        let mut names = below.trim_start_matches('/').split('/').peekable();
        item.bytes += bytes;
        for _ in 0..LEVELS {
            let Some(name) = names.next() else { break };
            item = item.items.entry(name).or_default();
            match names.peek() {
                Some(_) => item.bytes += bytes,
                None => item.file = Some(bytes),
            }
        }
    }
    let mut lines = vec![
        format!(
            "Here're the files and directories up to 2 levels deep in {directory}, excluding hidden items:"
        ),
        format!("{}\t{directory}", size(root.bytes)),
    ];
    list(directory.as_str(), &root, &mut lines, LEVELS);
    lines.join("\n")
}

fn list(path: &str, directory: &Item<'_>, lines: &mut Vec<String>, levels: usize) {
    for (name, item) in directory.items.iter().filter(|(name, _)| !name.starts_with('.')) {
        // A memory's key may be the path of a directory too.
        if let Some(bytes) = item.file {
            lines.push(format!("{}\t{path}/{name}", size(bytes)));
        }
        if item.file.is_none() || !item.items.is_empty() {
            lines.push(format!("{}\t{path}/{name}/", size(item.bytes)));
            if levels > 1 {
                list(&format!("{path}/{name}"), item, lines, levels - 1);
            }
        }
    }
}

/// A number of bytes: `0B`, `812B`, `1.5K`, `2M`.
fn size(bytes: u64) -> String {
    let power = (bytes.max(1).ilog2() / 10).min(3);
    let value = bytes as f64 / f64::from(1_u32 << (10 * power));
    let unit = ["B", "K", "M", "G"][power as usize];
    match value.fract() == 0.0 {
        true => format!("{value}{unit}"),
        false => format!("{value:.1}{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(directory: &str, files: &[(&str, u64)]) -> String {
        let text = listing(&FilePath::parse(directory).unwrap(), files.iter().copied());
        let (head, rest) = text.split_once('\n').unwrap();
        let expected = "Here're the files and directories up to 2 levels deep in {}, excluding hidden items:";
        assert_eq!(head, expected.replace("{}", directory));
        rest.to_owned()
    }

    #[test]
    fn two_levels_are_listed_in_the_order_of_names() {
        let files = [
            ("/memories/.hidden", 5),
            ("/memories/a.md", 1_536),
            ("/memories/a/b/c.md", 10),
            ("/memories/a/b/d/e.md", 20),
            ("/memories/a/.git/x", 7),
            ("/memories/a/z.md", 0),
            ("/memories/é.md", 1_048_576),
        ];
        let expected = "1.0M\t/memories\n37B\t/memories/a/\n30B\t/memories/a/b/\n0B\t/memories/a/z.md\n\
                        1.5K\t/memories/a.md\n1M\t/memories/é.md";
        assert_eq!(listed("/memories", &files), expected);
        assert_eq!(
            listed("/memories/a/b", &files[2..4]),
            "30B\t/memories/a/b\n10B\t/memories/a/b/c.md\n20B\t/memories/a/b/d/\n20B\t/memories/a/b/d/e.md"
        );
        assert_eq!(listed("/memories", &[]), "0B\t/memories");
        // Only memories that were given these keys by other calls.
        let both = [("/memories/a", 1), ("/memories/a/b", 2)];
        assert_eq!(
            listed("/memories", &both),
            "3B\t/memories\n1B\t/memories/a\n2B\t/memories/a/\n2B\t/memories/a/b"
        );
    }

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [
            (0, "0B"),
            (1, "1B"),
            (1_023, "1023B"),
            (1_024, "1K"),
            (1_025, "1.0K"),
            (5_632, "5.5K"),
            (1_048_576, "1M"),
            (3 << 40, "3072G"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
