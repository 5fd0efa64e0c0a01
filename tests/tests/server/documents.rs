//! Documents: loaded, listed, read and unloaded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use htm_core::{NewApiKey, Role};
use serde_json::json;

use super::Served;

const GUIDE: &str = "# Guide\n\n## Mooring\n\nA mast holds the zeppelin.\n";

#[tokio::test]
async fn a_document_is_loaded_listed_read_and_unloaded() {
    let served = Served::new().await;
    let body = json!({"path": "docs/guide.md", "text": GUIDE, "tags": ["manual"]});
    let loaded = served.put("/v1/documents", body.clone()).await.is(200);
    assert_eq!((&loaded["outcome"], &loaded["passages"]), (&json!("loaded"), &json!(1)));
    assert_eq!(served.put("/v1/documents", body).await.is(200)["outcome"], "unchanged");
    let page = json!({"path": "a.html", "bytes": STANDARD.encode("<h1>Page</h1><p>Sand.")});
    served.put("/v1/documents", page).await.is(200);

    let first = served.get("/v1/documents?limit=1").await.is(200);
    assert_eq!((&first["documents"][0]["path"], &first["next"]), (&json!("a.html"), &json!("a.html")));
    let second = served.get("/v1/documents?limit=1&cursor=a.html").await.is(200);
    assert_eq!(second["documents"][0]["tags"], json!(["manual"]));
    let read = served.get("/v1/documents/passages?path=docs/guide.md").await.is(200);
    assert_eq!(read["document"]["title"], "Guide");
    assert_eq!(read["passages"][0]["metadata"]["heading"], json!(["Guide", "Mooring"]));
    assert_eq!(read["passages"][0]["source"], "docs/guide.md#mooring");

    let recalled = served
        .post("/v1/recall", json!({"query": "mast", "fold_documents": true, "neighbours": 1}))
        .await
        .is(200);
    assert_eq!(recalled["hits"][0]["session"], "docs/guide.md");
    let unloaded = served.delete("/v1/documents?path=docs").await.is(200);
    assert_eq!((&unloaded["documents"], &unloaded["forgotten"]), (&json!(["docs/guide.md"]), &json!(1)));
    let missing = served.delete("/v1/documents?path=docs").await;
    assert_eq!(missing.problem(), (404, "document_not_found"));
}

#[tokio::test]
async fn a_path_is_the_same_however_it_is_written() {
    let served = Served::new().await;
    let loaded =
        served.put("/v1/documents", json!({"path": "./docs//x.md", "text": "Text.\n"})).await.is(200);
    assert_eq!(loaded["path"], "docs/x.md");
    let again = served.put("/v1/documents", json!({"path": "docs/x.md", "text": "Text.\n"})).await.is(200);
    assert_eq!(again["outcome"], "unchanged");
    let unloaded = served.delete("/v1/documents?path=./docs/x.md").await.is(200);
    assert_eq!(unloaded["documents"], json!(["docs/x.md"]));
}

#[tokio::test]
async fn the_current_directory_has_the_documents_with_relative_paths() {
    let served = Served::new().await;
    for path in ["a.md", "docs/b.md", "../c.md", "/docs/d.md"] {
        served.put("/v1/documents", json!({"path": path, "text": "Text.\n"})).await.is(200);
    }
    for below in [".", "./"] {
        let listed = served.get(&format!("/v1/documents?below={below}")).await.is(200);
        let paths: Vec<_> =
            listed["documents"].as_array().unwrap().iter().map(|it| it["path"].clone()).collect();
        assert_eq!(paths, ["a.md", "docs/b.md"], "{below}");
    }
    let unloaded = served.delete("/v1/documents?path=.").await.is(200);
    assert_eq!(unloaded["documents"], json!(["a.md", "docs/b.md"]));
    assert_eq!(served.delete("/v1/documents?path=.").await.problem(), (404, "document_not_found"));
    assert_eq!(served.get("/v1/documents").await.is(200)["documents"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_answer_names_what_was_left_out() {
    let served = Served::new().await;
    let text = "---\ntags: [c++]\ndate: soon\n---\nText.\n";
    let loaded = served.put("/v1/documents", json!({"path": "a.md", "text": text})).await.is(200);
    assert_eq!((&loaded["tags_left_out"], &loaded["date_left_out"]), (&json!(["c++"]), &json!("soon")));
    assert_eq!(loaded["front_matter_left_out"], json!(null));
    let text = "---\ntitle: Ops: how we deploy\n---\n# Deploy\n\nText.\n";
    let loaded = served.put("/v1/documents", json!({"path": "b.md", "text": text})).await.is(200);
    assert!(loaded["front_matter_left_out"].is_string(), "{loaded}");
    let torn = STANDARD.encode(htm_tests::torn_pdf());
    let loaded = served.put("/v1/documents", json!({"path": "a.pdf", "bytes": torn})).await.is(200);
    assert_eq!((&loaded["passages"], &loaded["pages_left_out"]), (&json!(1), &json!([2])));
}

#[tokio::test]
async fn what_is_no_document_is_refused() {
    let served = Served::new().await;
    for (body, status, code) in [
        (json!({"path": "a.md"}), 400, "body_invalid"),
        (json!({"path": "a.md", "text": "x", "bytes": "eA=="}), 400, "body_invalid"),
        (json!({"path": "a.md", "bytes": "?"}), 400, "body_invalid"),
        (json!({"path": "a.md", "text": "x", "size": 10}), 400, "body_invalid"),
        (json!({"path": "a.md", "text": "x", "size": 201, "overlap": 101}), 400, "body_invalid"),
        (json!({"path": "a.md", "text": "x", "overlap": 501}), 400, "body_invalid"),
        (json!({"path": "a.md", "text": "x", "size": 100_000, "overlap": 50_001}), 400, "body_invalid"),
        (json!({"path": "a.md", "text": " "}), 422, "document_unreadable"),
        (json!({"path": "a.pdf", "text": "x"}), 422, "document_unreadable"),
        (json!({"path": "", "text": "x"}), 422, "document_path_invalid"),
        (json!({"path": "a.md", "text": "x", "tags": ["c++"]}), 422, "tag_invalid"),
    ] {
        let reply = served.put("/v1/documents", body.clone()).await;
        assert_eq!(reply.problem(), (status, code), "{body}");
    }
}

#[tokio::test]
async fn a_passage_repeats_up_to_half_of_its_size() {
    let served = Served::new().await;
    // Without an overlap it is the default.
    for sizes in [json!({"size": 200}), json!({"size": 200, "overlap": 100}), json!({"overlap": 500})] {
        let mut body = sizes;
        body["path"] = json!("a.md");
        body["text"] = json!("x");
        served.put("/v1/documents", body).await.is(200);
    }
}

#[tokio::test]
async fn a_reader_loads_nothing() {
    let mut served = Served::new().await;
    served.use_key(&NewApiKey::new(Role::Reader)).await;
    let reply = served.put("/v1/documents", json!({"path": "a.md", "text": GUIDE})).await;
    assert_eq!(reply.problem(), (403, "role_insufficient"));
    served.get("/v1/documents").await.is(200);
    assert_eq!(served.delete("/v1/documents?path=a.md").await.problem(), (403, "role_insufficient"));
}
