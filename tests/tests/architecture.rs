//! Invariants of the code itself: which crate may know which, where SQL may stand, how long a file may be.

#[path = "architecture/release.rs"]
mod release;
#[path = "architecture/setup.rs"]
mod setup;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, PackageId};
use htm_tests::files;

/// The crates from the bottom up. One may depend on those of a lower level, never on its own level or a higher one.
const LEVELS: &[(&str, u8)] = &[
    ("htm-core", 0),
    ("htm-migration", 0),
    ("htm-documents", 1),
    ("htm-learning", 1),
    ("htm-mcp", 1),
    ("htm-sources", 1),
    ("htm-providers", 1),
    ("htm-runtime", 2),
    ("htm-worker", 3),
    ("htm-server", 3),
    ("embed-worker", 4),
    ("tag-worker", 4),
    ("learn-worker", 4),
    ("htm-cli", 5),
    ("htm-memory", 6),
    ("htm-tests", 6),
];

/// SQL that is spliced into other SQL, whose head speaks for it.
const FRAGMENTS: &[&str] = &["tags_named.sql", "chosen_jobs.sql", "job_state.sql", "node.sql"];

const MAX_LINES: usize = 600;

#[test]
fn crates_depend_downwards_only() {
    let metadata = metadata(CargoOpt::SomeFeatures(Vec::new()), &["--no-deps"]);
    let level = |name: &str| {
        let found = LEVELS.iter().find(|(crate_name, _)| *crate_name == name);
        found.map(|(_, level)| *level).unwrap_or_else(|| panic!("{name} has no level: give it one in LEVELS"))
    };
    let members: BTreeSet<&str> =
        metadata.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    assert_eq!(members, LEVELS.iter().map(|(name, _)| *name).collect());
    for package in metadata.workspace_packages() {
        for dependency in package.dependencies.iter().filter(|it| members.contains(it.name.as_str())) {
            assert!(
                level(&dependency.name) < level(&package.name),
                "{} depends on {}, which is not below it",
                package.name,
                dependency.name
            );
        }
    }
}

#[test]
fn every_package_says_what_it_is() {
    let metadata = metadata(CargoOpt::SomeFeatures(Vec::new()), &["--no-deps"]);
    for package in metadata.workspace_packages() {
        let name = &package.name;
        let texts = [&package.description, &package.license].map(Option::as_deref);
        assert!(texts.iter().all(|text| text.is_some_and(|text| !text.is_empty())), "{name}: {texts:?}");
        let lists = [&package.authors, &package.keywords, &package.categories];
        assert!(lists.iter().all(|list| !list.is_empty()), "{name}: {lists:?}");
        assert!(
            package.readme().is_some_and(|readme| readme.as_std_path().is_file()),
            "{name} has no readme"
        );
        // The only toolchain that the build runs with: another is a claim that nobody checks.
        let version = package.rust_version.as_ref().map(ToString::to_string);
        assert_eq!(version.as_deref(), Some("1.95.0"), "{name}");
        assert!(
            fs::read_to_string(root().join("config/deploy/Dockerfile")).unwrap().contains("FROM rust:1.95."),
            "the image is built by another"
        );
    }
}

#[test]
fn core_knows_no_http_and_no_configuration_files() {
    let metadata = metadata(CargoOpt::AllFeatures, &[]);
    let below = everything_below(&metadata, "htm-core");
    assert!(below.contains("sqlx-core"), "the tree is not read as it should be: {below:?}");
    for unwanted in ["reqwest", "hyper", "axum", "figment", "clap", "htm-migration"] {
        assert!(!below.contains(unwanted), "htm-core depends on {unwanted}");
    }
    let below = everything_below(&metadata, "htm-migration");
    assert!(!below.contains("htm-core") && !below.contains("reqwest"));
}

#[test]
fn workers_contain_no_sql() {
    for file in ["crates/htm-worker/src", "workers"].into_iter().flat_map(|dir| files(dir, "rs")) {
        let text = fs::read_to_string(&file).unwrap().to_lowercase();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().starts_with("//")) {
            for sql in ["sqlx::query", "select ", "update ", "insert into", "delete from", ".sql\""] {
                assert!(!line.contains(sql), "{}:{}: {line}", file.display(), number + 1);
            }
        }
    }
}

#[test]
fn each_sql_file_is_used_and_its_head_says_what_to_know() {
    let sources: String =
        files("crates/htm-core/src", "rs").iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let queries = files("crates/htm-core/src/store/sql", "sql");
    assert!(queries.len() > 10, "{queries:?}");
    for fragment in FRAGMENTS {
        assert!(queries.iter().any(|file| file.ends_with(fragment)), "there is no {fragment}");
    }
    for file in queries {
        let name = file.file_name().unwrap().to_str().unwrap();
        let path = file.strip_prefix(root().join("crates/htm-core/src/store")).unwrap().display();
        assert!(sources.contains(&format!("{path}\")")), "nobody uses {path}");
        if FRAGMENTS.contains(&name) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let (head, body): (Vec<&str>, Vec<&str>) = {
            let end = text.lines().take_while(|line| line.starts_with("--")).count();
            let lines: Vec<&str> = text.lines().collect();
            (lines[..end].to_vec(), lines[end..].to_vec())
        };
        let purpose = head.first().unwrap_or_else(|| panic!("{name} has no head"));
        assert!(purpose.len() > 30, "{name} says too little: {purpose}");
        let head = head.join("\n");
        assert!(head.contains("\n-- Index: "), "{name} does not say which index it expects");
        for parameter in parameters(&body.join("\n")) {
            assert!(parameters(&head).contains(&parameter), "{name} does not say what {parameter} is");
        }
    }
}

#[test]
fn no_source_file_is_too_long_to_hold_in_the_head() {
    let all = ["crates", "workers", "migration", "tests"].into_iter().flat_map(|dir| files(dir, "rs"));
    let too_long: Vec<String> = all
        .map(|file| (fs::read_to_string(&file).unwrap().lines().count(), file))
        .filter(|(lines, _)| *lines > MAX_LINES)
        .map(|(lines, file)| format!("{}: {lines}", file.display()))
        .collect();
    assert!(too_long.is_empty(), "{too_long:?}");
}

/// Types of one name would overwrite each other in the OpenAPI document.
#[test]
fn no_two_types_of_the_api_have_one_name() {
    let mut found = BTreeMap::<String, Vec<PathBuf>>::new();
    for path in files("crates", "rs") {
        let text = fs::read_to_string(&path).unwrap();
        let mut of_api = false;
        for line in text.lines() {
            of_api |= line.contains("ToSchema") && (line.starts_with("#[") || line.starts_with("    #["));
            let declared = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            let name = ["struct ", "enum "].iter().find_map(|kind| declared.strip_prefix(kind));
            if let Some(name) = name.filter(|_| std::mem::take(&mut of_api)) {
                let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
                found.entry(name[..end].into()).or_default().push(path.clone());
            }
        }
    }
    assert!(found.len() > 200, "types are not recognised: {}", found.len());
    found.retain(|_, paths| paths.len() > 1);
    assert!(found.is_empty(), "{found:#?}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn metadata(features: CargoOpt, options: &[&str]) -> Metadata {
    let mut options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    // What is built here is all that counts, and all that is sure to be downloaded.
    options.extend(["--locked".into(), "--offline".into(), "--filter-platform".into(), host()]);
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .features(features)
        .other_options(options)
        .exec()
        .unwrap()
}

fn host() -> String {
    let output = std::process::Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// The names of the packages that a crate is built with, those of its own tests left out.
fn everything_below(metadata: &Metadata, name: &str) -> BTreeSet<String> {
    let nodes: BTreeMap<&PackageId, _> =
        metadata.resolve.as_ref().unwrap().nodes.iter().map(|node| (&node.id, node)).collect();
    let start = metadata.workspace_packages().into_iter().find(|package| package.name == name).unwrap();
    let mut seen = BTreeSet::new();
    let mut open = vec![&start.id];
    while let Some(id) = open.pop() {
        for dependency in &nodes[id].deps {
            let is_normal = dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
            if is_normal && seen.insert(&dependency.pkg) {
                open.push(&dependency.pkg);
            }
        }
    }
    seen.into_iter().map(|id| metadata[id].name.to_string()).collect()
}

/// The parameters of a text: `$1`, or `:name`. A `::type` is none.
fn parameters(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, sign) in text.match_indices([':', '$']) {
        let is_name =
            |c: char| if sign == "$" { c.is_ascii_digit() } else { c.is_ascii_lowercase() || c == '_' };
        let rest = &text[at + 1..];
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        let is_own = !text[..at].ends_with(|c: char| c == ':' || c.is_alphanumeric());
        if is_own && !name.is_empty() {
            found.insert(format!("{sign}{name}"));
        }
    }
    found
}
