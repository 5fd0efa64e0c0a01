//! The console: its page, and the sign-in of its users.

use htm_core::{NewApiKey, Role};
use reqwest::Method;
use serde_json::json;

use super::{Reply, Served};

const SIGN_IN: &str = "/console/sign-in";

/// The cookie of an answer, as a browser sends it back.
fn cookie(reply: &Reply) -> String {
    reply.header("set-cookie").split(';').next().unwrap_or_default().to_owned()
}

/// A request as the page's script makes it.
async fn from_page(served: &Served, method: Method, path: &str, cookie: &str) -> Reply {
    let request = served.request(method, path).header("cookie", cookie);
    served.send(request.header("sec-fetch-site", "same-origin")).await
}

async fn sign_in(served: &Served, secret: &str) -> Reply {
    let request = served.request(Method::POST, SIGN_IN).header("sec-fetch-site", "same-origin");
    served.send(request.json(&json!({"key": secret}))).await
}

#[tokio::test]
async fn the_page_is_served_with_a_policy_and_once() {
    let served = Served::new().await;
    for path in ["/", "/console", "/console/", "/console/pipeline", "/console/memories/7"] {
        let page = served.get(path).await;
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
        assert!(page.text.contains("<script type=\"module\""), "{}", page.text);
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let tag = page.header("etag").to_owned();
        let again = served.send(served.request(Method::GET, path).header("if-none-match", tag)).await;
        assert_eq!((again.status, again.text.as_str()), (304, ""));
    }
    let script = served.get("/console/app.js").await;
    assert_eq!((script.status, script.header("content-type")), (200, "text/javascript; charset=utf-8"));
    assert_eq!(served.post("/", json!({})).await.problem(), (405, "method_unknown"));
    // Everything that the page loads is there.
    let page = served.get("/").await.text;
    for path in page.split('"').filter(|part| part.starts_with("/console/")) {
        assert!(!served.get(path).await.header("content-type").starts_with("text/html"), "{path}");
    }
}

#[tokio::test]
async fn a_browser_signs_in_with_a_key_and_out() {
    let served = Served::new().await;
    let open = served.get(SIGN_IN).await.is(200);
    assert_eq!((&open["role"], &open["key"]), (&json!("admin"), &json!(null)));
    let key = NewApiKey::new(Role::Reader).namespace("atlas");
    let key = served.db.htm().create_api_key(&key).await.unwrap();
    // Servers notice a first key within a second.
    let mut refused = served.get(SIGN_IN).await;
    while refused.status == 200 {
        refused = served.get(SIGN_IN).await;
    }
    assert_eq!(refused.problem(), (401, "api_key_missing"));
    assert_eq!(sign_in(&served, "htm_wrong").await.problem(), (401, "api_key_invalid"));
    let other = served.request(Method::POST, SIGN_IN).header("sec-fetch-site", "same-site");
    let other = served.send(other.json(&json!({"key": key.secret.expose()}))).await;
    assert_eq!(other.problem(), (403, "host_forbidden"));

    let signed = sign_in(&served, key.secret.expose()).await;
    let attributes = signed.header("set-cookie");
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43"] {
        assert!(attributes.contains(attribute), "{attributes}");
    }
    assert!(!attributes.contains(&key.secret.expose()[20..]), "the browser does not keep the key");
    let cookie = cookie(&signed);
    assert_eq!(signed.body["namespaces"], json!(["atlas"]));
    let token = cookie.split_once('=').unwrap().1;
    let kept = format!("select count(*) from htm.sign_ins s where s::text like '%{token}%'");
    let kept: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(kept)).fetch_one(&served.db.pool).await.unwrap();
    assert_eq!(kept, 0);

    let stats = "/v1/stats?namespace=atlas";
    from_page(&served, Method::GET, stats, &cookie).await.is(200);
    let beyond = from_page(&served, Method::GET, "/v1/stats?namespace=home", &cookie).await;
    assert_eq!(beyond.problem(), (403, "namespace_forbidden"));
    let written = from_page(&served, Method::DELETE, "/v1/memories/1", &cookie).await;
    assert_eq!(written.problem(), (403, "role_insufficient"));
    let of_another_port = served.request(Method::GET, stats).header("cookie", &cookie);
    let of_another_port = served.send(of_another_port.header("sec-fetch-site", "same-site")).await;
    assert_eq!(of_another_port.problem(), (403, "host_forbidden"));
    // Another server knows it too. Behind one balancer, both are called by its name.
    let beside = served.beside().await;
    let host = served.base.trim_start_matches("http://").to_owned();
    let by_its_name = beside.request(Method::GET, stats).header("cookie", &cookie).header("host", host);
    beside.send(by_its_name.header("sec-fetch-site", "same-origin")).await.is(200);
    // A console of another port has a cookie of its own.
    assert_eq!(from_page(&beside, Method::GET, stats, &cookie).await.problem(), (401, "api_key_missing"));

    let out = from_page(&served, Method::DELETE, SIGN_IN, &cookie).await;
    assert!(out.status == 204 && out.header("set-cookie").contains("Max-Age=0"), "{out:?}");
    assert_eq!(from_page(&served, Method::GET, stats, &cookie).await.problem(), (401, "signed_out"));
}

#[tokio::test]
async fn a_sign_in_is_renewed_and_ends_with_its_key() {
    let served = Served::new().await;
    let key = served.db.htm().create_api_key(&NewApiKey::new(Role::Admin)).await.unwrap();
    let first = cookie(&sign_in(&served, key.secret.expose()).await);
    let who = from_page(&served, Method::GET, SIGN_IN, &first).await;
    assert!(who.header("set-cookie").is_empty(), "it is new");
    let aged = "update htm.sign_ins set issued_at = now() - interval '16 minutes'";
    sqlx::query(aged).execute(&served.db.pool).await.unwrap();
    let second = cookie(&from_page(&served, Method::GET, SIGN_IN, &first).await);
    assert!(second.starts_with("htm_sign_in_") && second != first, "{second}");
    // A request with the former one may be under way; it is not renewed again.
    let former = from_page(&served, Method::GET, SIGN_IN, &first).await;
    assert_eq!((former.status, former.header("set-cookie")), (200, ""));
    let replaced = "update htm.sign_ins set ends_at = now() where is_replaced";
    assert_eq!(sqlx::query(replaced).execute(&served.db.pool).await.unwrap().rows_affected(), 1);
    assert_eq!(from_page(&served, Method::GET, SIGN_IN, &first).await.problem(), (401, "signed_out"));
    from_page(&served, Method::GET, SIGN_IN, &second).await.is(200);

    served.db.htm().revoke_api_key(&key.key.id).await.unwrap();
    assert_eq!(from_page(&served, Method::GET, SIGN_IN, &second).await.problem(), (401, "signed_out"));
    let mut refused = from_page(&served, Method::GET, "/v1/stats", &second).await;
    while refused.status == 200 {
        refused = from_page(&served, Method::GET, "/v1/stats", &second).await;
    }
    assert_eq!(refused.problem(), (401, "signed_out"));
}
