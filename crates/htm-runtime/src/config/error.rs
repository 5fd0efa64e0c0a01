//! Errors of a configuration. Each names the source of the mistake.

use std::io;
use std::path::Path;

use htm_core::Error;

use crate::codes;

/// No key has this name.
pub(super) fn unknown_key(key: &str, source_name: &str, nearest: Option<&str>) -> Error {
    let message = format!("there is no key `{key}` (in {source_name}){}", did_you_mean(nearest));
    Error::new(codes::CONFIG_UNKNOWN_KEY, message)
        .with_hint(format!("rename or remove it in {source_name}; `htm config default` prints every key"))
}

/// A variable that would be a key's, but for its underscores.
pub(super) fn variable(variable: &str, key: &str) -> Error {
    let meant = format!("HTM_{}", key.replacen('.', "__", 1).to_uppercase());
    let message = format!("{variable} is no variable of HTM: did you mean {meant}?");
    Error::new(codes::CONFIG_UNKNOWN_KEY, message)
        .with_hint("a variable has two underscores between the section and the key; rename or unset it")
}

/// Neither a key nor a section has this name.
pub(super) fn unknown_name(name: &str, nearest: Option<&str>) -> Error {
    let message = format!("no key and no section is called `{name}`{}", did_you_mean(nearest));
    Error::new(codes::CONFIG_UNKNOWN_KEY, message)
}

/// The value has the wrong type or is out of range. For a secret, `value` is `***`.
pub(super) fn bad_value(key: &str, value: &str, source_name: &str, allowed: &str) -> Error {
    let message = format!("`{key}` cannot be {value} (in {source_name}); allowed: {allowed}");
    Error::new(codes::CONFIG_BAD_VALUE, message)
        .with_hint(format!("change `{key}` in {source_name}; what it does: `htm config explain {key}`"))
}

/// The zone is to be the system's, which cannot be read.
pub(super) fn system_zone(source_name: &str, key: &str, cause: Error) -> Error {
    let message = format!("`{key}` cannot be \"system\" (in {source_name}): {cause}");
    Error::new(codes::CONFIG_BAD_VALUE, message).with_hint(cause.hint().to_owned())
}

/// A file, or a value in the environment, is not valid TOML.
pub(super) fn unreadable(source_name: &str, message: &str) -> Error {
    let message = format!("{source_name} cannot be read as configuration: {message}");
    Error::new(codes::CONFIG_UNREADABLE, message).with_hint(format!("mend {source_name}: it has to be TOML"))
}

/// The value of a variable is not UTF-8. It is not shown: it may be a secret.
pub(super) fn not_utf8(variable: &str) -> Error {
    let message = format!("{variable} cannot be read as configuration: its value is not UTF-8");
    Error::new(codes::CONFIG_UNREADABLE, message)
        .with_hint(format!("set {variable} to a text in UTF-8, or unset it"))
}

/// A project's file sets `keys`, which need trust, and the user does not trust the file.
pub(super) fn untrusted(path: &Path, keys: &[String]) -> Error {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let path = path.display();
    let message = format!("{path} sets {}, and nobody said that it is trusted", keys.join(", "));
    Error::new(codes::CONFIG_UNTRUSTED, message).with_hint(format!(
        "it decides where memories and keys go, and which files are read: read {path}, then run `htm config trust` \
         here, again after each change; or remove these keys from it"
    ))
}

/// A key, such as `openai.api_key`, would be sent to a URL from a source that is trusted less.
pub(super) fn key_elsewhere(key: &str, key_source: &str, url_key: &str, url_source: &str) -> Error {
    let message = format!(
        "`{key}` of {key_source} would be sent to `{url_key}` of {url_source}, which is trusted less"
    );
    Error::new(codes::CONFIG_KEY_ELSEWHERE, message).with_hint(format!(
        "if it is to go there, set `{url_key}` where `{key}` is set; else unset `{key}` here, or remove `{url_key}` \
         from {url_source}"
    ))
}

/// The file system refused to `read` or `write` a file.
pub(super) fn io(action: &str, path: &Path, source: io::Error) -> Error {
    Error::new(codes::CONFIG_IO, format!("could not {action} {}", path.display())).with_source(source)
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}
