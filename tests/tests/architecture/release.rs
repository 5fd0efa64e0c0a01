//! Releases and contributing: one version, recipes that exist, workflows that test what they say.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use super::*;

/// The files that have the version beside `Cargo.toml`, each with the text around it.
const VERSIONS: &[(&str, &str, &str)] = &[
    ("clients/python/pyproject.toml", "\nversion = \"", "\"\n"),
    ("clients/typescript/package.json", "\"version\": \"", "\""),
    ("clients/typescript/README.md", "htm-memory-", ".tgz"),
    ("clients/openapi.json", "\"version\": \"", "\""),
    ("integrations/claude-code/.claude-plugin/plugin.json", "\"version\": \"", "\""),
    ("config/deploy/Dockerfile", "-t htm:", " .\n"),
    ("config/deploy/compose.yaml", "image: htm:", "\n"),
    ("config/deploy/kubernetes/server.yaml", "image: htm:", "\n"),
    ("config/deploy/kubernetes/kustomization.yaml", "newTag: ", "\n"),
];

/// The files that name recipes.
const NAMING: &[&str] = &[
    ".ci/run",
    ".github/workflows/ci.yml",
    ".github/workflows/release.yml",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "docs/releases.md",
];

#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, before, after) in VERSIONS {
        let wanted = format!("{before}{version}{after}");
        assert!(read(file).contains(&wanted), "{file} does not have the version {version}: {wanted:?}");
    }
}

#[test]
fn each_recipe_is_described_and_each_that_is_named_exists() {
    let recipes = recipes();
    let guide = read("docs/commands.md");
    for recipe in recipes.iter().filter(|name| *name != "default") {
        let is_described =
            guide.contains(&format!("| `{recipe}` |")) || guide.contains(&format!("| `{recipe} "));
        assert!(is_described, "docs/commands.md does not describe the recipe {recipe}");
    }
    for document in NAMING {
        for rest in read(document).split("./justw ").skip(1) {
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
            // `./justw RECIPE` stands for any.
            let name = &rest[..end];
            assert!(name.is_empty() || recipes.contains(name), "{document}: there is no recipe `{name}`");
        }
    }
}

#[test]
fn the_files_that_contributors_are_sent_to_exist() {
    let text = read("CONTRIBUTING.md");
    let top = [
        "crates/",
        "tests/",
        "clients/",
        "console/",
        "config/",
        "docs/",
        "migration/",
        ".github/",
        "scripts/",
    ];
    let named: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    let paths: Vec<&&str> = named.iter().filter(|it| top.iter().any(|dir| it.starts_with(dir))).collect();
    assert!(paths.len() > 20, "{named:?}");
    for path in paths {
        assert!(root().join(path).exists(), "CONTRIBUTING.md names {path}, which is not there");
    }
}

#[test]
fn workflows_may_only_read_and_name_each_action_by_its_commit() {
    for name in ["ci", "release"] {
        let workflow = workflow(name);
        assert_eq!(workflow["permissions"], serde_json::json!({"contents": "read"}), "{name}");
        let jobs = workflow["jobs"].as_object().unwrap();
        for (job, of) in jobs {
            let may = &of["permissions"];
            assert!(
                may.is_null() || job == "draft" && *may == serde_json::json!({"contents": "write"}),
                "{job}"
            );
            for action in
                of["steps"].as_array().into_iter().flatten().filter_map(|step| step["uses"].as_str())
            {
                let commit = action.split_once('@').map_or("", |(_, commit)| commit);
                let is_commit = commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit());
                assert!(is_commit, "{name}: {action} can be moved");
            }
        }
        let rust = workflow["env"]["RUST"].as_str().unwrap();
        assert!(
            read("Cargo.toml").contains(&format!("rust-version = \"{}\"", rust.trim_end_matches(".0"))),
            "{rust}"
        );
    }
}

#[test]
fn workflows_test_each_postgresql_and_build_each_platform() {
    let versions = workflow("ci")["jobs"]["test"]["strategy"]["matrix"]["postgres"].clone();
    assert_eq!(versions, serde_json::json!([15, 16, 17, 18]));
    let builds = workflow("release")["jobs"]["wheel"]["strategy"]["matrix"]["include"].clone();
    let built: BTreeSet<&str> =
        builds.as_array().unwrap().iter().filter_map(|it| it["target"].as_str()).collect();
    let (targets, console) = sbom();
    assert_eq!(built, targets.iter().filter_map(Value::as_str).collect(), "those of deny.toml");
    assert_eq!(console.len(), 1, "{console:?}");
    let package: Value = serde_json::from_str(&read("console/package.json")).unwrap();
    assert_eq!(console[0]["version"], package["dependencies"]["preact"]);
    assert_eq!(console[0]["licenses"], serde_json::json!([{"expression": "MIT"}]));
}

/// The variables of cargo and its files configure the folder, and `target` is only the default.
#[test]
fn recipes_run_the_programs_that_cargo_builds() {
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
        let mut just = Command::new("just");
        just.args(["--evaluate", "bin"]).current_dir(root()).env_remove("CARGO_TARGET_DIR");
        match just.env(variable, "/elsewhere").output() {
            Ok(output) => {
                assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "/elsewhere/debug", "{variable}")
            }
            Err(error) => return htm_tests::skipped(&format!("just: {error}")),
        }
    }
}

/// With `--find-links`, pip asks the registry too, and the highest version wins.
#[test]
fn wheels_of_a_checkout_are_installed_by_their_paths() {
    for file in ["clients/python/README.md", "docs/releases.md", ".github/workflows/release.yml"] {
        let text = read(file);
        assert!(!text.contains("install --find-links"), "{file}");
        let installs =
            text.lines().filter(|line| line.contains(" install ") && line.contains("/htm_memory-"));
        let with_model = installs.map(|line| line.contains("/htm_memory_minilm-")).collect::<Vec<_>>();
        assert!(!with_model.is_empty() && with_model.iter().all(|it| *it), "{file}: {with_model:?}");
    }
}

/// The platforms of the SBOMs, and the packages of npm in them.
fn sbom() -> (Vec<Value>, Vec<Value>) {
    let ask = "import json, sbom; print(json.dumps([sbom.targets(), list(sbom.console())]))";
    let output = Command::new("python3")
        .args(["-B", "-c", ask])
        .current_dir(root().join("scripts"))
        .output()
        .expect("python3 runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The names of the recipes of the justfile.
fn recipes() -> BTreeSet<String> {
    let text = read("justfile");
    let heads = text
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()) && !line.contains(":="));
    let names = heads.filter_map(|line| Some(line.split_once(':')?.0.split(' ').next()?.to_owned()));
    names.collect()
}

fn workflow(name: &str) -> Value {
    let path = format!(".github/workflows/{name}.yml");
    serde_saphyr::from_str(&read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
