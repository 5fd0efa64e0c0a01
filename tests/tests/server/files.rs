//! Files: the commands of Anthropic's memory tool.

use htm_core::{NewApiKey, Role, Stage};
use htm_tests::{drain, fetched_sdk, wait_until};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Reply, Served};

impl Served {
    /// Gives a command to the tool, with its input.
    async fn file(&self, input: Value) -> Reply {
        self.post(&format!("/v1/files/{}", input["command"].as_str().unwrap()), input).await
    }

    /// The text of the reply to a command that succeeds.
    async fn done(&self, input: Value) -> String {
        self.file(input).await.is(200)["content"].as_str().unwrap().to_owned()
    }

    /// The code and the text of a refusal.
    async fn refused(&self, input: Value) -> (u16, String, String) {
        let reply = self.file(input).await;
        let (status, code) = reply.problem();
        (status, code.to_owned(), reply.body["detail"].as_str().unwrap().to_owned())
    }

    async fn create_file(&self, path: &str, text: &str) -> i64 {
        let input = json!({"command": "create", "path": path, "file_text": text});
        self.file(input).await.is(200)["nodes"][0].as_i64().unwrap()
    }

    async fn text_of_file(&self, path: &str) -> String {
        let seen = self.done(json!({"command": "view", "path": path})).await;
        let lines = seen.split('\n').skip(1).map(|line| line[7..].to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn refusal(status: u16, code: &str, text: &str) -> (u16, String, String) {
    (status, code.into(), text.into())
}

#[tokio::test]
async fn all_commands_take_the_same_query() {
    let served = Served::new().await;
    let path = "/memories/notes.md";
    for input in [
        json!({"command": "create", "path": path, "file_text": "one\ntwo\n"}),
        json!({"command": "view", "path": path}),
        json!({"command": "str_replace", "path": path, "old_str": "two", "new_str": "2"}),
        json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "zero\n"}),
        json!({"command": "rename", "old_path": path, "new_path": "/memories/other.md"}),
        json!({"command": "delete", "path": "/memories/other.md"}),
    ] {
        let command = input["command"].as_str().unwrap();
        let query = "namespace=ff&robot=arch&any_robot=true";
        served.post(&format!("/v1/files/{command}?{query}"), input.clone()).await.is(200);
    }
}

#[tokio::test]
async fn each_command_replies_as_the_tool_does() {
    let served = Served::new().await;
    let path = "/memories/notes.md";
    let view = json!({"command": "view", "path": "/memories"});
    let head =
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n";
    assert_eq!(served.done(view.clone()).await, format!("{head}0B\t/memories"));

    let create = json!({"command": "create", "path": path, "file_text": "one\ntwo\n"});
    assert_eq!(served.done(create.clone()).await, "File created successfully at: /memories/notes.md");
    let exists = refusal(409, "file_exists", "File /memories/notes.md already exists");
    assert_eq!(served.refused(create.clone()).await, exists);
    let below = json!({"command": "create", "path": "/memories/notes.md/x", "file_text": "x"});
    assert_eq!(served.refused(below).await, exists);
    let root = json!({"command": "create", "path": "/memories", "file_text": "x"});
    assert_eq!(served.refused(root).await, refusal(409, "file_exists", "File /memories already exists"));

    let seen = served.file(json!({"command": "view", "path": path, "view_range": [2, -1]})).await.is(200);
    assert_eq!(
        seen["content"],
        "Here's the content of /memories/notes.md with line numbers:\n     2\ttwo\n     3\t"
    );
    assert_eq!((&seen["nodes"], &seen["revision"]), (&json!([1]), &json!(1)));

    let replace = |old: &str, new: &str| json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new});
    assert_eq!(
        served.done(replace("two", "2")).await,
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     \
         1\tone\n     2\t2\n     3\t"
    );
    assert_eq!(
        served.refused(replace("two", "2")).await,
        refusal(
            422,
            "file_edit_unfit",
            "No replacement was performed, old_str `two` did not appear verbatim in /memories/notes.md."
        )
    );
    assert_eq!(
        served.refused(replace("\n", "")).await,
        refusal(
            422,
            "file_edit_unfit",
            "No replacement was performed. Multiple occurrences of old_str `\n` in lines: 1, 2. Please ensure it is unique"
        )
    );
    let insert =
        |line: i64| json!({"command": "insert", "path": path, "insert_line": line, "insert_text": "zero\n"});
    assert_eq!(served.done(insert(0)).await, "The file /memories/notes.md has been edited.");
    assert_eq!(served.text_of_file(path).await, "zero\none\n2\n");
    assert_eq!(
        served.refused(insert(4)).await,
        refusal(
            422,
            "file_line_invalid",
            "Invalid `insert_line` parameter: 4. It should be within the range [0, 3]."
        )
    );

    let rename = |old: &str, new: &str| json!({"command": "rename", "old_path": old, "new_path": new});
    assert_eq!(
        served.done(rename(path, "/memories/d/n.md")).await,
        "Successfully renamed /memories/notes.md to /memories/d/n.md"
    );
    assert_eq!(
        served.refused(rename(path, "/memories/x")).await,
        refusal(404, "file_not_found", "The path /memories/notes.md does not exist")
    );
    assert_eq!(
        served.refused(rename("/memories/d/n.md", "/memories/d")).await,
        refusal(409, "file_exists", "The destination /memories/d already exists")
    );
    assert_eq!(served.refused(rename("/memories/d", "/memories/d/e/f")).await.1, "file_path_invalid");
    assert_eq!(
        served.done(view).await,
        format!("{head}11B\t/memories\n11B\t/memories/d/\n11B\t/memories/d/n.md")
    );

    let gone = refusal(
        404,
        "file_not_found",
        "The path /memories/none does not exist. Please provide a valid path.",
    );
    let at = |command: &str, path: &str| match command {
        "str_replace" => json!({"command": command, "path": path, "old_str": "a", "new_str": "b"}),
        "insert" => json!({"command": command, "path": path, "insert_line": 0, "insert_text": "a"}),
        _ => json!({"command": command, "path": path}),
    };
    for command in ["view", "str_replace", "insert"] {
        assert_eq!(served.refused(at(command, "/memories/none")).await, gone, "{command}");
    }
    for command in ["str_replace", "insert"] {
        let expected = refusal(422, "file_is_directory", "The path /memories/d is not a file.");
        assert_eq!(served.refused(at(command, "/memories/d")).await, expected, "{command}");
    }
    assert_eq!(served.done(at("delete", "/memories/d")).await, "Successfully deleted /memories/d");
    assert_eq!(
        served.refused(at("delete", "/memories/d")).await,
        refusal(404, "file_not_found", "The path /memories/d does not exist")
    );
    for (input, verb) in
        [(at("delete", "/memories/"), "delete"), (rename("/memories", "/memories/x"), "rename")]
    {
        let text = format!("Cannot {verb} the /memories directory itself");
        assert_eq!(served.refused(input).await, refusal(422, "file_path_invalid", &text));
    }
}

#[tokio::test]
async fn no_path_leads_out() {
    let served = Served::new().await;
    served.create_file("/memories/Ünï 📝.md", "x").await;
    for (path, text) in [
        ("/etc/passwd", "Path must start with /memories, got: /etc/passwd"),
        ("/memoriesx", "Path must start with /memories, got: /memoriesx"),
        ("/memories/../x", "Path /memories/../x would escape /memories directory"),
        ("/memories/%2e%2e/x", "Path /memories/%2e%2e/x would escape /memories directory"),
        ("/memories/..\\x", "Path /memories/..\\x would escape /memories directory"),
        ("/memories/a\0", "Path /memories/a\\u{0} has a control character"),
    ] {
        for input in [
            json!({"command": "view", "path": path}),
            json!({"command": "create", "path": path, "file_text": "x"}),
            json!({"command": "str_replace", "path": path, "old_str": "a", "new_str": "b"}),
            json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}),
            json!({"command": "delete", "path": path}),
            json!({"command": "rename", "old_path": path, "new_path": "/memories/y"}),
            json!({"command": "rename", "old_path": "/memories/Ünï 📝.md", "new_path": path}),
        ] {
            assert_eq!(
                served.refused(input.clone()).await,
                refusal(422, "file_path_invalid", text),
                "{input}"
            );
        }
    }
    let long = format!("/memories/{}", "x".repeat(300));
    served.create_file(&long, "x").await;
    let rename =
        json!({"command": "rename", "old_path": long, "new_path": format!("{long}{}", "y".repeat(300))});
    assert_eq!(served.refused(rename).await.1, "file_path_invalid");
    assert_eq!(served.text_of_file("/memories/./Ünï 📝.md/").await, "x");
    for (field, text, code) in
        [("file_text", "a\0", "nul_byte"), ("file_text", &"x".repeat(1 << 21), "content_too_large")]
    {
        let refused = served.refused(json!({"command": "create", "path": "/memories/n", field: text})).await;
        assert_eq!(refused.1, code);
    }
    let other = json!({"command": "delete", "path": "/memories"});
    assert_eq!(served.post("/v1/files/view", other).await.problem(), (400, "body_invalid"));
}

#[tokio::test]
async fn a_file_is_a_memory() {
    let served = Served::new().await;
    let node = served.create_file("/memories/editor.md", "Mara prefers tabs over spaces.\n").await;
    served.create_file("/memories/d/e/other.md", "The staging database listens on port 5433.").await;
    served.done(json!({"command": "insert", "path": "/memories/editor.md", "insert_line": 1, "insert_text": "Helix."})).await;
    drain(&served.db, Stage::Embed).await;
    drain(&served.db, Stage::Tag).await;
    let query = json!({"query": "tabs or spaces?", "limit": 1, "filter": {"types": ["file"]}});
    let hit = served.post("/v1/recall", query).await.is(200)["hits"][0].clone();
    assert_eq!((&hit["id"], &hit["key"]), (&json!(node), &json!("/memories/editor.md")), "{hit}");
    assert_eq!(hit["matched_by"], "both", "{hit}");
    let history = served.get(&format!("/v1/memories/{node}/history")).await.is(200);
    let texts: Vec<&str> =
        history.as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["Mara prefers tabs over spaces.\n", "Mara prefers tabs over spaces.\nHelix.\n"]);
    assert_eq!(served.db.count("select count(*) from htm.stranded").await, 0);

    // A rename keeps the memory; a deletion can be undone.
    let rename = json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/ops"});
    served.done(rename).await;
    let deleted = served.file(json!({"command": "delete", "path": "/memories/ops"})).await.is(200);
    let id = deleted["nodes"][0].as_i64().unwrap();
    let recall = "/v1/recall?q=staging+port&strategy=fulltext";
    assert_eq!(served.get(recall).await.is(200)["hits"], json!([]));
    served.post(&format!("/v1/memories/{id}/restore"), json!({})).await.is(200);
    assert_eq!(served.get(recall).await.is(200)["hits"][0]["key"], "/memories/ops/e/other.md");
    assert_eq!(served.get(&format!("/v1/memories/{id}")).await.is(200)["revision"], 1);

    // Memories that were given such keys are files, and edits of the memory are edits of the file.
    let keyed = json!({"content": "By key.", "key": "/memories/keyed"});
    served.post("/v1/memories", keyed).await.is(201);
    served.patch("/v1/memories/3", json!({"content": "By id."})).await.is(200);
    assert_eq!(served.text_of_file("/memories/keyed").await, "By id.");
    for unlike in ["/memories/ops//x", "/memories/ops/../x", "/memories"] {
        served.post("/v1/memories", json!({"content": "No file.", "key": unlike})).await.is(201);
    }
    let deleted = served.file(json!({"command": "delete", "path": "/memories/ops"})).await.is(200);
    assert_eq!(deleted["nodes"], json!([id]));
    assert_eq!(
        served
            .db
            .count("select count(*) from htm.nodes where content = 'No file.' and deleted_at is null")
            .await,
        3
    );
}

#[tokio::test]
async fn a_blank_file_stays_what_it_is() {
    let served = Served::new().await;
    let node = served.create_file("/memories/a", "").await;
    assert_eq!(served.text_of_file("/memories/a").await, "");
    assert_eq!(served.get(&format!("/v1/memories/{node}")).await.is(200)["content"], "(empty file)");
    served
        .done(json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": " "}))
        .await;
    assert_eq!(served.text_of_file("/memories/a").await, " \n");
    let listed = served.done(json!({"command": "view", "path": "/memories"})).await;
    assert!(listed.ends_with("2B\t/memories\n2B\t/memories/a"), "{listed}");
    let replace = |old: &str, new: &str| json!({"command": "str_replace", "path": "/memories/a", "old_str": old, "new_str": new});
    served.done(replace(" ", "text")).await;
    assert_eq!(served.get(&format!("/v1/memories/{node}")).await.is(200)["metadata"], json!({}));
    served.done(replace("text\n", "")).await;
    assert_eq!(served.text_of_file("/memories/a").await, "");
}

#[tokio::test]
async fn writers_at_the_same_time_lose_nothing() {
    let served = Served::new().await;
    served.create_file("/memories/log.md", "").await;
    let insert = |number: usize| {
        let line = format!("line {number}");
        served.file(
            json!({"command": "insert", "path": "/memories/log.md", "insert_line": 0, "insert_text": line}),
        )
    };
    for reply in futures::future::join_all((0..12).map(insert)).await {
        reply.is(200);
    }
    let mut lines: Vec<String> =
        served.text_of_file("/memories/log.md").await.lines().map(str::to_owned).collect();
    lines.sort_by_key(|line| line[5..].parse::<usize>().unwrap());
    assert_eq!(lines, (0..12).map(|number| format!("line {number}")).collect::<Vec<_>>());

    // One of them replaces the text; for the others it is gone.
    let replace = |number: usize| {
        let new = format!("by {number}");
        served.file(json!({"command": "str_replace", "path": "/memories/log.md", "old_str": "line 7", "new_str": new}))
    };
    let replies = futures::future::join_all((0..8).map(replace)).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    assert!(replies.iter().all(|it| it.status == 200 || it.problem() == (422, "file_edit_unfit")));

    // A path is a file or a directory, never both, and a destination is taken once.
    let create = |number: usize| {
        let path = if number.is_multiple_of(2) { "/memories/x" } else { "/memories/x/y" };
        served.file(json!({"command": "create", "path": path, "file_text": format!("{number}")}))
    };
    let replies = futures::future::join_all((0..8).map(create)).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    assert!(replies.iter().all(|it| it.status == 200 || it.problem() == (409, "file_exists")));
    for number in 0..6 {
        served.create_file(&format!("/memories/m{number}/f"), "x").await;
    }
    let rename = |number: usize| {
        let old = format!("/memories/m{number}");
        served.file(json!({"command": "rename", "old_path": old, "new_path": "/memories/moved"}))
    };
    let replies = futures::future::join_all((0..6).map(rename)).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
}

#[tokio::test]
async fn files_are_of_a_namespace_and_a_robot() {
    let mut served = Served::new().await;
    served.create_file("/memories/a", "of the default namespace").await;
    let create = json!({"path": "/memories/a", "file_text": "of ada"});
    served.post("/v1/files/create?namespace=team&robot=ada", create).await.is(200);
    assert_eq!(served.text_of_file("/memories/a").await, "of the default namespace");
    let replace = json!({"path": "/memories/a", "old_str": "of", "new_str": "by"});
    let path = "/v1/files/str_replace?namespace=team";
    assert_eq!(
        served.post(&format!("{path}&robot=bea"), replace.clone()).await.problem(),
        (403, "not_owner")
    );
    for (command, body) in [
        ("delete", json!({"path": "/memories/a"})),
        ("rename", json!({"old_path": "/memories/a", "new_path": "/memories/b"})),
    ] {
        let path = format!("/v1/files/{command}?namespace=team&robot=bea");
        assert_eq!(served.post(&path, body).await.problem(), (403, "not_owner"));
    }
    served.post(&format!("{path}&any_robot=true"), replace).await.is(200);

    // A retry with the same key changes nothing twice.
    let insert = json!({"path": "/memories/a", "insert_line": 0, "insert_text": "once"});
    let send = || {
        let request = served.request(Method::POST, "/v1/files/insert").header("idempotency-key", "i-1");
        served.send(request.json(&insert))
    };
    let (first, second) = (send().await, send().await);
    assert_eq!((first.body, second.header("idempotency-replayed")), (second.body.clone(), "true"));
    assert_eq!(served.text_of_file("/memories/a").await, "once\nof the default namespace\n");

    served.use_key(&NewApiKey::new(Role::Reader).namespace("team")).await;
    let view = json!({"path": "/memories/a"});
    served.post("/v1/files/view?namespace=team", view.clone()).await.is(200);
    assert_eq!(
        served.post("/v1/files/view?namespace=default", view.clone()).await.problem(),
        (403, "namespace_forbidden")
    );
    assert_eq!(served.post("/v1/files/delete", view).await.problem(), (403, "role_insufficient"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "packages of another language; `./justw test-frameworks`"]
async fn the_official_sdk_sees_no_difference() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "anthropic") else { return };
    let served = Served::new().await;
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let client = root.join("data/files/client.py");
    let guide = root.join("../docs/files.md");
    let steps = 400;
    let output = tokio::process::Command::new(place.join("bin/python"))
        .args([client.as_os_str(), guide.as_os_str()])
        .args([&served.base, "7", &steps.to_string()])
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    let counts: Vec<(&String, u64)> =
        seen.as_object().unwrap().iter().map(|(name, count)| (name, count.as_u64().unwrap())).collect();
    assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), steps);
    for command in ["view", "create", "str_replace", "insert", "delete", "rename"] {
        for outcome in ["done", "refused"] {
            assert!(seen[format!("{command} {outcome}")].as_u64() > Some(2), "{command} {outcome}: {seen}");
        }
    }
}

#[tokio::test]
async fn a_rename_does_not_undo_an_edit_at_the_same_time() {
    let served = Served::new().await;
    served.create_file("/memories/a.md", "text").await;
    let mut edit = served.db.pool.begin().await.unwrap();
    sqlx::query("update htm.nodes set key = '/memories/c.md'").execute(&mut *edit).await.unwrap();
    let rename = json!({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"});
    let editing = async {
        wait_until(|| async {
            let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
            served.db.count(waiting).await > 0
        })
        .await;
        edit.commit().await.unwrap();
    };
    let (refused, ()) = tokio::join!(served.refused(rename), editing);
    assert_eq!(refused.1, "contended");
    assert_eq!(served.db.count("select count(*) from htm.nodes where key = '/memories/c.md'").await, 1);
}
