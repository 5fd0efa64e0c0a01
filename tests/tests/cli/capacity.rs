//! `htm capacity` plans without a database and without a configuration.

use htm_tests::Sandbox;

/// No database is there.
fn sandbox() -> Sandbox {
    Sandbox::on("postgres://nobody@127.0.0.1:1/nothing")
}

const EXAMPLE: [&str; 7] = ["capacity", "--memories", "100M", "--namespaces", "50k", "--dimensions", "768"];

#[tokio::test]
async fn a_plan_is_shown() {
    let shown = sandbox().htm(&EXAMPLE).await;
    insta::assert_snapshot!("plan", shown.succeeds());
}

#[tokio::test]
async fn a_plan_for_one_memory_counts_one() {
    let plan = sandbox().htm(&["capacity", "--memories", "1"]).await;
    assert!(plan.succeeds().starts_with("1 memory of "), "{plan:?}");
}

/// The guide's examples with their output.
const GUIDE: &str = include_str!("../../../docs/capacity.md");

#[tokio::test]
async fn the_guide_shows_what_is_printed() {
    let sandbox = sandbox();
    let examples = GUIDE.split("```console\n$ htm ").skip(1);
    let examples = examples.filter_map(|rest| rest.split_once("```")?.0.split_once('\n'));
    let mut compared = 0;
    // Other blocks have commands alone.
    for (command, shown) in examples.filter(|(_, shown)| !shown.starts_with("$ ")) {
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let answer = sandbox.htm(&arguments).await;
        assert_eq!(answer.succeeds().trim_end(), shown.trim_end(), "docs/capacity.md: htm {command}");
        compared += 1;
    }
    assert_eq!(compared, 2, "the worked examples");
}

#[tokio::test]
async fn a_plan_is_json_for_programs() {
    let plan = sandbox().htm(&[&EXAMPLE[..], &["--price", "0.02", "--json"]].concat()).await;
    let plan = plan.json();
    assert_eq!(plan["workload"]["memories"], 100_000_000);
    let objects = plan["storage"]["objects"].as_array().expect("a list");
    let nodes = objects.iter().find(|it| it["name"] == "htm.nodes").expect("the table of the memories");
    assert_eq!((&nodes["rows"], &nodes["kind"]), (&100_000_000.into(), &"table".into()));
    let tokens = plan["provider"]["embed_all"]["tokens"].as_f64().expect("tokens");
    let cost = plan["provider"]["embed_all"]["cost"].as_f64().expect("a cost");
    assert!((cost - tokens / 1e6 * 0.02).abs() < 0.01, "{tokens} tokens cost {cost}");
}

#[tokio::test]
async fn a_wrong_number_is_refused_with_the_form_of_a_right_one() {
    let sandbox = sandbox();
    for [name, value, form] in [
        ["--memories", "many", "such as 250000, 1_000_000, 50k, 100M, 1.5G or 1e6"],
        ["--memories", "-5", "from 1 to 1000G"],
        ["--namespaces", "0", "from 1 to 1000G"],
        ["--dimensions", "4001", "from 1 to 4000"],
        ["--dimensions", "-5", "from 1 to 4000"],
        ["--writes-per-second", "-5", "from 0 to"],
        ["--turns", "1.1", "from 0 to 1"],
        ["--price=-1", "--json", "from 0 to"],
        ["--words", "NaN", "from 1 to"],
    ] {
        let memories: &[&str] = if name == "--memories" { &[] } else { &["--memories", "1k"] };
        let answer = sandbox.htm(&[&["capacity"], memories, &[name, value]].concat()).await;
        assert!(answer.exits(2).stderr.contains(form), "{answer:?}");
    }
}

#[tokio::test]
async fn a_number_is_written_in_several_ways() {
    let sandbox = sandbox();
    let plan = async |memories: &str, rate: &str, words: &str| {
        let arguments = ["capacity", "--memories", memories, "--writes-per-second", rate, "--words", words];
        sandbox.htm(&arguments).await.succeeds().to_owned()
    };
    let expected = plan("50000", "2000", "40").await;
    for [memories, rate, words] in [["50K", "2k", "4e1"], ["5e4", "2E3", "40"], ["50_000", "2_000", "40.0"]] {
        assert_eq!(plan(memories, rate, words).await, expected, "{memories}");
    }
}

#[tokio::test]
async fn no_configuration_is_read() {
    let sandbox = sandbox();
    sandbox.write("htm.toml", "this is no TOML");
    sandbox.htm(&["stats"]).await.exits(2);
    sandbox.htm(&["capacity", "--memories", "1k"]).await.succeeds();
}
