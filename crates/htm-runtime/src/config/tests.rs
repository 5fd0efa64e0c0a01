use std::collections::BTreeSet;
use std::fs;

use figment::providers::Format as _;
use tempfile::TempDir;

use super::*;

/// Directories with a file for each given layer.
fn locations(user: &str, project: &str, local: &str, env: &[(&str, &str)]) -> (Locations, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("project/a/b");
    fs::create_dir_all(&deep).unwrap();
    fs::write(dir.path().join("user.toml"), user).unwrap();
    fs::write(dir.path().join("project/htm.toml"), project).unwrap();
    fs::write(dir.path().join("project/htm.local.toml"), local).unwrap();
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    let trusted = Some(dir.path().join("trusted"));
    (Locations { user: Some(dir.path().join("user.toml")), trusted, project: Some(deep), env }, dir)
}

fn with_env(name: &str, value: &str) -> Result<Loaded> {
    let locations = Locations { env: vec![(name.into(), value.into())], ..Locations::default() };
    Config::load_from(&locations, &BTreeMap::new())
}

fn with_project(text: &str) -> htm_core::Error {
    let (locations, _dir) = locations("", text, "", &[]);
    Config::load_from(&locations, &BTreeMap::new()).unwrap_err()
}

fn defaults() -> Loaded {
    Config::load_from(&Locations::default(), &BTreeMap::new()).unwrap()
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
    let (locations, dir) = locations(
        "[jobs]\nmax_attempts = 1\npoll_ms = 11\npatience_ms = 1\ngrace_ms = 1\nkeep_done_ms = 1",
        "[jobs]\nmax_attempts = 2\npoll_ms = 12\npatience_ms = 2\ngrace_ms = 2",
        "[jobs]\nmax_attempts = 3\npoll_ms = 13\npatience_ms = 3",
        &[
            ("HTM_JOBS__MAX_ATTEMPTS", "4"),
            ("HTM_JOBS__POLL_MS", "14"),
            ("HTM_HOME", "/x"),
            ("PATH", "/a__b"),
        ],
    );
    let overrides = BTreeMap::from([("jobs.max_attempts".to_owned(), "5".to_owned())]);
    let loaded = Config::load_from(&locations, &overrides).unwrap();
    let jobs = &loaded.config.jobs;
    assert_eq!((jobs.max_attempts, jobs.poll_ms, jobs.patience_ms, jobs.grace_ms), (5, 14, 3, 2));
    assert_eq!((jobs.keep_done_ms, jobs.lease_ms), (1, 30_000));

    let file = |name: &str| Source::File(dir.path().join(name));
    for (key, source) in [
        ("jobs.max_attempts", Source::Flag),
        ("jobs.poll_ms", Source::Env("HTM_JOBS__POLL_MS".into())),
        ("jobs.patience_ms", file("project/htm.local.toml")),
        ("jobs.grace_ms", file("project/htm.toml")),
        ("jobs.keep_done_ms", file("user.toml")),
        ("jobs.lease_ms", Source::Default),
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
    let error = with_env("HTM_DATABASE_URL", "postgres://host/db").unwrap_err();
    assert_eq!(error.code(), "config_unknown_key");
    assert_eq!(error.to_string(), "HTM_DATABASE_URL is no variable of HTM: did you mean HTM_DATABASE__URL?");
    assert!(with_env("HTM_FOO", "1").is_ok());
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
    let (user, _dir) = locations("[openai]\napi_key = 12345", "", "", &[]);
    let error = Config::load_from(&user, &BTreeMap::new()).unwrap_err();
    assert!(error.to_string().contains("***") && !error.to_string().contains("12345"), "{error}");
    let error = with_env("HTM_DATABASE__URL", "mysql://me:hunter2@host/db").unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let error = with_env("HTM_DATABASE__URL", "me:hunter2@host/db").unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");

    let (locations, _dir) = locations(
        "",
        "",
        "",
        &[("HTM_OPENAI__API_KEY", "12345"), ("HTM_DATABASE__URL", "postgres://me:hunter2@host/db")],
    );
    let loaded = Config::load_from(&locations, &BTreeMap::new()).unwrap();
    assert_eq!(loaded.config.openai.api_key.expose(), "12345");
    assert_eq!(loaded.config.database.url.expose(), "postgres://me:hunter2@host/db");
    let shown = format!("{:?} {loaded:?}", loaded.entries());
    assert!(!shown.contains("12345") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn the_listing_has_every_key_with_value_and_source() {
    let entries = defaults().entries();
    assert_eq!(entries.len(), keys::KEYS.len());
    let entry = entries.iter().find(|entry| entry.key == "tag.threshold").unwrap();
    assert_eq!((entry.value.as_str(), entry.source.as_str()), ("0.28", "default"));
}

#[test]
fn the_environment_gives_a_key_the_type_that_it_has() {
    let config = with_env("HTM_MEMORY__NAMESPACE", "42").unwrap().config;
    assert_eq!(config.memory.namespace, "42");
    let config = with_env("HTM_TAG__THRESHOLD", "1").unwrap().config;
    assert_eq!(config.tag.threshold, 1.0);
    let config = with_env("HTM_TAG__ONTOLOGY", "research, personal").unwrap().config;
    assert_eq!(config.tag.ontology, ["research", "personal"]);
    assert!(with_env("HTM_DATABASE__URL", "").unwrap().config.database.url.is_empty());
}

#[test]
fn a_list_of_the_environment_keeps_the_brackets_of_addresses() {
    for (text, expected) in [
        ("[::1]", &["[::1]"][..]),
        ("a, [::1]", &["a", "[::1]"]),
        ("[::1],[fd00::2]", &["[::1]", "[fd00::2]"]),
        (r#"["a", '[fd00::2]',]"#, &["a", "[fd00::2]"]),
        ("[a.example,b.example]", &["a.example", "b.example"]),
        (" [a.example] ", &["a.example"]),
        ("[a, [::1]]", &["a", "[::1]"]),
        ("[[::1], a]", &["[::1]", "a"]),
        ("[]", &[]),
        ("", &[]),
    ] {
        assert_eq!(with_env("HTM_SERVER__HOSTS", text).unwrap().config.server.hosts, expected, "{text}");
    }
    for (text, expected) in [
        ("postgres://[fd00::2]", &["postgres://[fd00::2]"][..]),
        ("[postgres://a,postgres://[fd00::2]]", &["postgres://a", "postgres://[fd00::2]"]),
        (
            "postgres://a,[::1]:5433,postgres://[fd00::2]",
            &["postgres://a,[::1]:5433", "postgres://[fd00::2]"],
        ),
        (
            r#"["postgres://a,b/htm", "postgres://[fd00::2]"]"#,
            &["postgres://a,b/htm", "postgres://[fd00::2]"],
        ),
    ] {
        let urls = with_env("HTM_DATABASE__REPLICA_URLS", text).unwrap().config.database.replica_urls;
        assert_eq!(urls.iter().map(|url| url.expose()).collect::<Vec<_>>(), expected, "{text}");
    }
    assert_eq!(with_env("HTM_SERVER__HOSTS", "[1, 2]").unwrap_err().code(), "config_bad_value");
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

/// Loads the configuration of `locations`.
fn load(locations: &Locations) -> Result<Config> {
    Config::load_from(locations, &BTreeMap::new()).map(|loaded| loaded.config)
}

#[test]
fn a_project_file_that_cannot_be_read_is_named() {
    let (locations, dir) = locations("", "", "", &[]);
    let file = dir.path().join("project/htm.toml");
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("nowhere", &file).unwrap();
    let said = |error: htm_core::Error| (error.code(), error.to_string());
    let expected = ("config_io", format!("could not read {}", file.display()));
    assert_eq!(said(load(&locations).unwrap_err()), expected);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(said(load(&locations).unwrap_err()), expected);
}

#[test]
fn a_planted_project_file_says_neither_where_memories_and_keys_go_nor_what_is_read() {
    for (text, key) in [
        ("[database]\nurl = \"postgres://mallory/x\"", "database.url"),
        ("[database]\nurl_file = \"/etc/hostname\"", "database.url_file"),
        ("[ollama]\nbase_url = \"http://mallory\"", "ollama.base_url"),
        ("[openai]\nbase_url = \"http://mallory\"", "openai.base_url"),
        ("[openai]\napi_key = \"sk-mallory\"", "openai.api_key"),
        ("[openai]\napi_key_file = \"/etc/shadow\"", "openai.api_key_file"),
        ("[rerank]\nurl = \"http://mallory\"", "rerank.url"),
        ("[rerank]\napi_key = \"sk-mallory\"", "rerank.api_key"),
        ("[rerank]\npath = \"/tmp/model\"", "rerank.path"),
        ("[rerank]\nprovider = \"http\"", "rerank.provider"),
        ("[tag]\nprompt = \"/etc/passwd\"", "tag.prompt"),
        ("[tag]\nontology = [\"software\", \"/tmp/x.toml\"]", "tag.ontology"),
        ("[expansion]\nprompt = \"/etc/passwd\"", "expansion.prompt"),
        ("[local]\nmodel_dir = \"/tmp/model\"", "local.model_dir"),
        ("[embedding]\nprovider = \"openai\"", "embedding.provider"),
        ("[embedding]\nmodel = \"../../tmp/model\"", "embedding.model"),
        ("[tag]\nmodel = \"/tmp/model\"", "tag.model"),
        ("[worker]\nlisten = \"0.0.0.0:9464\"", "worker.listen"),
        ("[oauth]\nissuer = \"https://mallory\"", "oauth.issuer"),
        ("[oauth]\nissuer = \"\"", "oauth.issuer"),
        ("[oauth]\nnamespaces_claim = \"email\"", "oauth.namespaces_claim"),
    ] {
        for local in [false, true] {
            let (project, beside) = if local { ("", text) } else { (text, "") };
            let (locations, _dir) = locations("", project, beside, &[]);
            let error = load(&locations).unwrap_err();
            assert_eq!(error.code(), "config_untrusted", "{text}");
            let said = format!("{error} {}", error.hint());
            assert!(said.contains(&format!("`{key}`")) && said.contains("htm config trust"), "{said}");
            assert!(said.contains(if local { "htm.local.toml" } else { "htm.toml" }), "{said}");
            assert!(!said.contains("mallory"), "{said}");
        }
    }
    for harmless in [
        "[memory]\nnamespace = \"atlas\"",
        "[embedding]\nprovider = \"local\"\nmodel = \"BAAI/bge-small-en-v1.5\"",
        "[tag]\nontology = [\"software\"]\nmax_tags = 3",
        "[recall]\nlimit = 7",
    ] {
        let (locations, _dir) = locations("", harmless, "", &[]);
        load(&locations).unwrap();
    }
}

#[test]
fn trust_is_in_a_content_at_a_path() {
    let text = "[ollama]\nbase_url = \"http://gpu:11434\"\n";
    let (locations, dir) = locations("", text, "", &[]);
    let project = dir.path().join("project/htm.toml");
    assert_eq!(load(&locations).unwrap_err().code(), "config_untrusted");
    let files = Config::trust(&locations, Decision::Trust).unwrap();
    assert_eq!((files.len(), &files[0].path, files[0].trusted), (2, &project, true));
    assert_eq!(files[0].guarded, [("ollama.base_url".to_owned(), "\"http://gpu:11434\"".to_owned())]);
    assert_eq!(load(&locations).unwrap().ollama.base_url.expose(), "http://gpu:11434");

    fs::write(&project, text.replace("gpu", "mallory")).unwrap();
    assert_eq!(load(&locations).unwrap_err().code(), "config_untrusted");
    fs::write(&project, text).unwrap();
    load(&locations).unwrap();

    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::copy(&project, elsewhere.join("htm.toml")).unwrap();
    let there = Locations { project: Some(elsewhere), ..locations.clone() };
    assert_eq!(load(&there).unwrap_err().code(), "config_untrusted");

    let files = Config::trust(&locations, Decision::Revoke).unwrap();
    assert!(!files[0].trusted);
    assert_eq!(load(&locations).unwrap_err().code(), "config_untrusted");
}

#[test]
fn a_key_goes_to_no_url_that_is_trusted_less() {
    let url = "[openai]\nbase_url = \"http://gateway/v1\"";
    let key = "[openai]\napi_key = \"sk-mine\"";
    for (user, project, env, goes) in [
        ("", url, &[("HTM_OPENAI__API_KEY", "sk-mine")][..], false),
        (key, url, &[], false),
        (url, key, &[], true),
        ("", &*format!("{url}\napi_key = \"sk-theirs\""), &[], true),
        ("", key, &[], true),
        ("", url, &[], true),
        ("", url, &[("HTM_OPENAI__API_KEY", "sk-mine"), ("HTM_OPENAI__BASE_URL", "http://own/v1")], true),
    ] {
        let (locations, _dir) = locations(user, project, "", env);
        Config::trust(&locations, Decision::Trust).unwrap();
        match load(&locations) {
            Ok(_) => assert!(goes, "{user} {project} {env:?}"),
            Err(error) => {
                assert!(!goes && error.code() == "config_key_elsewhere", "{error}");
                let said = format!("{error} {}", error.hint());
                assert!(said.contains("`openai.base_url`") && !said.contains("sk-mine"), "{said}");
            }
        }
    }
}

#[test]
fn the_headers_of_traces_go_to_no_collector_that_is_trusted_less() {
    let url = "[log]\notlp_endpoint = \"http://collector\"";
    for name in keys::HEADERS {
        let headers = (name, "authorization=Bearer mine");
        for (user, project, env, goes) in [
            ("", url, &[headers][..], false),
            (url, "", &[headers], true),
            ("", url, &[headers, ("HTM_LOG__OTLP_ENDPOINT", "http://own")], true),
            ("", "[log]\notlp_endpoint = \"\"", &[headers], true),
            ("", url, &[(name, "")], true),
            ("", url, &[], true),
        ] {
            let (locations, _dir) = locations(user, project, "", env);
            Config::trust(&locations, Decision::Trust).unwrap();
            match load(&locations) {
                Ok(_) => assert!(goes, "{user} {project} {env:?}"),
                Err(error) => {
                    assert!(!goes && error.code() == "config_key_elsewhere", "{error}");
                    let said = format!("{error} {}", error.hint());
                    assert!(said.contains(name) && said.contains("`log.otlp_endpoint`"), "{said}");
                    assert!(!said.contains("mine"), "{said}");
                }
            }
        }
    }
}

#[test]
fn the_password_of_the_primary_goes_to_no_replica_that_is_trusted_less() {
    let replicas = "[database]\nreplica_urls = [\"postgres://replica/db\"]";
    let primary = ("HTM_DATABASE__URL", "postgres://me:hunter2@primary/db");
    let (elsewhere, _dir) = locations("", replicas, "", &[primary]);
    Config::trust(&elsewhere, Decision::Trust).unwrap();
    let error = load(&elsewhere).unwrap_err();
    assert_eq!(error.code(), "config_key_elsewhere");
    let said = format!("{error} {}", error.hint());
    assert!(said.contains("`database.replica_urls`") && !said.contains("hunter2"), "{said}");
    let (own, _dir) = locations(replicas, "", "", &[("HTM_DATABASE__URL", "")]);
    load(&own).unwrap();
    let (same, _dir) = locations(&format!("{replicas}\nurl = \"{}\"", primary.1), "", "", &[]);
    load(&same).unwrap();
}

#[test]
fn secrets_are_read_from_files() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (key, url) = (file("key", "sk-file\n"), file("url", " postgres://me:hunter2@host/db\n"));
    let user = format!("[openai]\napi_key_file = {key:?}\n[database]\nurl_file = {url:?}");
    let (with_files, _dir) = locations(&user, "", "", &[]);
    let loaded = Config::load_from(&with_files, &BTreeMap::new()).unwrap();
    assert_eq!(loaded.config.openai.api_key.expose(), "sk-file");
    assert_eq!(loaded.config.database.url.expose(), "postgres://me:hunter2@host/db");
    let shown = format!("{:?} {loaded:?}", loaded.entries());
    assert!(!shown.contains("sk-file") && !shown.contains("hunter2"), "{shown}");

    // A stronger place wins, whether it has the value or a file's path. Within one place the value wins.
    for (user, env, expected) in [
        (&*user, &[("HTM_OPENAI__API_KEY", "sk-env")][..], "sk-env"),
        ("[openai]\napi_key = \"sk-user\"", &[("HTM_OPENAI__API_KEY_FILE", &*key)], "sk-file"),
        ("", &[("HTM_OPENAI__API_KEY_FILE", &*key), ("HTM_OPENAI__API_KEY", "sk-env")], "sk-env"),
        ("", &[("HTM_OPENAI__API_KEY_FILE", &*key), ("HTM_OPENAI__API_KEY", "")], "sk-file"),
    ] {
        let (locations, _dir) = locations(user, "", "", env);
        assert_eq!(load(&locations).unwrap().openai.api_key.expose(), expected, "{user} {env:?}");
    }
    let error = with_env("HTM_OPENAI__API_KEY_FILE", "/nowhere/key").unwrap_err();
    assert!(error.code() == "config_io" && error.to_string().contains("/nowhere/key"), "{error}");

    // The credentials of systemd are files named after their keys.
    file("rerank.api_key", "sk-systemd\n");
    let credentials = dir.path().display().to_string();
    let loaded = with_env("CREDENTIALS_DIRECTORY", &credentials).unwrap();
    assert_eq!(loaded.config.rerank.api_key.expose(), "sk-systemd");
    assert_eq!(loaded.sources["rerank.api_key"], Source::File(dir.path().join("rerank.api_key")));
}

#[test]
fn a_blank_file_of_a_secret_is_refused_and_is_not_the_default() {
    let dir = tempfile::tempdir().unwrap();
    let credentials = dir.path().display().to_string();
    for (key, file_name) in keys::in_files() {
        let path = dir.path().join(key);
        fs::write(&path, "\n").unwrap();
        let path_text = path.display().to_string();
        let variable = format!("HTM_{}", file_name.replacen('.', "__", 1).to_uppercase());
        for read in [with_env(&variable, &path_text), with_env("CREDENTIALS_DIRECTORY", &credentials)] {
            let error = read.unwrap_err();
            assert_eq!(error.code(), "config_bad_value");
            let said = error.to_string();
            assert!(said.contains(&format!("`{key}` cannot be blank (in {path_text})")), "{said}");
        }
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_variable_that_is_no_text_is_refused_and_not_dropped() {
    use std::os::unix::ffi::OsStringExt as _;
    let value = std::ffi::OsString::from_vec(b"postgres://me:hunter2\xff@host/db".to_vec());
    let of = |name: &str| {
        let locations = Locations { env: vec![(name.into(), value.clone())], ..Locations::default() };
        Config::load_from(&locations, &BTreeMap::new())
    };
    let error = of("HTM_DATABASE__URL").unwrap_err();
    assert_eq!(error.code(), "config_unreadable");
    let said = format!("{error} {}", error.hint());
    assert!(said.contains("HTM_DATABASE__URL") && !said.contains("hunter2"), "{said}");
    of("OTHER__NAME").unwrap();
}

#[test]
fn a_file_that_is_too_large_is_refused_and_not_cut() {
    let comment = format!("# {}\n[recall]\nlimit = 7\n", "ü".repeat(600_000));
    let (locations, _dir) = locations(&comment, "", "", &[]);
    let refused = crate::chain(&load(&locations).unwrap_err());
    assert!(refused.contains("too large"), "{refused}");
}

#[test]
fn a_broken_file_is_told_by_its_place_and_never_by_its_text() {
    for (text, place) in [
        ("[openai]\napi_key = sk-secret", "line 2, column 11"),
        ("[openai]\napi_key = \"sk-secret", "line 2"),
        ("[openai]\napi_key = \"sk-secret\" x", "line 2"),
        ("[openai]\napi_key = 'sk-secret\nx = 1", "line 2"),
        ("[openai]\napi_key = \"\\qsk-secret\"", "line 2"),
        ("[openai]\nsk-secret", "line 2"),
        ("[openai]\nsk-secret = 1\nsk-secret = 2", "line 3"),
        ("[openai\napi_key = \"sk-secret\"", "line 1"),
        ("openai = { api_key = \"sk-secret\"", "line 1"),
    ] {
        let (locations, _dir) = locations(text, "", "", &[]);
        let error = load(&locations).unwrap_err();
        assert_eq!(error.code(), "config_unreadable", "{text}");
        let said = format!("{error} {} {error:?}", error.hint());
        assert!(said.contains(place) && !said.contains("secret"), "{text}: {said}");
    }
}

#[test]
fn a_configuration_that_is_written_out_has_no_secret() {
    let (locations, _dir) = locations(
        "",
        "",
        "",
        &[
            ("HTM_OPENAI__API_KEY", "sk-secret"),
            ("HTM_OPENAI__BASE_URL", "http://me:hunter2@host/v1"),
            ("HTM_DATABASE__URL", "postgres://me@host/db?pass=hunter2&sslmode=require"),
            ("HTM_RERANK__URL", "http://host?key=hunter2"),
        ],
    );
    let config = load(&locations).unwrap();
    let written = format!("{:?} {config:?}", Value::serialize(&config).unwrap());
    assert!(!written.contains("hunter2") && !written.contains("sk-secret"), "{written}");
    assert!(written.contains("postgres://me@host/db?pass=***&sslmode=require"), "{written}");
}

#[test]
fn a_robot_that_no_row_can_have_is_refused() {
    for robot in ["a\nb", " ", &"a".repeat(129)] {
        assert_eq!(with_env("HTM_MEMORY__ROBOT", robot).unwrap_err().code(), "config_bad_value", "{robot:?}");
    }
    assert_eq!(with_env("HTM_MEMORY__ROBOT", "ada").unwrap().config.memory.robot_name(), "ada");
}

#[test]
fn values_that_a_program_sets_are_checked_too() {
    let config = defaults().config;
    config.check().unwrap();
    let with_url = |url: &str| {
        let mut config = config.clone();
        config.database.url = SecretUrl::new(url);
        config.check().map_err(|error| error.to_string())
    };
    with_url("postgres://ada:secret@db/htm").unwrap();
    assert!(!with_url("ada:secret@db/htm").unwrap_err().contains("secret"));
    type Change = fn(&mut Config);
    let changes: [(&str, Change); 3] = [
        ("time.zone", |config| config.time.zone = "Europe/Berln".into()),
        ("database.max_connections", |config| config.database.max_connections = 0),
        ("memory.robot", |config| config.memory.robot = "a\nb".into()),
    ];
    for (key, change) in changes {
        let mut config = config.clone();
        change(&mut config);
        let error = config.check().unwrap_err();
        assert_eq!(error.code(), "config_bad_value", "{key}");
        assert!(error.to_string().contains(key) && error.to_string().contains("the program"), "{error}");
    }
}
