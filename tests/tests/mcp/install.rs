//! `htm mcp install`: the configuration of each client, and the server that it starts.

use htm_tests::Sandbox;
use rmcp::ServiceExt;
use serde_json::Value;

use super::started;

/// Each client with its files of the user and of a project, and with the section of the servers.
const CLIENTS: [(&str, &str, Option<&str>, &str); 6] = [
    ("claude-code", "$HOME/.claude.json", Some(".mcp.json"), "mcpServers"),
    ("claude-desktop", "$HOME/.config/Claude/claude_desktop_config.json", None, "mcpServers"),
    ("cursor", "$HOME/.cursor/mcp.json", Some(".cursor/mcp.json"), "mcpServers"),
    ("vscode", "$HOME/.config/Code/User/mcp.json", Some(".vscode/mcp.json"), "servers"),
    ("codex", "$HOME/.codex/config.toml", Some(".codex/config.toml"), "mcp_servers"),
    ("gemini", "$HOME/.gemini/settings.json", Some(".gemini/settings.json"), "mcpServers"),
];

async fn content(sandbox: &Sandbox, file: &str) -> String {
    sandbox.shell(&format!("cat \"{file}\"")).await.succeeds().to_owned()
}

async fn put(sandbox: &Sandbox, file: &str, text: &str) {
    let from = sandbox.write("put", text);
    sandbox
        .shell(&format!("mkdir -p \"$(dirname \"{file}\")\" && cat '{from}' > \"{file}\""))
        .await
        .succeeds();
}

fn parsed(file: &str, text: &str) -> Value {
    match file.ends_with(".toml") {
        true => toml::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")),
        false => serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")),
    }
}

#[tokio::test]
async fn each_client_starts_the_server_that_was_installed() {
    let db = htm_tests::TestDatabase::new().await;
    for (client, of_user, of_project, section) in CLIENTS {
        for (scope, file) in [("user", Some(of_user)), ("project", of_project)] {
            let (sandbox, Some(file)) = (Sandbox::new(&db), file) else { continue };
            let install = ["mcp", "install", client, "--scope", scope, "--no-workers", "--yes"];
            let installed = sandbox.htm(&install).await;
            installed.succeeds();
            // Names of variables alone: values may be secret.
            let said = &installed.stderr;
            assert!(said.contains("HTM_DATABASE__URL, ") && !said.contains("postgres"), "{said}");
            let text = content(&sandbox, file).await;
            let server = &parsed(file, &text)[section]["htm"];
            let command = server["command"].as_str().unwrap_or_else(|| panic!("{text}"));
            assert_eq!(command != "htm", client == "claude-desktop", "{text}");
            assert_eq!(server["type"] == "stdio", matches!(client, "vscode" | "claude-code"), "{text}");
            let arguments: Vec<&str> = server["args"]
                .as_array()
                .expect("args")
                .iter()
                .map(|it| it.as_str().expect("a text"))
                .collect();
            let process = sandbox.command_of(command, &arguments);
            let service = ().serve(started(&sandbox, process)).await.expect("it answers");
            assert_eq!(service.list_all_tools().await.expect("tools").len(), 9);
            service.cancel().await.expect("it ends");

            let again = sandbox.htm(&install).await;
            assert!(again.succeeds().ends_with(": nothing to change\n"), "{again:?}");
            assert_eq!(content(&sandbox, file).await, text);
            sandbox.htm(&["mcp", "uninstall", client, "--scope", scope, "--yes"]).await.succeeds();
            assert!(!content(&sandbox, file).await.contains("htm"), "{client}");
        }
    }
}

#[tokio::test]
async fn what_is_there_stays() {
    let sandbox = Sandbox::on("");
    let json = "{\n\t// mine\n\t\"b\": 1, \"a\": [1,2],\n\t\"SECTION\": {\n\t\t\"other\": {\"env\": {\"KEY\": \"s3cret\"}}\n\t},\n}\n";
    let toml = "model = \"m\" # mine\n\n[mcp_servers.other]\nenv = { KEY = \"s3cret\" }\n\n[z]\na=1\n";
    for (client, file, _, section) in CLIENTS {
        let before = if client == "codex" { toml.into() } else { json.replace("SECTION", section) };
        put(&sandbox, file, &before).await;
        sandbox.shell(&format!("chmod 640 \"{file}\"")).await.succeeds();
        let answer = sandbox.htm(&["--json", "mcp", "install", client, "--robot", "ada", "--yes"]).await;
        let facts = answer.json();
        assert_eq!((&facts["client"], &facts["outcome"]), (&client.into(), &"written".into()));
        let after = content(&sandbox, file).await;
        for line in before.lines() {
            assert!(after.contains(line), "{client}: `{line}` is lost: {after}");
        }
        assert!(after.contains("ada"), "{after}");
        assert_eq!(sandbox.shell(&format!("stat -c %a \"{file}\"")).await.succeeds(), "640\n");
        assert_eq!(content(&sandbox, facts["backup"].as_str().unwrap()).await, before);
        sandbox.htm(&["mcp", "uninstall", client, "--yes"]).await.succeeds();
        assert_eq!(content(&sandbox, file).await, before, "{client}");
    }
}

#[tokio::test]
async fn the_variables_that_an_entry_lacks_are_named() {
    let sandbox = Sandbox::on("").set("HTM_RECALL__LIMIT", "7").set("HTM_LOG__LEVEL", "warn");
    for (client, file, text) in [
        (
            "cursor",
            "$HOME/.cursor/mcp.json",
            r#"{"mcpServers": {"htm": {"env": {"HTM_LOG__LEVEL": "warn"}}}}"#,
        ),
        ("codex", "$HOME/.codex/config.toml", "[mcp_servers.htm.env]\nHTM_LOG__LEVEL = 'warn'\n"),
    ] {
        put(&sandbox, file, text).await;
        for outcome in ["written", "unchanged"] {
            let facts = sandbox.htm(&["--json", "mcp", "install", client, "--yes"]).await.json();
            assert_eq!(facts["outcome"], outcome, "{facts}");
            let names: Vec<&str> =
                facts["not_in_env"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
            assert!(names.contains(&"HTM_RECALL__LIMIT") && !names.contains(&"HTM_LOG__LEVEL"), "{facts}");
        }
        let told = sandbox.htm(&["mcp", "install", client, "--yes"]).await;
        assert!(
            told.stderr.contains("HTM_RECALL__LIMIT") && !told.stderr.contains("HTM_LOG__LEVEL"),
            "{told:?}"
        );
        let gone = sandbox.htm(&["--json", "mcp", "uninstall", client, "--yes"]).await.json();
        assert!(gone["not_in_env"].is_null(), "{gone}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_not_touched() {
    let sandbox = Sandbox::on("");
    for (client, file, _, section) in CLIENTS {
        for text in ["{\"key\": \"s3cret\",\n oops".to_owned(), format!("\"{section}\" = 3"), "\u{0}".into()]
        {
            put(&sandbox, file, &text).await;
            for verb in ["install", "uninstall"] {
                let answer = sandbox.htm(&["mcp", verb, client, "--yes"]).await;
                let said = answer.fails(2, "client_config_invalid");
                assert!(
                    !said.contains("s3cret") && said.contains(file.rsplit('/').next().unwrap()),
                    "{said}"
                );
                assert_eq!(content(&sandbox, file).await, text);
            }
        }
    }
    put(&sandbox, "$HOME/.cursor/mcp.json", "[]").await;
    sandbox.shell("printf '\\377' > ~/.cursor/mcp.json").await.succeeds();
    sandbox.htm(&["mcp", "install", "cursor", "--yes"]).await.fails(2, "client_config_invalid");
    sandbox.shell("rm ~/.cursor/mcp.json && mkdir ~/.cursor/mcp.json").await.succeeds();
    sandbox.htm(&["mcp", "install", "cursor", "--yes"]).await.fails(2, "io_error");
    sandbox.shell("rmdir ~/.cursor/mcp.json && ln -s /nowhere/mcp.json ~/.cursor/mcp.json").await.succeeds();
    sandbox.htm(&["mcp", "install", "cursor", "--yes"]).await.fails(2, "io_error");
}

#[tokio::test]
async fn nothing_is_written_without_consent() {
    let sandbox = Sandbox::on("");
    put(&sandbox, "$HOME/.cursor/mcp.json", "{\"mcpServers\": {\n  \"other\": {\"key\": \"s3cret\"}\n}}\n")
        .await;
    let dry = sandbox.htm(&["mcp", "install", "cursor", "--dry-run"]).await;
    assert!(dry.succeeds().contains("\n+   \"htm\": {\n+     \"command\": \"htm\",\n"), "{dry:?}");
    let refused = sandbox.htm(&["mcp", "install", "cursor"]).await;
    assert!(refused.exits(2).stderr.contains("error[not_confirmed]"), "{refused:?}");
    let listed = sandbox.shell("cat ~/.cursor/mcp.json; ls -A ~/.cursor").await;
    assert_eq!(listed.succeeds(), "{\"mcpServers\": {\n  \"other\": {\"key\": \"s3cret\"}\n}}\nmcp.json\n");
    let missing = sandbox.htm(&["mcp", "uninstall", "gemini", "--yes"]).await;
    assert!(missing.succeeds().ends_with(": nothing to change\n"), "{missing:?}");
    sandbox.shell("test ! -e ~/.gemini").await.succeeds();
    sandbox.htm(&["mcp", "install", "claude-desktop", "--scope", "project", "--yes"]).await.fails(2, "usage");
    let bad_robot = ["mcp", "install", "gemini", "--robot", "", "--yes"];
    sandbox.htm(&bad_robot).await.fails(2, "robot_invalid");
    for name in ["", "a b", "ä"] {
        sandbox.htm(&["mcp", "install", "gemini", "--name", name, "--yes"]).await.exits(2);
    }
    sandbox.shell("test ! -e ~/.gemini").await.succeeds();
}

#[tokio::test]
async fn a_link_stays_a_link() {
    let sandbox = Sandbox::on("");
    sandbox.shell("mkdir -p ~/.gemini ~/dotfiles && echo '{}' > ~/dotfiles/s.json").await.succeeds();
    sandbox.shell("ln -s ~/dotfiles/s.json ~/.gemini/settings.json").await.succeeds();
    sandbox.htm(&["mcp", "install", "gemini", "--yes"]).await.succeeds();
    sandbox.shell("test -L ~/.gemini/settings.json && grep -q mcpServers ~/dotfiles/s.json").await.succeeds();
}

#[tokio::test]
async fn a_program_that_is_not_on_the_path_is_named_in_full() {
    let db = htm_tests::TestDatabase::new().await;
    let htm = Sandbox::new(&db).shell("command -v htm").await.succeeds().trim().to_owned();
    let sandbox = Sandbox::new(&db).set("PATH", "/usr/bin:/bin");
    sandbox.htm(&["mcp", "install", "codex", "--yes"]).await.succeeds();
    let text = content(&sandbox, "$HOME/.codex/config.toml").await;
    assert_eq!(parsed("config.toml", &text)["mcp_servers"]["htm"]["command"], *htm, "{text}");
}
