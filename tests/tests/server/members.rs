//! Members of groups over HTTP: any server answers, and roles, leases and takeovers are those of processes.

use htm_core::{NewApiKey, Role};
use htm_tests::wait_until;
use serde_json::{Value, json};

use super::Served;

impl Served {
    async fn join(&self, robot: &str, lease_ms: u64) -> Value {
        self.post("/v1/groups/crew/members", json!({"robot": robot, "lease_ms": lease_ms})).await.is(200)
    }

    /// Asks as a member.
    async fn as_member(&self, robot: &str, membership: &Value, act: &str, with: Value) -> super::Reply {
        let mut body = with;
        body["membership"] = membership.clone();
        self.post(&format!("/v1/groups/crew/members/{robot}/{act}"), body).await
    }
}

#[tokio::test]
async fn members_share_a_working_memory_through_any_server() {
    let one = Served::new().await;
    let other = one.beside().await;
    let [first, second] =
        [one.remember("The disk of db-3 is full.").await, one.remember("Mara is on call.").await];
    let ada = one.join("ada", 30_000).await;
    let ben = other.join("ben", 30_000).await;
    assert_eq!((&ada["role"], &ben["role"]), (&json!("active"), &json!("passive")));
    assert_eq!((&ada["lease_ms"], &ada["whole"], &ada["nodes"]), (&json!(30_000), &json!(true), &json!([])));

    let nodes = json!({"nodes": [first, second]});
    let added = other.as_member("ada", &ada["membership"], "add", nodes.clone()).await.is(200);
    assert_eq!(added, json!({"evicted": []}));
    let refused = one.as_member("ben", &ben["membership"], "add", nodes).await;
    assert_eq!(refused.problem().1, "group_member_passive");
    let missing = json!({"nodes": [first, 999]});
    assert_eq!(
        one.as_member("ada", &ada["membership"], "add", missing).await.problem(),
        (404, "node_not_found")
    );

    let version = json!({"version": ben["version"]});
    let news = one.as_member("ben", &ben["membership"], "heartbeat", version).await.is(200);
    let contents: Vec<&Value> = news["nodes"].as_array().unwrap().iter().map(|it| &it["content"]).collect();
    assert_eq!(contents, ["The disk of db-3 is full.", "Mara is on call."]);
    let removed = one.as_member("ada", &ada["membership"], "remove", json!({"node": first})).await.is(200);
    assert_eq!(removed, json!({"removed": 1}));
    let version = json!({"version": news["version"]});
    let news = other.as_member("ben", &ben["membership"], "heartbeat", version).await.is(200);
    assert_eq!(
        (&news["removed"], &news["nodes"], &news["whole"]),
        (&json!([first]), &json!([]), &json!(false))
    );
    let all = other.as_member("ben", &ben["membership"], "heartbeat", json!({})).await.is(200);
    assert_eq!((all["nodes"].as_array().unwrap().len(), &all["whole"]), (1, &json!(true)));

    // A context has the latest text, also of an edit.
    let edit = json!({"content": "Ben is on call.", "any_robot": true});
    one.patch(&format!("/v1/memories/{second}"), edit).await.is(200);
    let context = other.as_member("ben", &ben["membership"], "context", json!({})).await.is(200);
    assert_eq!(context["text"], "Ben is on call.");
    let decisions = json!({"filter": {"types": ["decision"]}});
    let context = other.as_member("ben", &ben["membership"], "context", decisions).await.is(200);
    assert_eq!((&context["text"], &context["left_out"][0]["reason"]), (&json!(""), &json!("filtered")));
    let relation = json!({"kind": "supersedes", "to": second, "any_robot": true});
    one.post(&format!("/v1/memories/{first}/relations"), relation).await.is(201);
    let context = other.as_member("ben", &ben["membership"], "context", json!({})).await.is(200);
    assert_eq!(context["superseded"][0]["superseded_by"][0]["node"], first);
    let to_robot = json!({"to_robot": "ben"});
    let refused = one.as_member("ben", &ben["membership"], "transfer", to_robot.clone()).await;
    assert_eq!(refused.problem().1, "group_member_passive");
    let moved = other.as_member("ada", &ada["membership"], "transfer", to_robot).await.is(200);
    assert_eq!(moved["transferred"], json!([second]));

    // The last active member leaves, and the passive one takes over.
    let membership = ada["membership"].as_str().unwrap();
    let path = format!("/v1/groups/crew/members/ada?membership={membership}");
    assert_eq!(other.delete(&path).await.is(200), json!({"robot": "ada"}));
    assert_eq!(one.delete(&path).await.problem().1, "group_member_replaced");
    let news = one.as_member("ben", &ben["membership"], "heartbeat", json!({})).await.is(200);
    assert_eq!(news["role"], "active");
}

#[tokio::test]
async fn a_lost_member_is_replaced_and_its_late_writes_are_refused() {
    let served = Served::new().await;
    let node = served.remember("The disk of db-3 is full.").await;
    let ada = served.join("ada", 100).await;
    let ben = served.join("ben", 30_000).await;
    let is_lost = async || {
        let crew = served.get("/v1/groups/crew").await.is(200);
        crew["members"].as_array().unwrap().iter().any(|it| it["robot"] == "ada" && it["alive"] == false)
    };
    wait_until(is_lost).await;
    let promoted = served.post("/v1/groups/crew/promote", json!({"robot": "ada"})).await;
    assert_eq!(promoted.problem(), (409, "group_member_lost"));
    let news = served.as_member("ben", &ben["membership"], "heartbeat", json!({})).await.is(200);
    assert_eq!(news["role"], "active");
    let late = served.as_member("ada", &ada["membership"], "add", json!({"nodes": [node]})).await;
    assert_eq!(late.problem().1, "group_member_passive");
    // It is a member still, and its heartbeat says so.
    let news = served.as_member("ada", &ada["membership"], "heartbeat", json!({})).await.is(200);
    assert_eq!(news["role"], "passive");
    // A second membership of a robot ends the first.
    let again = served.join("ben", 30_000).await;
    for act in ["heartbeat", "context"] {
        let replaced = served.as_member("ben", &ben["membership"], act, json!({})).await;
        assert_eq!(replaced.problem().1, "group_member_replaced");
        served.as_member("ben", &again["membership"], act, json!({})).await.is(200);
    }
    served.post("/v1/groups/crew/shutdown", json!({})).await.is(200);
    let closed = served.as_member("ben", &again["membership"], "heartbeat", json!({})).await;
    assert_eq!(closed.problem().1, "group_closed");
    let none = json!({"robot": "ben", "lease_ms": 1});
    assert_eq!(served.post("/v1/groups/crew/members", none).await.problem().1, "group_setting_out_of_range");
    let nowhere = json!({"membership": again["membership"]});
    let unknown = served.post("/v1/groups/none/members/ben/heartbeat", nowhere).await;
    assert_eq!(unknown.problem(), (404, "group_unknown"));
    let unread = json!({"membership": "ben"});
    assert_eq!(
        served.post("/v1/groups/crew/members/ben/heartbeat", unread).await.problem(),
        (400, "body_invalid")
    );
}

#[tokio::test]
async fn a_key_of_a_robot_acts_for_it_alone() {
    let mut served = Served::new().await;
    let ben = served.join("ben", 30_000).await;
    served.use_key(&NewApiKey { robot: Some("ada".into()), ..NewApiKey::new(Role::Writer) }).await;
    let ada = served.join("ada", 30_000).await;
    served.as_member("ada", &ada["membership"], "heartbeat", json!({})).await.is(200);
    let joined = served.post("/v1/groups/crew/members", json!({"robot": "ben"})).await;
    assert_eq!(joined.problem(), (403, "robot_forbidden"));
    // Neither a membership that it has learnt, nor its own under another name.
    let others = served.as_member("ben", &ben["membership"], "heartbeat", json!({})).await;
    assert_eq!(others.problem(), (403, "robot_forbidden"));
    let others = served.as_member("ada", &ben["membership"], "heartbeat", json!({})).await;
    assert_eq!(others.problem().1, "group_member_replaced");
    served.use_key(&NewApiKey::new(Role::Reader)).await;
    let reader = served.as_member("ada", &ada["membership"], "context", json!({})).await;
    assert_eq!(reader.problem(), (403, "role_insufficient"));
}
