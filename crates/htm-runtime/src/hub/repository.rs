//! A repository of the hub: its name, and its files at a revision.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path};
use std::str::FromStr;

use htm_core::{Error, Result};
use serde::Deserialize;

use super::Hub;
use crate::codes;

/// The files of an encoder, beside `config.json` and the weights.
const OF_ENCODER: [&str; 7] = [
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];

/// The places of an encoder's parts.
pub(super) const MODULES: &str = "modules.json";

/// Terms that are kept beside the files.
const LICENCES: [&str; 3] = ["LICENSE", "LICENSE.txt", "LICENSE.md"];

/// A repository, such as `BAAI/bge-small-en-v1.5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository(String);

impl Repository {
    /// The last part of its name.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl FromStr for Repository {
    type Err = Error;

    /// `OWNER/NAME`, or a `NAME` without an owner.
    ///
    /// # Errors
    /// `hub_repository_invalid`.
    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        match matches!(parts.len(), 1 | 2) && parts.iter().all(|part| is_name(part)) {
            true => Ok(Self(text.to_owned())),
            false => {
                let message = format!("`{text}` is not a model of the hub");
                Err(Error::new(codes::HUB_REPOSITORY_INVALID, message))
            }
        }
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text can be a model's name and a folder's.
pub(super) fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric();
    text.len() <= 96
        && text.bytes().next().is_some_and(letter)
        && text.bytes().all(|byte| letter(byte) || matches!(byte, b'-' | b'_' | b'.'))
        && !text.contains("..")
}

/// A file of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RemoteFile {
    pub(super) path: String,
    pub(super) bytes: u64,
    pub(super) hash: Hash,
}

/// The hash that the hub states of a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    /// SHA-256, for large files.
    Sha256(String),
    /// The id of its Git blob, a SHA-1, for small ones.
    GitBlob(String),
}

/// A repository at a commit.
pub(super) struct Listing {
    pub(super) commit: String,
    files: Vec<RemoteFile>,
}

/// The answer of the hub, as its own client reads it (`ModelInfo` of huggingface_hub).
#[derive(Deserialize)]
struct Answer {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    blob_id: Option<String>,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    sha256: String,
    size: u64,
}

impl Hub {
    /// Lists a repository at a revision: a branch, a tag, or a commit.
    pub(super) async fn list(&self, repository: &Repository, revision: &str) -> Result<Listing> {
        let path = ["api", "models"].into_iter().chain(repository.segments()).chain(["revision", revision]);
        let mut url = self.url(path)?;
        url.set_query(Some("blobs=true"));
        let invalid = |reason: String| {
            Error::new(codes::HUB_ANSWER_INVALID, format!("the hub's list of {repository} {reason}"))
        };
        let answer: Answer = serde_json::from_slice(&self.read(url).await?)
            .map_err(|error| invalid("is not one".into()).with_source(error))?;
        if !is_hex(&answer.sha) {
            return Err(invalid(format!("names a commit `{}`", answer.sha)));
        }
        let files = answer.siblings.into_iter().filter_map(remote).collect();
        Ok(Listing { commit: answer.sha, files })
    }

    /// The URL of a file at a commit.
    pub(super) fn file(&self, repository: &Repository, commit: &str, path: &str) -> Result<reqwest::Url> {
        self.url(repository.segments().chain(["resolve", commit]).chain(path.split('/')))
    }
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A file of the list. None if it has no stated content, or a path that leads elsewhere.
fn remote(sibling: Sibling) -> Option<RemoteFile> {
    let Sibling { rfilename: path, size, blob_id, lfs } = sibling;
    let stays = Path::new(&path).components().all(|part| matches!(part, Component::Normal(_)));
    let (bytes, hash) = match lfs {
        Some(Lfs { sha256, size }) => (size, Hash::Sha256(sha256)),
        None => (size?, Hash::GitBlob(blob_id?)),
    };
    let (Hash::Sha256(hex) | Hash::GitBlob(hex)) = &hash;
    (stays && is_hex(hex)).then_some(RemoteFile { path, bytes, hash })
}

impl Listing {
    /// The file at a path.
    pub(super) fn get(&self, path: &str) -> Option<&RemoteFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files that a model needs, whose parts are in `folders`: small ones first, the weights last.
    ///
    /// # Errors
    /// `hub_model_unfit` without weights that HTM can read.
    pub(super) fn needed(&self, folders: &[String]) -> Result<Vec<&RemoteFile>> {
        let of_folder = |folder: &String| OF_ENCODER.map(|file| format!("{folder}/{file}"));
        let wanted: BTreeSet<String> = [MODULES]
            .into_iter()
            .chain(OF_ENCODER)
            .chain(LICENCES)
            .map(str::to_owned)
            .chain(folders.iter().flat_map(of_folder))
            .collect();
        let mut files: Vec<&RemoteFile> =
            self.files.iter().filter(|file| wanted.contains(&file.path)).collect();
        files.sort_by_key(|file| (is_weights(&file.path), file.bytes));
        match files.iter().any(|file| is_weights(&file.path)) {
            true => Ok(files),
            false => Err(Error::new(codes::HUB_MODEL_UNFIT, self.without_weights())),
        }
    }

    fn without_weights(&self) -> String {
        let others = [".safetensors", ".safetensors.index.json", ".bin", ".onnx", ".gguf", ".h5"];
        let has: Vec<&str> = self
            .files
            .iter()
            .map(|file| file.path.as_str())
            .filter(|path| others.iter().any(|end| path.ends_with(end)))
            .take(3)
            .collect();
        match has.as_slice() {
            [] => "it has no model.safetensors, and no other weights".into(),
            has => format!("it has no model.safetensors, but {}", has.join(", ")),
        }
    }
}

/// Whether a file is what makes a model large.
pub(super) fn is_weights(path: &str) -> bool {
    path.rsplit('/').next() == Some("model.safetensors")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_an_owner_and_a_name() {
        for (text, name) in [("BAAI/bge-small-en-v1.5", "bge-small-en-v1.5"), ("gpt2", "gpt2")] {
            assert_eq!(text.parse::<Repository>().unwrap().name(), name);
        }
        for text in ["", "/", "a/", "/a", "a/b/c", "../a", "a/..", "a/b c", "a/.b", "a/b?c", "https://x/a"] {
            let error = text.parse::<Repository>().unwrap_err();
            assert!(error.is(codes::HUB_REPOSITORY_INVALID), "{text}");
        }
    }

    fn sibling(path: &str) -> Sibling {
        Sibling { rfilename: path.into(), size: Some(3), blob_id: Some("ab".into()), lfs: None }
    }

    #[test]
    fn a_path_stays_in_the_folder() {
        assert!(remote(sibling("1_Pooling/config.json")).is_some());
        for path in ["../config.json", "/etc/passwd", "a/../../b"] {
            assert_eq!(remote(sibling(path)), None, "{path}");
        }
        assert_eq!(remote(Sibling { blob_id: Some("../x".into()), ..sibling("a") }), None);
        assert_eq!(remote(Sibling { size: None, ..sibling("a") }), None);
    }

    #[test]
    fn only_what_is_needed_is_fetched_and_the_weights_come_last() {
        let listing = |paths: &[&str]| Listing {
            commit: "0a".into(),
            files: paths.iter().filter_map(|path| remote(sibling(path))).collect(),
        };
        let mut whole = listing(&[
            "README.md",
            "config.json",
            "modules.json",
            "onnx/model.onnx",
            "pytorch_model.bin",
            "tokenizer.json",
            "1_Pooling/config.json",
            "2_Other/config.json",
        ]);
        whole.files.push(RemoteFile {
            path: "model.safetensors".into(),
            bytes: 90,
            hash: Hash::Sha256("ab".into()),
        });
        let paths: Vec<&str> =
            whole.needed(&["1_Pooling".into()]).unwrap().iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            paths,
            ["config.json", "modules.json", "tokenizer.json", "1_Pooling/config.json", "model.safetensors"]
        );
        let error = listing(&["config.json", "pytorch_model.bin", "a/model.onnx"]).needed(&[]).unwrap_err();
        assert!(error.is(codes::HUB_MODEL_UNFIT));
        assert_eq!(error.to_string(), "it has no model.safetensors, but pytorch_model.bin, a/model.onnx");
    }
}
