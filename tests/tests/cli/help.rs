//! Help texts are an interface: a change to one shows in its snapshot.

use htm_tests::Sandbox;

async fn help_of(program: &str, commands: &[&[&str]]) -> String {
    let sandbox = Sandbox::on("");
    let mut text = String::new();
    for command in commands {
        let arguments = [command, &["--help"][..]].concat();
        let answer = sandbox.run(program, &arguments, b"").await;
        let name = [&[program], &arguments[..]].concat().join(" ");
        text.push_str(&format!("━━━ {name}\n{}\n", answer.succeeds()));
    }
    text
}

#[tokio::test]
async fn of_htm() {
    let commands: &[&[&str]] = &[
        &[],
        &["remember"],
        &["recall"],
        &["context"],
        &["memory"],
        &["memory", "show"],
        &["memory", "clear"],
        &["timeline"],
        &["neighbours"],
        &["get"],
        &["edit"],
        &["forget"],
        &["forgotten"],
        &["restore"],
        &["purge"],
        &["erase"],
        &["erase", "verify"],
        &["erase", "resume"],
        &["erase", "list"],
        &["status"],
        &["robots"],
        &["robots", "list"],
        &["robots", "show"],
        &["robots", "add"],
        &["robots", "set"],
        &["robots", "rename"],
        &["robots", "merge"],
        &["keys"],
        &["keys", "create"],
        &["keys", "list"],
        &["keys", "revoke"],
        &["audit"],
        &["groups"],
        &["groups", "list"],
        &["groups", "show"],
        &["groups", "join"],
        &["groups", "promote"],
        &["groups", "demote"],
        &["groups", "transfer"],
        &["groups", "shutdown"],
        &["tags"],
        &["tags", "list"],
        &["tags", "tree"],
        &["tags", "show"],
        &["tags", "add"],
        &["tags", "remove"],
        &["tags", "rename"],
        &["tags", "merge"],
        &["tags", "split"],
        &["tags", "synonyms"],
        &["tags", "synonyms", "add"],
        &["tags", "orphans"],
        &["tags", "suggest"],
        &["tags", "similar"],
        &["tags", "cooccur"],
        &["tags", "popular"],
        &["tags", "export"],
        &["tags", "import"],
        &["tags", "templates"],
        &["tags", "apply-template"],
        &["tags", "log"],
        &["tags", "revert"],
        &["stats"],
        &["export"],
        &["import"],
        &["load"],
        &["unload"],
        &["documents"],
        &["models"],
        &["models", "list"],
        &["models", "add"],
        &["models", "backfill"],
        &["models", "compare"],
        &["models", "activate"],
        &["models", "retire"],
        &["backfill"],
        &["up"],
        &["serve"],
        &["mcp"],
        &["mcp", "install"],
        &["mcp", "uninstall"],
        &["hook"],
        &["hook", "session-start"],
        &["hook", "prompt"],
        &["hook", "stop"],
        &["demo"],
        &["jobs"],
        &["jobs", "stats"],
        &["jobs", "list"],
        &["jobs", "show"],
        &["jobs", "retry"],
        &["jobs", "cancel"],
        &["jobs", "pause"],
        &["jobs", "resume"],
        &["jobs", "prune"],
        &["jobs", "audit"],
        &["sweep"],
        &["namespaces"],
        &["namespaces", "list"],
        &["namespaces", "retention"],
        &["models", "pull"],
        &["namespaces", "quota"],
        &["relate"],
        &["unrelate"],
        &["related"],
        &["feedback"],
        &["learning"],
        &["learning", "on"],
        &["ranking"],
        &["ranking", "show"],
        &["ranking", "try"],
        &["workers"],
        &["providers"],
        &["providers", "set"],
        &["providers", "reset"],
        &["providers", "budget"],
        &["providers", "budgets"],
        &["capacity"],
        &["db"],
        &["db", "up"],
        &["db", "down"],
        &["db", "status"],
        &["db", "url"],
        &["db", "migrate"],
        &["db", "repartition"],
        &["db", "reset"],
        &["config"],
        &["config", "show"],
        &["config", "explain"],
        &["config", "default"],
        &["doctor"],
        &["completions"],
        &["man"],
    ];
    let help = help_of("htm", commands).await;
    // None is missing: each command of the first text has a text here.
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        assert!(commands.iter().any(|known| known.first() == Some(&command)), "`{command}` has no snapshot");
    }
    insta::assert_snapshot!("htm", help);
}

#[tokio::test]
async fn of_the_workers() {
    for program in ["embed-worker", "tag-worker", "learn-worker"] {
        insta::assert_snapshot!(program, help_of(program, &[&[]]).await);
    }
}
