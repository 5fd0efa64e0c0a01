//! The files of `config/deploy`: that they can be read, and name only what there is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use htm_tests::{Sandbox, TestDatabase, enqueue_learning};
use serde_json::{Value, json};

use crate::Served;
use crate::exposition::Scrape;
use crate::metrics::scrape;
use crate::promql::{Query, Selector};

const PROGRAMS: [&str; 4] = ["htm", "embed-worker", "tag-worker", "learn-worker"];

/// The image, where a command names it.
const IMAGE: &str = concat!("htm:", env!("CARGO_PKG_VERSION"), " ");

/// Places, not configuration.
const PLACES: [&str; 3] = ["HTM_HOME", "HTM_DATA_DIR", "HTM_POSTGRES_HOME"];

#[tokio::test]
async fn each_query_names_metrics_and_labels_that_exist() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let (embed, tag) =
        (Served::ready(&sandbox, "embed-worker").await, Served::ready(&sandbox, "tag-worker").await);
    let scrapes = [scrape(&embed).await, scrape(&tag).await];
    let queries = [dashboard_queries(), alert_queries()].concat();
    assert!(queries.len() > 15, "{queries:?}");
    let mut named = BTreeSet::new();
    for text in &queries {
        let query = Query::read(text);
        assert!(!query.selectors.is_empty(), "{text}");
        for Selector { metric, labels: matchers } in &query.selectors {
            let labels = of_both(&scrapes, |scrape| scrape.labels(metric));
            assert!(!labels.is_empty(), "there is no {metric}: {text}");
            for (label, exact) in matchers {
                assert!(labels.contains(label.as_str()), "{metric} has no label {label}: {text}");
                let values = of_both(&scrapes, |scrape| scrape.values(metric, label));
                let known = exact.as_deref().is_none_or(|value| values.contains(value));
                assert!(known, "{label} of {metric} is never {exact:?}: {text}");
            }
            named.insert(metric.clone());
        }
        for label in &query.groupings {
            let has = |selector: &Selector| {
                of_both(&scrapes, |scrape| scrape.labels(&selector.metric)).contains(label.as_str())
            };
            assert!(query.selectors.iter().all(has), "not all have the label {label}: {text}");
        }
    }
    // And nothing that is measured is left out of sight.
    for name in scrapes[0].names() {
        let family = name.trim_end_matches("_count").trim_end_matches("_sum").trim_end_matches("_bucket");
        assert!(named.iter().any(|named| named.starts_with(family)), "no panel and no alert shows {name}");
    }
}

#[tokio::test]
async fn each_command_is_one_that_the_programs_take() {
    let sandbox = Sandbox::on("");
    let commands: Vec<Vec<String>> =
        [compose_commands(), kubernetes_commands(), systemd_commands(), image_commands()].concat();
    let ours: Vec<_> = commands.iter().filter(|it| PROGRAMS.contains(&it[0].as_str())).collect();
    assert!(ours.len() >= 9, "{commands:?}");
    for command in ours {
        let words: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        let subcommand = words.iter().take_while(|word| !word.starts_with('-')).copied();
        let arguments: Vec<&str> = subcommand.chain(["--help"]).collect();
        let answer = sandbox.run(&command[0], &arguments, b"").await;
        let help: BTreeSet<&str> =
            answer.succeeds().split(|it: char| it.is_whitespace() || it == ',').collect();
        for flag in words.iter().filter(|word| word.starts_with('-')) {
            let flag = flag.split_once('=').map_or(*flag, |(flag, _)| flag);
            assert!(help.contains(flag), "{command:?}: there is no {flag}");
        }
    }
}

#[tokio::test]
async fn each_variable_is_a_key() {
    let shown = Sandbox::on("").htm(&["config", "show", "--json"]).await.json();
    let variable =
        |entry: &Value| format!("HTM_{}", entry["key"].as_str().unwrap().replace('.', "__").to_uppercase());
    let mut known: BTreeSet<String> = shown.as_array().unwrap().iter().map(variable).collect();
    known.extend(PLACES.map(str::to_owned));
    let mut found = BTreeSet::new();
    for file in files("") {
        let text = fs::read_to_string(&file).unwrap();
        let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        for word in words.filter(|word| word.starts_with("HTM_")) {
            assert!(known.contains(word), "{}: {word} is no key", file.display());
            found.insert(word.to_owned());
        }
    }
    assert!(found.contains("HTM_DATABASE__URL") && found.contains("HTM_WORKER__LISTEN"), "{found:?}");
}

#[tokio::test]
async fn each_worker_has_longer_to_stop_than_its_grace_time() {
    let shown = Sandbox::on("").htm(&["config", "show", "--json"]).await.json();
    let keys = shown.as_array().unwrap();
    let grace = keys.iter().find(|entry| entry["key"] == "jobs.grace_ms").unwrap();
    let grace: u64 = grace["value"].as_str().unwrap().parse::<u64>().unwrap() / 1_000;
    let seconds = |value: &str| value.trim_end_matches('s').parse::<u64>().unwrap();
    for program in ["embed-worker", "tag-worker", "learn-worker"] {
        let service = &compose()["services"][program];
        assert!(seconds(service["stop_grace_period"].as_str().unwrap()) > grace, "{service}");
        let unit = unit(&format!("htm-{program}@.service"));
        assert!(seconds(&unit["Service"]["TimeoutStopSec"]) > grace, "{unit:?}");
        assert_eq!(unit["Service"]["KillSignal"], "SIGTERM");
        let pods = deployment(program);
        let pod = &pods["spec"]["template"]["spec"];
        assert!(pod["terminationGracePeriodSeconds"].as_u64().unwrap() > grace, "{pod}");
    }
}

#[tokio::test]
async fn the_health_check_of_compose_asks_the_worker() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let worker = Served::ready(&sandbox, "embed-worker").await;
    let check = texts(&compose()["services"]["embed-worker"]["healthcheck"]["test"]);
    assert_eq!(check[..3], ["CMD", "bash", "-c"]);
    let port = worker.base.rsplit_once(':').unwrap().1;
    sandbox.shell(&check[3].replace("9464", port)).await.succeeds();
    sandbox.shell(&check[3].replace("9464", "1")).await.exits(1);
    sandbox.shell(&check[3].replace("9464", port).replace("/readyz", "/nothing")).await.exits(1);
}

#[tokio::test]
async fn kubernetes_asks_the_worker_within_its_pod() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for program in ["embed-worker", "tag-worker", "learn-worker"] {
        let worker = Served::ready(&sandbox, program).await;
        let port = worker.base.rsplit_once(':').unwrap().1;
        let deployment = deployment(program);
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(texts(&container["command"])[1..], ["--listen", "127.0.0.1:9464"]);
        for (probe, path) in [("livenessProbe", "/livez"), ("readinessProbe", "/readyz")] {
            let command = texts(&container[probe]["exec"]["command"]);
            assert!(command[..2] == ["bash", "-c"] && command[2].contains(path), "{command:?}");
            sandbox.shell(&command[2].replace("9464", port)).await.succeeds();
            sandbox.shell(&command[2].replace("9464", port).replace(path, "/nothing")).await.exits(1);
        }
    }
}

/// The server of `config/deploy`, as each of its files asks it.
#[tokio::test]
async fn the_checks_of_the_server_ask_the_server() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let port = htm_tests::free_port().to_string();
    let address = format!("127.0.0.1:{port}");
    let _server = sandbox.start("htm", &["serve", "--listen", &address]);
    htm_tests::wait_until(async || tokio::net::TcpStream::connect(&address).await.is_ok()).await;
    let services = compose();
    let check = texts(&services["services"]["server"]["healthcheck"]["test"]);
    let pods = deployment("server");
    let container = &pods["spec"]["template"]["spec"]["containers"][0];
    let probes =
        ["livenessProbe", "readinessProbe"].map(|it| texts(&container[it]["exec"]["command"])[2].clone());
    for command in [&check[3], &probes[0], &probes[1]] {
        sandbox.shell(&command.replace("7480", &port)).await.succeeds();
        let nothing = command.replace("/readyz", "/nothing").replace("/livez", "/nothing");
        sandbox.shell(&nothing.replace("7480", &port)).await.exits(1);
    }
    assert_eq!(texts(&container["command"]), texts(&services["services"]["server"]["command"]));
    // Only this machine reaches the port of Compose.
    assert_eq!(texts(&services["services"]["server"]["ports"]), ["127.0.0.1:7480:7480"]);
    let service = &documents("kubernetes/server.yaml")[1]["spec"];
    assert_eq!(service["selector"], pods["spec"]["template"]["metadata"]["labels"]);
    let unit = unit("htm-server.service");
    assert!(
        !unit["Service"]["ExecStart"].contains("--listen"),
        "on loopback, unless server.env says otherwise"
    );
}

/// Nothing is reached from outside of its container or machine, unless a file for monitoring is used as well.
#[test]
fn the_port_is_on_loopback_unless_monitoring_is_asked_for() {
    assert!(read("Dockerfile").contains(" HTM_WORKER__LISTEN=127.0.0.1:9464 "));
    let listen = &compose()["services"]["embed-worker"]["environment"]["HTM_WORKER__LISTEN"];
    assert_eq!(listen, "${WORKER_LISTEN:-127.0.0.1:9464}");
    for program in ["embed-worker", "tag-worker", "learn-worker"] {
        let command = &unit(&format!("htm-{program}@.service"))["Service"]["ExecStart"];
        assert!(command.ends_with("--listen 127.0.0.1:%i"), "{command}");
        let open = documents(&format!("kubernetes-monitoring/{program}.yaml")).remove(0);
        let container = &open["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(texts(&container["command"])[1..], ["--listen", "0.0.0.0:9464"]);
        assert_eq!((&container["name"], &open["metadata"]["name"]), (&program.into(), &program.into()));
    }
    let policy = documents("kubernetes/network.yaml").remove(0);
    assert_eq!(
        (policy["kind"].as_str(), &policy["spec"]["podSelector"]),
        (Some("NetworkPolicy"), &json!({}))
    );
    assert_eq!(policy["spec"]["policyTypes"], json!(["Ingress"]));
    assert!(policy["spec"].get("ingress").is_none(), "{policy}");
    let prometheus = documents("kubernetes-monitoring/network.yaml").remove(0);
    let rule = &prometheus["spec"]["ingress"][0];
    assert_eq!(rule["ports"], json!([{ "port": 9464 }]));
    assert!(rule["from"][0]["namespaceSelector"].is_object(), "{rule}");
}

#[test]
fn every_container_is_confined() {
    for (name, service) in compose()["services"].as_object().unwrap() {
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(service["cap_drop"], json!(["ALL"]), "{name}");
        assert_eq!(service["security_opt"], json!(["no-new-privileges:true"]), "{name}");
        assert!(service["pids_limit"].is_u64() && service["mem_limit"].is_string(), "{name}");
        for volume in service.get("volumes").map(texts).unwrap_or_default() {
            assert!(
                volume.starts_with(|c: char| c.is_alphabetic()) || volume.ends_with(":ro"),
                "{name}: {volume}"
            );
        }
    }
    let pods = ["migrate", "embed-worker", "tag-worker", "learn-worker", "server"]
        .map(|name| documents(&format!("kubernetes/{name}.yaml")));
    for pod in pods.iter().map(|documents| &documents[0]["spec"]["template"]["spec"]) {
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{pod}");
        let container = &pod["containers"][0];
        let context = json!({
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        });
        assert_eq!(container["securityContext"], context);
        assert!(container["resources"]["limits"]["memory"].is_string(), "{container}");
    }
    for name in ["htm-embed-worker@", "htm-tag-worker@", "htm-learn-worker@", "htm-server"] {
        let unit = &unit(&format!("{name}.service"))["Service"];
        assert_eq!((&*unit["NoNewPrivileges"], &*unit["ProtectSystem"]), ("yes", "strict"));
        assert!(unit.contains_key("MemoryMax") && unit.contains_key("TasksMax"), "{unit:?}");
    }
}

/// The workers read and write; only the migration knows the role that owns the schema, and it grants what they need.
#[test]
fn workers_are_not_the_owner_of_the_schema() {
    let user = |url: &str| url.trim_start_matches("postgres://").split(':').next().unwrap().to_owned();
    let services = &compose()["services"];
    let of = |service: &str| user(services[service]["environment"]["HTM_DATABASE__URL"].as_str().unwrap());
    let roles = ["migrate", "embed-worker", "tag-worker", "learn-worker", "server"].map(of);
    assert_eq!(roles, ["htm", "htm_app", "htm_app", "htm_app", "htm_app"]);
    let grant = ["htm", "db", "migrate", "--application-role", "htm_app"];
    assert_eq!(texts(&services["migrate"]["command"]), grant);
    assert!(
        texts(&services["postgres"]["volumes"]).contains(&"./postgres:/docker-entrypoint-initdb.d:ro".into())
    );
    assert!(read("postgres/application-role.sh").contains("create role htm_app login password :'password';"));

    let secrets = documents("kubernetes/secret.example.yaml");
    let users = secrets.iter().map(|it| user(it["stringData"]["HTM_DATABASE__URL"].as_str().unwrap()));
    assert_eq!(users.collect::<Vec<_>>(), ["htm_app", "htm"]);
    let pod = |name: &str| {
        documents(&format!("kubernetes/{name}.yaml"))[0]["spec"]["template"]["spec"]["containers"][0].clone()
    };
    let secrets = |container: &Value| -> Vec<String> {
        container["envFrom"].as_array().unwrap().iter().map(|it| text(&it["secretRef"]["name"])).collect()
    };
    assert_eq!(secrets(&pod("migrate")), ["htm", "htm-owner"]);
    assert_eq!(texts(&pod("migrate")["command"]), grant);
    for program in ["embed-worker", "tag-worker", "learn-worker", "server"] {
        assert_eq!(secrets(&pod(program)), ["htm"]);
    }
}

#[test]
fn every_image_has_an_exact_tag() {
    let built = read("Dockerfile");
    let built =
        built.lines().filter_map(|line| line.strip_prefix("FROM ").or(line.strip_prefix("# syntax=")));
    let built = built.map(|line| line.split(' ').next().unwrap().to_owned());
    let compose = compose();
    let run = compose["services"].as_object().unwrap().values().map(|service| text(&service["image"]));
    let images: Vec<String> = built.chain(run).collect();
    assert!(images.len() >= 9, "{images:?}");
    for image in images {
        let tag = image.split('@').next().unwrap().rsplit_once(':').map_or("", |(_, tag)| tag);
        let version = tag.trim_start_matches('v').split('-').next().unwrap();
        assert!(
            version.split('.').count() >= 2 && version.starts_with(|c: char| c.is_ascii_digit()),
            "{image}"
        );
    }
}

/// Docker is not there, and the registries are not reached: what it would say stands in for both.
#[tokio::test]
async fn a_release_pins_each_image_by_its_digest() {
    let sandbox = Sandbox::on("");
    let digest = format!("sha256:{}", "ab".repeat(32));
    let docker = sandbox.write("docker", format!("#!/bin/sh\necho \"$4\" >> \"$0.asked\"\necho {digest}\n"));
    for name in ["Dockerfile", "compose.yaml"] {
        sandbox.write(name, read(name));
    }
    let dir = Path::new(&docker).parent().unwrap().display().to_string();
    let script = root().join("../../scripts/pin_images.py").canonicalize().unwrap().display().to_string();
    let run = format!("chmod +x '{docker}' && PATH='{dir}':\"$PATH\" python3 '{script}' '{dir}'");
    sandbox.shell(&run).await.succeeds();
    let pinned = |name: &str| fs::read_to_string(Path::new(&dir).join(name)).unwrap();
    let once = [pinned("Dockerfile"), pinned("compose.yaml")];
    assert_eq!(once[0].matches(&format!("@{digest}")).count(), 4, "{}", once[0]);
    assert_eq!(once[1].matches(&format!("@{digest}")).count(), 2, "{}", once[1]);
    let own = concat!("image: htm:", env!("CARGO_PKG_VERSION"), "\n");
    assert!(once[1].contains(own), "our own image has no digest yet: {}", once[1]);
    // Again: the digest is another, or the same; never two.
    sandbox.shell(&run).await.succeeds();
    assert_eq!([pinned("Dockerfile"), pinned("compose.yaml")], once);
    let asked = fs::read_to_string(format!("{docker}.asked")).unwrap();
    assert!(asked.contains("pgvector/pgvector:") && !asked.contains('@'), "{asked}");
}

/// Whoever deploys puts them beside our files. The first stage of the image copies the whole checkout.
#[test]
fn secrets_are_neither_committed_nor_sent_to_docker() {
    for (guide, secret) in [
        ("kubernetes/kustomization.yaml", "kubernetes/secret.yaml"),
        ("prometheus/prometheus.yml", "prometheus/htm-key"),
    ] {
        let name = Path::new(secret).file_name().unwrap().to_str().unwrap();
        assert!(read(guide).contains(name), "{guide} no longer names {name}");
        let path = format!("config/deploy/{secret}");
        for list in ["../../.gitignore", "Dockerfile.dockerignore"] {
            assert!(read(list).lines().any(|line| line == path), "{list} lacks {path}");
        }
    }
}

#[tokio::test]
async fn kubernetes_scales_by_a_query_that_counts_due_jobs() {
    let db = TestDatabase::new().await;
    crate::remember(&db, 7).await;
    for number in 0..7 {
        enqueue_learning(&db, &format!("namespace {number}")).await;
    }
    let scaled = documents("kubernetes/scaling.yaml");
    assert_eq!(scaled.len(), 3);
    for object in scaled {
        let name = object["spec"]["scaleTargetRef"]["name"].as_str().unwrap();
        assert_eq!(deployment(name)["metadata"]["name"], name);
        let trigger = &object["spec"]["triggers"][0]["metadata"];
        let query = trigger["query"].as_str().unwrap().to_owned();
        let due: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&db.pool).await.unwrap();
        assert_eq!(due, 7, "{name}");
        assert!(trigger["targetQueryValue"].as_str().unwrap().parse::<u32>().unwrap() > 0);
    }
}

#[test]
fn every_yaml_file_is_read_and_kustomize_names_files_that_exist() {
    for file in files("").iter().filter(|file| file.extension().is_some_and(|it| it == "yaml" || it == "yml"))
    {
        let documents = documents(file.to_str().unwrap());
        assert!(documents.iter().all(Value::is_object), "{}", file.display());
    }
    for dir in ["kubernetes", "kubernetes-monitoring"] {
        let kustomization = documents(&format!("{dir}/kustomization.yaml")).remove(0);
        let patches = kustomization.get("patches").and_then(Value::as_array).cloned().unwrap_or_default();
        let patches = patches.iter().map(|patch| text(&patch["path"]));
        for name in texts(&kustomization["resources"]).into_iter().chain(patches) {
            assert!(root().join(dir).join(&name).exists(), "{dir}: {name}");
        }
    }
}

fn dashboard_queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("grafana/dashboard.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    for panel in panels {
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{}", panel["title"]);
    }
    let asked =
        variables.iter().filter(|variable| variable["type"] == "query").map(|variable| &variable["query"]);
    targets.map(|target| &target["expr"]).chain(asked).map(text).collect()
}

fn alert_queries() -> Vec<String> {
    let groups = documents("prometheus/alerts.yaml").remove(0);
    let rules =
        groups["groups"].as_array().unwrap().iter().flat_map(|group| group["rules"].as_array().unwrap());
    rules.map(|rule| text(&rule["expr"])).collect()
}

fn compose() -> Value {
    documents("compose.yaml").remove(0)
}

fn compose_commands() -> Vec<Vec<String>> {
    let compose = compose();
    let services = compose["services"].as_object().unwrap().values();
    services.filter_map(|service| service.get("command")).map(texts).collect()
}

fn kubernetes_commands() -> Vec<Vec<String>> {
    let all = ["kubernetes", "kubernetes-monitoring"].into_iter().flat_map(files);
    let all = all.flat_map(|file| documents(file.to_str().unwrap()));
    let containers = |object: Value| {
        let list = object.pointer("/spec/template/spec/containers").and_then(Value::as_array).cloned();
        list.unwrap_or_default()
    };
    all.flat_map(containers).map(|container| texts(&container["command"])).collect()
}

fn systemd_commands() -> Vec<Vec<String>> {
    let units = files("systemd").into_iter().map(|file| unit(file.file_name().unwrap().to_str().unwrap()));
    let command = |unit: BTreeMap<String, BTreeMap<String, String>>| {
        let words = unit["Service"]["ExecStart"].split_whitespace();
        words.map(|word| word.trim_start_matches("/usr/local/bin/").to_owned()).collect()
    };
    units.map(command).collect()
}

/// The commands that the Dockerfile runs, and those that its comments tell people to run.
fn image_commands() -> Vec<Vec<String>> {
    let text = read("Dockerfile");
    let runs = text.lines().filter_map(|line| line.strip_prefix("CMD "));
    let told = text.lines().filter_map(|line| line.strip_prefix("#   docker run ")?.split_once(IMAGE));
    let runs = runs.map(|list| serde_json::from_str::<Vec<String>>(list).unwrap());
    runs.chain(told.map(|(_, line)| line.split(' ').map(str::to_owned).collect())).collect()
}

fn deployment(program: &str) -> Value {
    documents(&format!("kubernetes/{program}.yaml")).remove(0)
}

/// A systemd unit: its sections with their keys.
fn unit(name: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut sections = BTreeMap::<String, BTreeMap<String, String>>::new();
    let mut section = String::new();
    for line in
        read(&format!("systemd/{name}")).lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
        } else {
            let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("{name}: {line}"));
            let earlier = sections.entry(section.clone()).or_default().insert(key.into(), value.into());
            assert_eq!(earlier, None, "{name}: {key} stands there twice");
        }
    }
    assert_eq!(sections.keys().collect::<Vec<_>>(), ["Install", "Service", "Unit"], "{name}");
    sections
}

fn of_both<'a>(
    scrapes: &'a [Scrape; 2],
    look: impl Fn(&'a Scrape) -> BTreeSet<&'a str>,
) -> BTreeSet<&'a str> {
    scrapes.iter().flat_map(look).collect()
}

fn documents(path: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}")).iter().map(text).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("config/deploy")
}

/// Every file below a directory of `config/deploy`.
fn files(dir: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(dir)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(path.to_str().unwrap())) } else { found.push(path) }
    }
    found.sort();
    found
}
