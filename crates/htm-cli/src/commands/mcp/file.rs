//! A client's configuration file: read, compared, and replaced as a whole.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::codes;
use crate::error::CliError;

/// A file as it was read.
pub(super) struct ConfigFile {
    /// Its path, without symbolic links if it exists: a link stays a link.
    pub(super) path: PathBuf,
    /// Empty, if it does not exist.
    pub(super) text: String,
    exists: bool,
}

impl ConfigFile {
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        let path = match fs::canonicalize(path) {
            Ok(path) => path,
            // A link to nothing is not replaced.
            Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                let path = std::path::absolute(path).map_err(io("found", path))?;
                return Ok(Self { path, text: String::new(), exists: false });
            }
            Err(error) => return Err(io("read", path)(error)),
        };
        let bytes = fs::read(&path).map_err(io("read", &path))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            CliError::new(codes::CLIENT_CONFIG_INVALID, format!("{} is not UTF-8", path.display()))
        })?;
        Ok(Self { path, text, exists: true })
    }

    /// The changed lines: `-` as they are, `+` as they will be. Lines around them are not shown, because they may have the
    /// keys of other servers; nor is what stays of a line that has another server.
    pub(super) fn diff(&self, changed: &str) -> String {
        let (old, new): (Vec<&str>, Vec<&str>) = (self.text.lines().collect(), changed.lines().collect());
        let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[start..], &new[start..]);
        let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
        let mut text = format!("line {}:", start + 1);
        let mut show = |sign: char, first: Option<String>, lines: &[&str]| {
            let rest = lines.iter().skip(usize::from(first.is_some())).map(|line| (*line).to_owned());
            first.into_iter().chain(rest).for_each(|line| text.push_str(&format!("\n{sign} {line}")));
        };
        let (before, after) = match (old, new) {
            ([before, ..], [after, ..]) => differing(before, after).unzip(),
            _ => (None, None),
        };
        show('-', before, old);
        show('+', after, new);
        text
    }

    /// Replaces the file in one step, and returns the copy of what was there. Its mode and its owner stay.
    pub(super) fn replace(&self, changed: &str) -> Result<Option<PathBuf>, CliError> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(io("created", dir))?;
        // The umask of this process applies to a new file.
        let new = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(dir);
        let mut new = new.map_err(io("written in", dir))?;
        let written = io("written", &self.path);
        let mut write = || {
            new.write_all(changed.as_bytes())?;
            if self.exists {
                self.keep_rights(new.as_file())?;
            }
            new.as_file().sync_all()
        };
        write().map_err(&written)?;
        let backup = self.exists.then(|| self.backup());
        if let Some(backup) = &backup {
            self.back_up(dir, backup).map_err(io("written", backup))?;
        }
        // Clients write these files too.
        if Self::read(&self.path)?.text != self.text {
            let message = format!("{} was changed by another program meanwhile", self.path.display());
            return Err(CliError::new(codes::CLIENT_CONFIG_CHANGED, message));
        }
        new.persist(&self.path).map_err(|error| written(error.error))?;
        Ok(backup)
    }

    /// Writes the text as it was into a file that takes the backup's name: a link of that name is replaced, not followed.
    fn back_up(&self, dir: &Path, backup: &Path) -> std::io::Result<()> {
        let mut copy = tempfile::NamedTempFile::new_in(dir)?;
        copy.write_all(self.text.as_bytes())?;
        self.keep_rights(copy.as_file())?;
        copy.persist(backup)?;
        Ok(())
    }

    fn keep_rights(&self, new: &File) -> std::io::Result<()> {
        let (old, own) = (fs::metadata(&self.path)?, new.metadata()?);
        if (old.uid(), old.gid()) != (own.uid(), own.gid()) {
            fchown(new, Some(old.uid()), Some(old.gid()))?;
        }
        new.set_permissions(old.permissions())
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".htm-backup");
        name.into()
    }
}

/// The difference of a line with another server, before and after a change. None for any other line.
fn differing(before: &str, after: &str) -> Option<(String, String)> {
    let gets_comma = |from: &str, to: &str| to.strip_suffix(',') == Some(from);
    let gets_comma =
        (gets_comma(before, after) || gets_comma(after, before)) && before.contains(char::is_alphanumeric);
    let is_nested = before.contains('{') && after.contains('{');
    if !(gets_comma || is_nested) {
        return None;
    }
    let alike = |before: &mut dyn Iterator<Item = char>, after: &mut dyn Iterator<Item = char>| {
        before.zip(after).take_while(|(before, after)| before == after).count()
    };
    let start = alike(&mut before.chars(), &mut after.chars());
    let rest = |text: &str| text.chars().skip(start).collect::<Vec<char>>();
    let (before, after) = (rest(before), rest(after));
    let end = alike(&mut before.iter().rev().copied(), &mut after.iter().rev().copied());
    let shown = |text: &[char]| {
        let text: String = text[..text.len() - end].iter().collect();
        format!("{}{text}{}", if start > 0 { "…" } else { "" }, if end > 0 { "…" } else { "" })
    };
    Some((shown(&before), shown(&after)))
}

fn io(what: &str, path: &Path) -> impl Fn(std::io::Error) -> CliError + use<> {
    let what = format!("{} cannot be {what}", path.display());
    move |error| CliError::io(what.clone())(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(text: &str, changed: &str) -> String {
        ConfigFile { path: PathBuf::new(), text: text.into(), exists: true }.diff(changed)
    }

    #[test]
    fn keys_of_other_servers_are_not_shown() {
        let github = r#"    "github": { "command": "npx", "env": { "TOKEN": "ghp_secret" } }"#;
        let htm = r#"    "htm": { "command": "htm" }"#;
        let before = format!("{{\n{github}\n}}");
        let after = format!("{{\n{github},\n{htm}\n}}");
        assert_eq!(diff(&before, &after), format!("line 2:\n- …\n+ …,\n+ {htm}"));
        let before = r#"{"mcpServers":{"github":{"env":{"TOKEN":"ghp_secret"}}}}"#;
        let after = r#"{"mcpServers":{"github":{"env":{"TOKEN":"ghp_secret"}},"htm":{"command":"htm"}}}"#;
        let shown = diff(before, after);
        assert!(shown.contains("htm") && !shown.contains("secret"), "{shown}");
        // What is not of another server is shown as it is.
        let (before, after) = ("{\n  \"command\": \"/a/htm\"\n}", "{\n  \"command\": \"/b/htm\"\n}");
        assert_eq!(diff(before, after), "line 2:\n-   \"command\": \"/a/htm\"\n+   \"command\": \"/b/htm\"");
        assert_eq!(diff("{\n  {}\n}", "{\n  {},\n  {}\n}"), "line 2:\n+   {},");
    }

    #[test]
    fn a_link_in_the_place_of_the_copy_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("mcp.json"), dir.path().join("other"));
        fs::write(&path, "{}").unwrap();
        fs::write(&other, "mine").unwrap();
        std::os::unix::fs::symlink(&other, dir.path().join("mcp.json.htm-backup")).unwrap();
        let backup = ConfigFile::read(&path).unwrap().replace("{ }").unwrap().unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&backup).unwrap(), "{}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ }");
    }
}
