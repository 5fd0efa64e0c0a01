//! `htm models pull`, from a hub of the test: the paths of the Hugging Face hub over tiny models.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use htm_tests::{Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use wiremock::matchers::{header, method, path, path_regex, query_param};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const COMMIT: &str = "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a";

/// A folder with the tiny model of a family.
fn family(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/htm-providers/tests/data").join(name)
}

fn hex<D: Digest>(digest: D) -> String {
    hex::encode(digest.finalize())
}

/// A repository: its files, as the hub would list and serve them.
#[derive(Clone)]
struct Repo {
    files: Vec<(String, Vec<u8>)>,
}

impl Repo {
    fn of(folder: &Path) -> Self {
        let mut files =
            vec![("README.md".to_owned(), b"# A model".to_vec()), ("onnx/model.onnx".into(), vec![1])];
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
                match entry.is_dir() {
                    true => folders.push(entry),
                    false => files.push((
                        entry.strip_prefix(folder).unwrap().display().to_string(),
                        std::fs::read(&entry).unwrap(),
                    )),
                }
            }
        }
        Self { files }
    }

    fn with(mut self, file: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.retain(|(path, _)| path != file);
        self.files.push((file.into(), content.into()));
        self
    }

    fn without(mut self, file: &str) -> Self {
        self.files.retain(|(path, _)| path != file);
        self
    }

    /// The list: large files with their SHA-256, others with the id of their Git blob.
    fn listed(&self) -> Value {
        let siblings: Vec<Value> = self
            .files
            .iter()
            .map(|(path, content)| {
                let blob = Sha1::new_with_prefix(format!("blob {}\0", content.len())).chain_update(content);
                let mut file = json!({"rfilename": path, "size": content.len(), "blobId": hex(blob)});
                if path.ends_with(".safetensors") {
                    file["lfs"] = json!({"size": content.len(), "pointerSize": 135,
                        "sha256": hex(Sha256::new().chain_update(content))});
                    file["blobId"] = json!("7f8b0a5c00000000000000000000000000000000");
                }
                file
            })
            .collect();
        json!({"id": "maker/tiny", "sha": COMMIT, "private": false, "siblings": siblings})
    }
}

/// Serves the files of a repository, and parts of them.
struct Files(Repo);

impl Respond for Files {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let wanted = request.url.path().split_once(&format!("/resolve/{COMMIT}/")).map(|(_, file)| file);
        let Some((_, content)) = self.0.files.iter().find(|(path, _)| Some(path.as_str()) == wanted) else {
            return ResponseTemplate::new(404).insert_header("x-error-code", "EntryNotFound");
        };
        part_of(content, request)
    }
}

/// A file from the byte on that a request asks for.
fn part_of(content: &[u8], request: &Request) -> ResponseTemplate {
    match range(request) {
        0 => ResponseTemplate::new(200).set_body_bytes(content),
        from => ResponseTemplate::new(206)
            .insert_header("content-range", format!("bytes {from}-{}/{}", content.len() - 1, content.len()))
            .set_body_bytes(&content[from..]),
    }
}

fn range(request: &Request) -> usize {
    let header = request.headers.get("range").map(|value| value.to_str().unwrap());
    header.map_or(0, |text| text.trim_start_matches("bytes=").trim_end_matches('-').parse().unwrap())
}

/// A BERT of one layer with a classifier of one label.
fn cross_encoder() -> Repo {
    const WIDTH: usize = 8;
    let words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tabs", "sea"];
    let mut shapes: Vec<(String, Vec<usize>)> = Vec::new();
    let mut linear = |name: &str, inputs: usize, outputs: usize| {
        shapes.push((format!("{name}.weight"), vec![outputs, inputs]));
        shapes.push((format!("{name}.bias"), vec![outputs]));
    };
    let layer = "bert.encoder.layer.0";
    for part in
        ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
    {
        linear(&format!("{layer}.{part}"), WIDTH, WIDTH);
    }
    linear(&format!("{layer}.intermediate.dense"), WIDTH, WIDTH);
    linear(&format!("{layer}.output.dense"), WIDTH, WIDTH);
    linear("bert.pooler.dense", WIDTH, WIDTH);
    linear("classifier", WIDTH, 1);
    for norm in [
        "bert.embeddings.LayerNorm".into(),
        format!("{layer}.attention.output.LayerNorm"),
        format!("{layer}.output.LayerNorm"),
    ] {
        shapes.push((format!("{norm}.weight"), vec![WIDTH]));
        shapes.push((format!("{norm}.bias"), vec![WIDTH]));
    }
    for (table, rows) in [("word", words.len()), ("position", 16), ("token_type", 2)] {
        shapes.push((format!("bert.embeddings.{table}_embeddings.weight"), vec![rows, WIDTH]));
    }
    // The format of safetensors: the length of the header, the header, the numbers.
    let (mut header, mut numbers) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in shapes {
        let start = numbers.len();
        for place in 0..shape.iter().product::<usize>() {
            numbers.extend((0.3 * (place as f32 + start as f32).sin()).to_le_bytes());
        }
        let facts = json!({"dtype": "F32", "shape": shape, "data_offsets": [start, numbers.len()]});
        header.insert(name, facts);
    }
    let header = serde_json::to_vec(&header).unwrap();
    let weights = [&(header.len() as u64).to_le_bytes()[..], &header, &numbers].concat();
    let config = json!({
        "architectures": ["BertForSequenceClassification"], "model_type": "bert", "hidden_act": "gelu",
        "hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": WIDTH,
        "max_position_embeddings": 16, "vocab_size": words.len(),
    });
    Repo { files: Vec::new() }
        .with("config.json", config.to_string())
        .with("vocab.txt", words.join("\n"))
        .with("model.safetensors", weights)
}

async fn list(hub: &MockServer, repo: &Repo) {
    Mock::given(method("GET"))
        .and(path("/api/models/maker/tiny/revision/main"))
        .and(query_param("blobs", "true"))
        .respond_with(ResponseTemplate::new(200).set_body_json(repo.listed()))
        .mount(hub)
        .await;
}

async fn hub(repo: &Repo) -> MockServer {
    let hub = MockServer::start().await;
    list(&hub, repo).await;
    Mock::given(path_regex("^/maker/tiny/resolve/")).respond_with(Files(repo.clone())).mount(&hub).await;
    hub
}

async fn asked(hub: &MockServer) -> Vec<String> {
    let requests = hub.received_requests().await.unwrap();
    requests.iter().map(|request| request.url.path().rsplit('/').next().unwrap().to_owned()).collect()
}

fn models(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join("htm/models")
}

#[tokio::test]
async fn a_pulled_model_embeds() {
    let repo = Repo::of(&family("bge"));
    let hub = hub(&repo).await;
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HF_ENDPOINT", &hub.uri());
    let pulled = sandbox.htm(&["--json", "models", "pull", "maker/tiny"]).await.json();
    assert_eq!(pulled["kind"], "embedder");
    assert_eq!((&pulled["commit"], &pulled["already_there"]), (&json!(COMMIT), &json!(false)));
    assert_eq!(pulled["facts"]["query_prefix"], "Represent this: ");
    let folder = models(&sandbox).join("tiny");
    assert_eq!(pulled["directory"], json!(folder));
    let asked = asked(&hub).await;
    assert!(asked.iter().all(|file| file != "README.md" && file != "model.onnx" && file != "expected.json"));
    for (file, content) in &repo.files {
        let here = std::fs::read(folder.join(file)).ok();
        let wanted = !matches!(file.as_str(), "README.md" | "onnx/model.onnx" | "expected.json")
            && !file.starts_with("2_Normalize");
        assert!(if wanted { here.as_ref() == Some(content) } else { here.is_none_or(|it| it == *content) });
    }
    // By its name, with nothing else to set.
    let added = sandbox.htm(&["models", "add", "local/tiny"]).await;
    assert!(added.succeeds().contains("24 dimensions"), "{added:?}");

    let again = sandbox.htm(&["models", "pull", "maker/tiny"]).await;
    assert!(again.succeeds().starts_with("tiny was there already: maker/tiny at 5c38ec7c40, "), "{again:?}");
    // What is damaged is fetched again, and nothing else.
    let weights = folder.join("model.safetensors");
    std::fs::write(&weights, "damaged").unwrap();
    let before = self::asked(&hub).await.len();
    let mended = sandbox.htm(&["--json", "models", "pull", "maker/tiny"]).await.json();
    assert_eq!(mended["already_there"], false);
    assert_eq!(self::asked(&hub).await[before..], ["main", "model.safetensors"]);
}

#[tokio::test]
async fn an_interrupted_pull_goes_on_where_it_was() {
    struct Slow(Repo, AtomicUsize);
    impl Respond for Slow {
        fn respond(&self, request: &Request) -> ResponseTemplate {
            let (_, content) = self.0.files.iter().find(|(path, _)| path == "model.safetensors").unwrap();
            match self.1.fetch_add(1, Ordering::SeqCst) {
                // It ends early; the rest does not come before the program is killed.
                0 => ResponseTemplate::new(200).set_body_bytes(&content[..1_000]),
                1 => part_of(content, request).set_delay(Duration::from_secs(600)),
                _ => part_of(content, request),
            }
        }
    }
    let repo = Repo::of(&family("bert"));
    let hub = MockServer::start().await;
    list(&hub, &repo).await;
    Mock::given(path(format!("/maker/tiny/resolve/{COMMIT}/model.safetensors")))
        .respond_with(Slow(repo.clone(), AtomicUsize::new(0)))
        .with_priority(1)
        .mount(&hub)
        .await;
    Mock::given(path_regex("^/maker/tiny/resolve/")).respond_with(Files(repo.clone())).mount(&hub).await;
    let sandbox = Sandbox::on("").set("HF_ENDPOINT", &hub.uri());
    let mut pull = sandbox.start("htm", &["models", "pull", "maker/tiny"]);
    let of_weights = async || asked(&hub).await.iter().filter(|file| *file == "model.safetensors").count();
    wait_until(async || of_weights().await == 2).await;
    // While it runs, no other pull of it does.
    sandbox.htm(&["models", "pull", "maker/tiny"]).await.fails(75, "hub_busy");
    pull.signal(Signal::SIGKILL);
    pull.end().await;
    assert!(!models(&sandbox).join("tiny").exists(), "half a model has no name");

    let before = asked(&hub).await.len();
    sandbox.htm(&["models", "pull", "maker/tiny"]).await.succeeds();
    assert_eq!(asked(&hub).await[before..], ["main", "model.safetensors"]);
    let last = hub.received_requests().await.unwrap().pop().unwrap();
    assert_eq!(range(&last), 1_000);
    let weights = std::fs::read(models(&sandbox).join("tiny/model.safetensors")).unwrap();
    assert_eq!(weights, std::fs::read(family("bert").join("model.safetensors")).unwrap());
    assert!(!models(&sandbox).join(".tiny.partial").exists());
}

#[tokio::test]
async fn a_token_goes_to_the_hub_and_no_further() {
    let repo = Repo::of(&family("bert"));
    let (hub, elsewhere) = (MockServer::start().await, MockServer::start().await);
    Mock::given(header("authorization", "Bearer hf_secret"))
        .and(path("/api/models/maker/tiny/revision/main"))
        .respond_with(ResponseTemplate::new(200).set_body_json(repo.listed()))
        .mount(&hub)
        .await;
    let weights = format!("/maker/tiny/resolve/{COMMIT}/model.safetensors");
    let signed = format!("{}{weights}?signature=x", elsewhere.uri());
    Mock::given(path(&*weights))
        .respond_with(ResponseTemplate::new(302).insert_header("location", &*signed))
        .with_priority(1)
        .mount(&hub)
        .await;
    for server in [&hub, &elsewhere] {
        Mock::given(path_regex("/resolve/")).respond_with(Files(repo.clone())).mount(server).await;
    }
    let sandbox = Sandbox::on("").set("HF_TOKEN_PATH", "/nowhere/token");
    let unread = sandbox.htm(&["models", "pull", "maker/tiny", "--endpoint", &hub.uri()]).await;
    assert!(unread.fails(2, "hub_endpoint_invalid").contains("/nowhere/token"), "{unread:?}");
    let token = sandbox.write("token", "hf_secret\n");
    let sandbox = sandbox.set("HF_TOKEN_PATH", &token);
    sandbox.htm(&["models", "pull", "maker/tiny", "--endpoint", &hub.uri()]).await.succeeds();
    let requests = elsewhere.received_requests().await.unwrap();
    assert_eq!(requests.len(), 1);
    assert!(!requests[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_cross_encoder_is_pulled_for_the_re_ranker() {
    let repo = cross_encoder();
    let hub = hub(&repo).await;
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db)
        .set("HF_ENDPOINT", &hub.uri())
        .set("HTM_RERANK__PROVIDER", "local")
        .set("HTM_RERANK__MODEL", "judge");
    let pulled = sandbox.htm(&["models", "pull", "maker/tiny", "--name", "judge"]).await;
    assert!(pulled.succeeds().contains("rerank.model to \"judge\""), "{pulled:?}");
    sandbox.remember(&["Mara prefers tabs."]).await;
    sandbox.remember(&["The sea is cold."]).await;
    let found = sandbox.htm(&["--json", "recall", "who likes tabs?", "--rerank"]).await.json();
    assert!(
        found["hits"].as_array().unwrap().iter().all(|hit| hit["scores"]["reranked"].is_f64()),
        "{found}"
    );
}

#[tokio::test]
async fn what_cannot_be_pulled_leaves_no_model() {
    let whole = Repo::of(&family("bert"));
    let sandbox = Sandbox::on("");
    let pull = async |hub: &MockServer| {
        sandbox.htm(&["models", "pull", "maker/tiny", "--endpoint", &hub.uri()]).await
    };
    let gpt = r#"{"model_type": "gpt2", "architectures": ["GPT2Model"]}"#;
    for (repo, reason) in [
        (whole.clone().without("model.safetensors").with("pytorch_model.bin", "x"), "pytorch_model.bin"),
        (whole.clone().without("config.json"), "config.json is missing"),
        (whole.clone().with("config.json", gpt), "gpt2"),
        (whole.clone().with("model.safetensors", "no weights"), "model.safetensors"),
    ] {
        let hub = hub(&repo).await;
        let refused = pull(&hub).await;
        assert!(refused.fails(2, "hub_model_unfit").contains(reason), "{refused:?}");
        let weights = asked(&hub).await.iter().filter(|file| *file == "model.safetensors").count();
        assert_eq!(weights, usize::from(reason == "model.safetensors"), "no weights for nothing");
    }
    // The server of the files has others than the hub lists.
    let hub = MockServer::start().await;
    list(&hub, &whole).await;
    let mut turned = std::fs::read(family("bert").join("model.safetensors")).unwrap();
    turned.reverse();
    let other = whole.clone().with("model.safetensors", turned);
    Mock::given(path_regex("/resolve/")).respond_with(Files(other)).mount(&hub).await;
    assert!(pull(&hub).await.fails(75, "hub_file_damaged").contains("model.safetensors"));

    for (status, said, exit, code) in [
        (404, "RepoNotFound", 2, "hub_not_found"),
        (401, "RepoNotFound", 2, "hub_not_found"),
        (403, "GatedRepo", 2, "hub_forbidden"),
        (401, "", 2, "hub_forbidden"),
        (503, "", 75, "hub_unreachable"),
        (418, "", 1, "hub_answer_invalid"),
        (200, "", 1, "hub_answer_invalid"),
    ] {
        let hub = MockServer::start().await;
        let answer =
            ResponseTemplate::new(status).insert_header("x-error-code", said).set_body_string("<html>");
        Mock::given(path_regex("^/api/")).respond_with(answer).mount(&hub).await;
        pull(&hub).await.fails(exit, code);
    }
    assert!(!models(&sandbox).join("tiny").exists());
}

#[tokio::test]
async fn a_name_is_of_one_commit() {
    let repo = Repo::of(&family("bert"));
    let hub = hub(&repo).await;
    let sandbox = Sandbox::on("").set("HF_ENDPOINT", &hub.uri());
    sandbox.htm(&["models", "pull", "maker/tiny"]).await.succeeds();
    let newer = repo.clone().with("config_sentence_transformers.json", "{}");
    let mut listed = newer.listed();
    listed["sha"] = json!(COMMIT.replace('5', "6"));
    let next = MockServer::start().await;
    Mock::given(path("/api/models/maker/tiny/revision/v2%2Fnext"))
        .respond_with(ResponseTemplate::new(200).set_body_json(listed))
        .mount(&next)
        .await;
    let wanted = ["models", "pull", "maker/tiny", "--revision", "v2/next", "--endpoint", &next.uri()];
    let refused = sandbox.htm(&wanted).await;
    assert!(refused.fails(2, "hub_name_taken").contains(COMMIT), "{refused:?}");
    for name in ["../tiny", ".tiny", "a/b", ""] {
        let refused = sandbox.htm(&["models", "pull", "maker/tiny", "--name", name]).await;
        refused.fails(2, "hub_repository_invalid");
    }
}

#[tokio::test]
async fn a_pull_repairs_the_damaged_source_of_the_same_files_only() {
    let repo = Repo::of(&family("bert"));
    let hub = hub(&repo).await;
    let sandbox = Sandbox::on("").set("HF_ENDPOINT", &hub.uri());
    let pull = ["models", "pull", "maker/tiny"];
    sandbox.htm(&pull).await.succeeds();
    let place = models(&sandbox).join("tiny");
    let source = std::fs::read(place.join("htm.json")).unwrap();
    std::fs::write(place.join("htm.json"), "").unwrap();
    sandbox.htm(&pull).await.succeeds();
    assert_eq!(std::fs::read(place.join("htm.json")).unwrap(), source);

    std::fs::write(place.join("htm.json"), "").unwrap();
    std::fs::write(place.join("model.safetensors"), "another's").unwrap();
    sandbox.htm(&pull).await.fails(2, "hub_name_taken");
}

#[tokio::test]
async fn the_folder_of_a_model_need_not_be_utf8() {
    let hub = hub(&Repo::of(&family("bert"))).await;
    let sandbox = Sandbox::on("").set("HF_ENDPOINT", &hub.uri());
    let pull = r#"HTM_HOME="$HOME"/$'htm\xff' htm --json models pull maker/tiny"#;
    let pulled = sandbox.shell(pull).await.json();
    assert!(pulled["directory"].as_str().unwrap().ends_with("/htm\u{fffd}/models/tiny"), "{pulled}");
}

#[tokio::test]
async fn known_models_are_listed_without_a_database() {
    let sandbox = Sandbox::on("postgres://127.0.0.1:1/none");
    let known = sandbox.htm(&["--json", "models", "list", "--known"]).await.json();
    let bge = known
        .as_array()
        .unwrap()
        .iter()
        .find(|model| model["repository"] == "BAAI/bge-small-en-v1.5")
        .unwrap();
    assert_eq!((&bge["dimensions"], &bge["kind"]), (&json!(384), &json!("embedder")));
    assert!(bge["query_prefix"].as_str().unwrap().starts_with("Represent this sentence"));
}

/// The prefixes of a known model come with it if its own files name none.
#[tokio::test]
async fn a_known_model_has_its_prefixes() {
    let repo = Repo::of(&family("bert")).without("config_sentence_transformers.json");
    let hub = MockServer::start().await;
    Mock::given(path_regex("^/api/models/intfloat/e5-small-v2/"))
        .respond_with(ResponseTemplate::new(200).set_body_json(repo.listed()))
        .mount(&hub)
        .await;
    Mock::given(path_regex("/resolve/")).respond_with(Files(repo)).mount(&hub).await;
    let sandbox = Sandbox::on("").set("HF_ENDPOINT", &hub.uri());
    let pulled = sandbox.htm(&["--json", "models", "pull", "intfloat/e5-small-v2"]).await.json();
    assert_eq!(pulled["facts"]["query_prefix"], "query: ");
    assert_eq!(pulled["facts"]["document_prefix"], "passage: ");
}
