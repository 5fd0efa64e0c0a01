use std::collections::BTreeSet;
use std::fs;

use figment::providers::Format as _;
use tempfile::TempDir;

use super::*;

/// Directories with a file for each layer that is given.
fn places(user: &str, project: &str, local: &str, env: &[(&str, &str)]) -> (Places, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("project/a/b");
    fs::create_dir_all(&deep).unwrap();
    fs::write(dir.path().join("user.toml"), user).unwrap();
    fs::write(dir.path().join("project/htm.toml"), project).unwrap();
    fs::write(dir.path().join("project/htm.local.toml"), local).unwrap();
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    (Places { user: Some(dir.path().join("user.toml")), project: Some(deep), env }, dir)
}

fn with_env(name: &str, value: &str) -> Result<Loaded, ConfigError> {
    let places = Places { env: vec![(name.into(), value.into())], ..Places::default() };
    Config::load_from(&places, &BTreeMap::new())
}

fn with_project(text: &str) -> ConfigError {
    let (places, _dir) = places("", text, "", &[]);
    Config::load_from(&places, &BTreeMap::new()).unwrap_err()
}

fn defaults() -> Loaded {
    Config::load_from(&Places::default(), &BTreeMap::new()).unwrap()
}

fn flat(value: Value) -> BTreeSet<String> {
    let sections = value.into_dict().unwrap();
    sections
        .into_iter()
        .flat_map(|(section, keys)| {
            keys.into_dict().unwrap().into_keys().map(move |key| format!("{section}.{key}"))
        })
        .collect()
}

#[test]
fn the_file_the_table_and_the_struct_have_the_same_keys() {
    let file: Value = Figment::new().merge(figment::providers::Toml::string(DEFAULT_TOML)).extract().unwrap();
    let table: BTreeSet<_> = keys::KEYS.iter().map(|key| key.name.to_owned()).collect();
    assert_eq!(flat(file), table);
    assert_eq!(flat(Value::serialize(defaults().config).unwrap()), table);
}

#[test]
fn every_key_of_the_file_is_explained() {
    let mut explained = false;
    for line in DEFAULT_TOML.lines() {
        if line.contains(" = ") && !line.starts_with('#') {
            assert!(explained, "{line} has no comment");
            explained = false;
        } else {
            explained = line.starts_with("# ");
        }
    }
}

#[test]
fn later_layers_win_and_each_value_knows_its_source() {
    let (places, dir) = places(
        "[recall]\nlimit = 1\npool = 1\nef_search = 1\nexact_scope = 1\nbm25_k1 = 1",
        "[recall]\nlimit = 2\npool = 2\nef_search = 2\nexact_scope = 2",
        "[recall]\nlimit = 3\npool = 3\nef_search = 3",
        &[("HTM_RECALL__LIMIT", "4"), ("HTM_RECALL__POOL", "4"), ("HTM_HOME", "/x"), ("PATH", "/a__b")],
    );
    let overrides = BTreeMap::from([("recall.limit".to_owned(), "5".to_owned())]);
    let loaded = Config::load_from(&places, &overrides).unwrap();
    let recall = &loaded.config.recall;
    assert_eq!((recall.limit, recall.pool, recall.ef_search, recall.exact_scope), (5, 4, 3, 2));
    assert_eq!((recall.bm25_k1, recall.bm25_b), (1.0, 0.75));

    let file = |name: &str| Source::File(dir.path().join(name));
    for (key, source) in [
        ("recall.limit", Source::Flag),
        ("recall.pool", Source::Env("HTM_RECALL__POOL".into())),
        ("recall.ef_search", file("project/htm.local.toml")),
        ("recall.exact_scope", file("project/htm.toml")),
        ("recall.bm25_k1", file("user.toml")),
        ("recall.bm25_b", Source::Default),
    ] {
        assert_eq!(loaded.sources[key], source, "{key}");
    }
}

#[test]
fn an_unknown_key_names_its_source_and_its_neighbour() {
    let message = with_project("[recall]\nlimt = 5").to_string();
    assert!(
        message.starts_with("there is no key `recall.limt` (in /") && message.contains("htm.toml)"),
        "{message}"
    );
    assert!(message.ends_with("did you mean `recall.limit`?"), "{message}");

    let error = with_env("HTM_OPENAI__API_KEYS", "x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no key `openai.api_keys` (in HTM_OPENAI__API_KEYS); did you mean `openai.api_key`?"
    );
    assert_eq!(error.code(), "config_unknown_key");
    for text in ["limit = 5", "[reccall]\nlimit = 5", "[recall.limit]\nx = 1", "[recall]\nlimit.x = 1"] {
        assert!(with_project(text).to_string().contains("recall.limit"), "{text}");
    }
}

#[test]
fn a_bad_value_names_key_value_source_and_what_is_allowed() {
    for (variable, value, message) in [
        (
            "HTM_RECALL__LIMIT",
            "0",
            "`recall.limit` cannot be 0 (in HTM_RECALL__LIMIT); allowed: a whole number from 1 to 10000",
        ),
        (
            "HTM_RECALL__LIMIT",
            "many",
            "`recall.limit` cannot be \"many\" (in HTM_RECALL__LIMIT); allowed: a whole number from 1 to 10000",
        ),
        (
            "HTM_TAG__THRESHOLD",
            "NaN",
            "`tag.threshold` cannot be NaN (in HTM_TAG__THRESHOLD); allowed: a number from 0 to 1",
        ),
        (
            "HTM_TIME__ZONE",
            "Berlin",
            "`time.zone` cannot be \"Berlin\" (in HTM_TIME__ZONE); allowed: a time zone as \"Europe/Berlin\", \"UTC\", \
             or \"system\"",
        ),
        (
            "HTM_TIME__WEEK_START",
            "friday",
            "`time.week_start` cannot be \"friday\" (in HTM_TIME__WEEK_START); allowed: \"monday\", \"sunday\"",
        ),
        (
            "HTM_LOG__FORMAT",
            "xml",
            "`log.format` cannot be \"xml\" (in HTM_LOG__FORMAT); allowed: \"auto\", \"human\", \"json\"",
        ),
        (
            "HTM_TAG__ONTOLOGY",
            "software,cooking",
            "`tag.ontology` cannot be [\"software\", \"cooking\"] (in HTM_TAG__ONTOLOGY); allowed: a list of \
             \"software\", \"research\", \"personal\", \"business\", or of files that end in .toml",
        ),
    ] {
        let error = with_env(variable, value).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.code()), (message, "config_bad_value"));
    }
    for text in
        ["[recall]\nlimit = \"5\"", "[recall]\nlimit = 5.0", "recall = 5", "[memory]\nnamespace = \" \""]
    {
        assert_eq!(with_project(text).code(), "config_bad_value", "{text}");
    }
    assert_eq!(with_project("[recall").code(), "config_unreadable");
    assert_eq!(with_project("[reccall]").code(), "config_unknown_key");
}

#[test]
fn secrets_are_neither_in_errors_nor_in_the_listing_nor_in_debug() {
    let error = with_project("[openai]\napi_key = 12345");
    assert!(error.to_string().contains("***") && !error.to_string().contains("12345"), "{error}");
    let error = with_env("HTM_DATABASE__URL", "mysql://me:hunter2@host/db").unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let error = with_env("HTM_DATABASE__URL", "me:hunter2@host/db").unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");

    let (places, _dir) = places(
        "",
        "",
        "",
        &[("HTM_OPENAI__API_KEY", "12345"), ("HTM_DATABASE__URL", "postgres://me:hunter2@host/db")],
    );
    let loaded = Config::load_from(&places, &BTreeMap::new()).unwrap();
    assert_eq!(loaded.config.openai.api_key.expose(), "12345");
    assert_eq!(loaded.config.database.url, "postgres://me:hunter2@host/db");
    let shown = format!("{:?} {loaded:?}", loaded.entries());
    assert!(!shown.contains("12345") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn the_listing_has_every_key_with_value_and_source() {
    let entries = defaults().entries();
    assert_eq!(entries.len(), keys::KEYS.len());
    let entry = entries.iter().find(|entry| entry.key == "recall.weight_vector").unwrap();
    assert_eq!((entry.value.as_str(), entry.source.as_str()), ("0.5", "default"));
}

#[test]
fn the_environment_gives_a_key_the_type_that_it_has() {
    let config = with_env("HTM_MEMORY__NAMESPACE", "42").unwrap().config;
    assert_eq!(config.memory.namespace, "42");
    let config = with_env("HTM_RECALL__WEIGHT_VECTOR", "1").unwrap().config;
    assert_eq!(config.recall.weight_vector, 1.0);
    let config = with_env("HTM_TAG__ONTOLOGY", "research, personal").unwrap().config;
    assert_eq!(config.tag.ontology, ["research", "personal"]);
    assert!(with_env("HTM_DATABASE__URL", "").unwrap().config.database.url.is_empty());
}

#[test]
fn an_empty_model_is_the_providers_default() {
    let config = with_env("HTM_EMBEDDING__PROVIDER", "ollama").unwrap().config;
    assert_eq!(config.embedding.model_name(), "nomic-embed-text");
    assert_eq!(config.memory.robot_name(), "htm");
}

#[test]
fn a_zone_is_known_without_the_systems_database() {
    let settings = |zone: &str| with_env("HTM_TIME__ZONE", zone).unwrap().config.time.settings();
    assert_eq!(settings("America/New_York").zone.to_string(), "America/New_York");
    assert_eq!(defaults().config.time.settings(), htm_core::TimeSettings::default());
    let sunday = with_env("HTM_TIME__WEEK_START", "sunday").unwrap().config.time.settings();
    assert_eq!(sunday.week_start, htm_core::WeekStart::Sunday);
}
