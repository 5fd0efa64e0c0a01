//! The paths of files.

use std::fmt;

use super::shortened;
use crate::model::error::{Error, Result, codes};
use crate::model::memory::MAX_KEY_BYTES;

/// The directory of all files.
pub(crate) const ROOT: &str = "/memories";

/// `/memories`, or a path below it, without empty names, `.` and `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilePath(String);

impl FilePath {
    /// Reads a path. Empty names and `.` are left out, as `/memories//a/./b/` is `/memories/a/b`. A name `..` is refused
    /// everywhere, also in the spellings of URLs and of Windows.
    pub(crate) fn parse(given: &str) -> Result<Self> {
        let refused = |message: String| Err(Error::new(codes::FILE_PATH_INVALID, message));
        let shown = shortened(given);
        let below = given.strip_prefix(ROOT).filter(|below| below.is_empty() || below.starts_with('/'));
        let Some(below) = below else {
            return refused(format!("Path must start with {ROOT}, got: {shown}"));
        };
        if given.chars().any(char::is_control) {
            return refused(format!("Path {} has a control character", shown.escape_default()));
        }
        if decoded(below).split(['/', '\\']).any(|name| name == "..") {
            return refused(format!("Path {shown} would escape {ROOT} directory"));
        }
        let mut path = ROOT.to_owned();
        for name in below.split('/').filter(|name| !matches!(*name, "" | ".")) {
            path.push('/');
            path.push_str(name);
        }
        match path.len() > MAX_KEY_BYTES {
            true => refused(format!("Path {shown} is longer than {MAX_KEY_BYTES} bytes")),
            false => Ok(Self(path)),
        }
    }

    /// Whether a key is the path of a file.
    pub(crate) fn is_of_file(key: &str) -> bool {
        Self::parse(key).is_ok_and(|path| path.0 == key && !path.is_root())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0 == ROOT
    }

    /// The directories above it, without the root.
    pub(crate) fn above(&self) -> Vec<Self> {
        let ends = self.0.match_indices('/').map(|(at, _)| at).filter(|at| *at > ROOT.len());
        ends.map(|at| Self(self.0[..at].to_owned())).collect()
    }

    pub(crate) fn is_below(&self, directory: &Self) -> bool {
        self.0.strip_prefix(&directory.0).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The path of a key at or below this one when this one is renamed.
    pub(crate) fn moved(&self, key: &str, to: &Self) -> Result<Self> {
        Self::parse(&format!("{to}{}", key.strip_prefix(&self.0).unwrap_or_default()))
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path with the escapes of URLs for `.`, `/` and `\` replaced, again and again.
fn decoded(path: &str) -> String {
    let mut path = path.to_ascii_lowercase();
    loop {
        let next = path.replace("%25", "%").replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\");
        if next == path {
            return path;
        }
        path = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(path: &str) -> String {
        let error = FilePath::parse(path).unwrap_err();
        assert_eq!(error.code(), "file_path_invalid", "{path:?}");
        error.to_string()
    }

    #[test]
    fn paths_are_below_the_root() {
        for (given, read) in [
            ("/memories", "/memories"),
            ("/memories/", "/memories"),
            ("/memories//a/./b.md/", "/memories/a/b.md"),
            ("/memories/Ünïcode 📝/..md", "/memories/Ünïcode 📝/..md"),
            ("/memories/100%", "/memories/100%"),
        ] {
            assert_eq!(FilePath::parse(given).unwrap().as_str(), read, "{given}");
        }
        for outside in ["", "/", "memories/a", "/etc/passwd", "/memoriesx", "/Memories/a", "..", "C:\\x"] {
            assert_eq!(refused(outside), format!("Path must start with /memories, got: {outside}"));
        }
        for escaping in [
            "/memories/../x",
            "/memories/a/..",
            "/memories/a/../b",
            "/memories/%2e%2e/x",
            "/memories/.%2E/x",
            "/memories/%252e%252e%252fx",
            "/memories/..%2fx",
            "/memories/..\\x",
            "/memories/a%5c..%5cx",
        ] {
            assert_eq!(refused(escaping), format!("Path {escaping} would escape /memories directory"));
        }
        assert_eq!(refused("/memories/a\0"), "Path /memories/a\\u{0} has a control character");
        assert_eq!(refused("/memories/a\nb"), "Path /memories/a\\nb has a control character");
        assert!(refused(&format!("/memories/{}", "x".repeat(600))).contains("512"));
    }

    #[test]
    fn a_key_is_a_file_if_it_is_a_path_as_it_stands() {
        for (key, is_file) in [
            ("/memories/a", true),
            ("/memories/a/b", true),
            ("/memories", false),
            ("/memories/a/", false),
            ("/memories//a", false),
            ("/memories/../a", false),
            ("adr-7", false),
        ] {
            assert_eq!(FilePath::is_of_file(key), is_file, "{key}");
        }
    }

    #[test]
    fn a_path_knows_what_is_above_and_moves_with_it() {
        let path = |text| FilePath::parse(text).unwrap();
        assert_eq!(path("/memories/a/b/c").above(), [path("/memories/a"), path("/memories/a/b")]);
        assert!(path("/memories/a").above().is_empty() && path("/memories").above().is_empty());
        assert!(path("/memories/a/b").is_below(&path("/memories/a")));
        assert!(!path("/memories/ab").is_below(&path("/memories/a")));
        let (old, new) = (path("/memories/a"), path("/memories/z/y"));
        assert_eq!(old.moved("/memories/a/b", &new).unwrap(), path("/memories/z/y/b"));
        assert_eq!(old.moved("/memories/a", &new).unwrap(), new);
    }

    proptest! {
        #[test]
        fn a_read_path_never_leads_out(given in "(/memories)?[/.%2eEfF5cC\\\\a]{0,12}") {
            if let Ok(path) = FilePath::parse(&given) {
                prop_assert!(path.is_root() || path.is_below(&FilePath(ROOT.into())));
                prop_assert!(path.as_str().split('/').all(|name| name != ".."));
                prop_assert!(!decoded(path.as_str()).contains("/../"));
                // Reading it again changes nothing.
                prop_assert_eq!(&FilePath::parse(path.as_str()).unwrap(), &path);
            }
        }
    }
}
