//! The files of sentence-transformers beside an encoder: pooling, window and prefixes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use htm_core::Result;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::config::Config;
use super::files::{bad, missing, read_json, unsupported};
use super::pooling::Pooling;

/// The use of an encoder for sentences.
#[derive(Debug)]
pub(super) struct Sentence {
    pub(super) pooling: Pooling,
    /// Whether the model's files ask for vectors of unit length. HTM normalises in any case.
    pub(super) normalised: bool,
    /// The window in tokens, with the marks.
    pub(super) window: usize,
    /// Whether texts are lower-cased before tokenization.
    pub(super) lower_case: bool,
    /// The prefix of documents. None if the files name none.
    pub(super) document_prefix: Option<String>,
    /// The prefix of queries. None if the files name none.
    pub(super) query_prefix: Option<String>,
}

/// The directories of a model's parts, by `modules.json`.
#[derive(Debug)]
pub(super) struct Modules {
    /// The encoder's directory.
    pub(super) encoder: PathBuf,
    pooling: Option<PathBuf>,
    normalised: bool,
}

impl Modules {
    /// Reads `modules.json` of `dir`. Without the file, the encoder is in `dir`, and the pooling in `1_Pooling` or the
    /// mean.
    pub(super) fn load(dir: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Module {
            path: String,
            r#type: String,
        }
        let path = dir.join("modules.json");
        let mut found = Self { encoder: dir.to_owned(), pooling: None, normalised: false };
        let Some(modules) = read_json::<Vec<Module>>(&path)? else {
            let pooling = dir.join("1_Pooling");
            found.pooling = pooling.is_dir().then_some(pooling);
            return Ok(found);
        };
        for module in modules {
            // The package before the class name differs between versions.
            match module.r#type.rsplit('.').next().unwrap_or_default() {
                "Transformer" => found.encoder = dir.join(module.path),
                "Pooling" => found.pooling = Some(dir.join(module.path)),
                "Normalize" => found.normalised = true,
                _ => {
                    return Err(unsupported(&path, "type", module.r#type, "Transformer, Pooling, Normalize"));
                }
            }
        }
        Ok(found)
    }
}

impl Sentence {
    /// Reads the files beside the encoder of `config`, in `dir` and its parts.
    pub(super) fn load(dir: &Path, modules: &Modules, config: &Config) -> Result<Self> {
        let pooling = match &modules.pooling {
            Some(part) => pooling(&part.join("config.json"), config.hidden_size)?,
            None => Pooling::Mean,
        };
        let (window, lower_case) = reading(&modules.encoder, config)?;
        let [document, query] = prefixes(&dir.join("config_sentence_transformers.json"))?;
        // `htm models pull` writes what the files of a known model leave out.
        let [known_document, known_query] = prefixes(&dir.join("htm.json"))?;
        let (document_prefix, query_prefix) = (document.or(known_document), query.or(known_query));
        Ok(Self {
            pooling,
            normalised: modules.normalised,
            window,
            lower_case,
            document_prefix,
            query_prefix,
        })
    }
}

/// Reads the pooling of a file: a word, or in older files a flag for each kind.
fn pooling(path: &Path, width: usize) -> Result<Pooling> {
    let Some(file) = read_json::<Map<String, Value>>(path)? else {
        return Err(missing(path));
    };
    let said = file.get("embedding_dimension").or_else(|| file.get("word_embedding_dimension"));
    if let Some(said) = said.and_then(Value::as_u64)
        && said != width as u64
    {
        return Err(bad(path, format!("it is for {said} dimensions, and the encoder has {width}")));
    }
    if file.get("include_prompt") == Some(&Value::Bool(false)) {
        return Err(unsupported(path, "include_prompt", "false", "true"));
    }
    let word = match file.get("pooling_mode") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("+"),
        _ => {
            let set = file.iter().filter(|(_, value)| **value == Value::Bool(true));
            let words = set.filter_map(|(key, _)| match key.strip_prefix("pooling_mode_")? {
                "mean_sqrt_len_tokens" => Some("mean_sqrt_len_tokens"),
                word => word.strip_suffix("_tokens").or_else(|| word.strip_suffix("_token")).or(Some(word)),
            });
            words.collect::<Vec<_>>().join("+")
        }
    };
    Pooling::of_word(&word).ok_or_else(|| unsupported(path, "pooling_mode", word, Pooling::WORDS))
}

/// Reads the window, with the marks, and whether texts are lower-cased. The window is that of
/// `sentence_bert_config.json`, else of `tokenizer_config.json`, and at most the number of positions.
fn reading(dir: &Path, config: &Config) -> Result<(usize, bool)> {
    #[derive(Default, Deserialize)]
    struct SentenceBert {
        max_seq_length: Option<usize>,
        #[serde(default)]
        do_lower_case: bool,
    }
    #[derive(Default, Deserialize)]
    struct TokenizerConfig {
        /// A float, because "no limit" is written as 10^30.
        model_max_length: Option<f64>,
    }
    let path = dir.join("sentence_bert_config.json");
    let sentence = read_json::<SentenceBert>(&path)?.unwrap_or_default();
    let window = match sentence.max_seq_length {
        Some(window) => window,
        None => {
            let file = read_json::<TokenizerConfig>(&dir.join("tokenizer_config.json"))?.unwrap_or_default();
            // A float beyond usize's range becomes the maximum.
            file.model_max_length.map_or(usize::MAX, |window| window as usize)
        }
    };
    let window = window.min(config.positions());
    if window < 3 {
        return Err(bad(&path, "max_seq_length must be 3 or more"));
    }
    Ok((window, sentence.do_lower_case))
}

/// Reads the prefixes of documents and of queries. None if the file names none.
fn prefixes(path: &Path) -> Result<[Option<String>; 2]> {
    #[derive(Default, Deserialize)]
    struct File {
        #[serde(default)]
        prompts: HashMap<String, Option<String>>,
        default_prompt_name: Option<String>,
    }
    let File { prompts, default_prompt_name } = read_json(path)?.unwrap_or_default();
    let named = |name: &str| prompts.get(name).cloned().flatten();
    let default = match &default_prompt_name {
        Some(name) if !prompts.contains_key(name) => {
            return Err(bad(path, format!("its default_prompt_name {name:?} is not among its prompts")));
        }
        Some(name) => named(name),
        None => None,
    };
    // The names and their order are those of sentence-transformers' encode_document and encode_query.
    let documents = || ["document", "passage", "corpus"].into_iter().filter_map(named);
    // Versions from 5 on write an empty "document" beside a "passage".
    let document = documents().find(|prompt| !prompt.is_empty()).or_else(|| documents().next());
    Ok([document.or_else(|| default.clone()), named("query").or(default)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file.json");
        std::fs::write(&path, text).unwrap();
        (dir, path)
    }

    #[test]
    fn pooling_is_a_word_or_a_flag() {
        let of = |text: &str| pooling(&file(text).1, 8).map_err(|error| error.to_string());
        let read = |text: &str| {
            let (_dir, path) = file(text);
            pooling(&path, 8).map_err(|error| error.to_string())
        };
        assert!(of("{}").is_err(), "the directory is gone");
        assert_eq!(read(r#"{"pooling_mode": "cls", "embedding_dimension": 8}"#), Ok(Pooling::First));
        let flags = r#"{"word_embedding_dimension": 8, "pooling_mode_cls_token": false, "pooling_mode_max_tokens": true}"#;
        assert_eq!(read(flags), Ok(Pooling::Max));
        assert_eq!(read(r#"{"pooling_mode_mean_sqrt_len_tokens": true}"#), Ok(Pooling::Mean));
        let refused = [
            (r#"{"pooling_mode_lasttoken": true}"#, "pooling_mode `lasttoken`"),
            (r#"{"pooling_mode": ["mean", "max"]}"#, "pooling_mode `mean+max`"),
            (
                r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}"#,
                "pooling_mode `cls+mean`",
            ),
            (
                r#"{"pooling_mode": "mean", "embedding_dimension": 9}"#,
                "for 9 dimensions, and the encoder has 8",
            ),
            (r#"{"pooling_mode": "mean", "include_prompt": false}"#, "include_prompt `false`"),
        ];
        for (text, part) in refused {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn prefixes_go_by_name_and_then_by_default() {
        let read = |text: &str| {
            let (_dir, path) = file(text);
            prefixes(&path).map_err(|error| error.to_string())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("{}"), Ok([None, None]));
        assert_eq!(
            read(r#"{"prompts": {"query": "q: ", "document": "", "passage": "p: "}}"#),
            Ok([some("p: "), some("q: ")])
        );
        assert_eq!(
            read(r#"{"prompts": {"query": "q: ", "all": "a: "}, "default_prompt_name": "all"}"#),
            Ok([some("a: "), some("q: ")])
        );
        assert!(read(r#"{"default_prompt_name": "gone"}"#).unwrap_err().contains("\"gone\" is not among"));
        assert_eq!(prefixes(Path::new("/nowhere/file")).unwrap(), [None, None]);
    }
}
