//! Access tokens of an authorization server on this machine, whose keys change and which goes away.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use htm_core::{NewApiKey, Role};
use htm_server::{Limits, Listening, OAuth, OAuthSettings, Server};
use htm_tests::{Sandbox, TestDatabase, fetched_sdk, free_port};
use reqwest::Method;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use wiremock::matchers::{body_string_contains, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{Reply, Served};

const RESOURCE: &str = "https://memory.example.org";
const KEYS: &str = "/keys";

/// An authorization server.
struct Issuer {
    http: MockServer,
    key: EcdsaKeyPair,
    kid: String,
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn new_key() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).unwrap()
}

impl Issuer {
    async fn new() -> Self {
        let this = Self { http: MockServer::start().await, key: new_key(), kid: "first".into() };
        this.publish().await;
        this
    }

    fn url(&self) -> String {
        self.http.uri()
    }

    /// Answers with the metadata and the key of now.
    async fn publish(&self) {
        self.http.reset().await;
        let metadata = json!({
            "issuer": self.url(),
            "jwks_uri": format!("{}{KEYS}", self.url()),
            "authorization_endpoint": format!("{}/authorize", self.url()),
            "token_endpoint": format!("{}/token", self.url()),
            "response_types_supported": ["code"],
        });
        let point = self.key.public_key().as_ref();
        let key = json!({
            "kty": "EC", "crv": "P-256", "kid": self.kid, "use": "sig",
            "x": base64(&point[1..33]), "y": base64(&point[33..]),
        });
        // A key of a kind that the server does not know is no hindrance.
        let keys = json!({"keys": [{"kty": "AKP", "alg": "ML-DSA-65", "pub": "AA"}, key]});
        self.answers("/.well-known/oauth-authorization-server", &metadata).await;
        self.answers(KEYS, &keys).await;
    }

    async fn answers(&self, at: &str, body: &Value) {
        let template = ResponseTemplate::new(200).set_body_json(body);
        Mock::given(method("GET")).and(path(at)).respond_with(template).mount(&self.http).await;
    }

    /// Signs with another key from now on, and publishes it.
    async fn rotate(&mut self) {
        (self.key, self.kid) = (new_key(), "second".into());
        self.publish().await;
    }

    /// How often its keys were asked for.
    async fn looks(&self) -> usize {
        let received = self.http.received_requests().await.unwrap();
        received.iter().filter(|request| request.url.path() == KEYS).count()
    }

    fn signed(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", base64(header.to_string()), base64(claims.to_string()));
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", base64(signature))
    }

    fn header(&self) -> Value {
        json!({"alg": "ES256", "typ": "at+jwt", "kid": self.kid})
    }

    fn claims(&self, scope: &str, namespaces: &[&str]) -> Value {
        json!({
            "iss": self.url(), "aud": RESOURCE, "sub": "ada", "exp": now() + 600, "nbf": now(),
            "scope": scope, "htm_namespaces": namespaces,
        })
    }

    fn token(&self, scope: &str, namespaces: &[&str]) -> String {
        self.signed(&self.header(), &self.claims(scope, namespaces))
    }

    fn settings(&self) -> OAuthSettings {
        OAuthSettings::new(self.url(), RESOURCE)
    }
}

async fn served(settings: OAuthSettings) -> Served {
    let address = Listening::from("127.0.0.1:0".parse::<SocketAddr>().unwrap());
    let oauth = Some(OAuth::new(settings).unwrap());
    Served::at(Listening { oauth, ..address }, Limits::default()).await
}

async fn stats(served: &Served, token: &str) -> Reply {
    served.send(served.request(Method::GET, "/v1/stats").bearer_auth(token)).await
}

#[tokio::test]
async fn a_token_opens_its_namespaces_and_no_others() {
    let issuer = Issuer::new().await;
    let mut served = served(issuer.settings()).await;
    served.use_secret(&issuer.token("openid htm:writer", &["atlas", "tenant-7/*"]));
    let node = served.remember("Mara prefers tabs.").await;
    let memory = served.get(&format!("/v1/memories/{node}")).await.is(200);
    assert_eq!(memory["namespace"], "atlas", "{memory}");
    let inside = json!({"content": "x", "namespace": "tenant-7/notes"});
    served.post("/v1/memories", inside).await.is(201);
    let outside = json!({"content": "x", "namespace": "tenant-8"});
    assert_eq!(served.post("/v1/memories", outside).await.problem(), (403, "namespace_forbidden"));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let tools = async |path: &str| {
        let request =
            served.request(Method::POST, path).header("accept", "application/json, text/event-stream");
        served.send(request.json(&list)).await
    };
    tools("/mcp").await.is(200);
    tools("/mcp/atlas").await.is(200);
    assert_eq!(tools("/mcp/tenant-8").await.problem(), (403, "namespace_forbidden"));
    // Its role is not enough.
    let rename = json!({"tag": "a", "to": "b"});
    let refused = served.post("/v1/tags/rename", rename).await;
    assert_eq!(refused.problem(), (403, "role_insufficient"));
    let challenge = refused.header("www-authenticate");
    assert!(challenge.contains(r#"error="insufficient_scope", scope="htm:reader htm:writer htm:admin""#));

    served.use_secret(&issuer.token("htm:reader", &["tenant-8"]));
    assert_eq!(served.get(&format!("/v1/memories/{node}")).await.problem(), (404, "node_not_found"));
    assert_eq!(served.get("/metrics").await.problem(), (403, "role_insufficient"));
    served.use_secret(&issuer.token("htm:reader", &["*"]));
    served.get(&format!("/v1/memories/{node}")).await.is(200);
    assert_eq!(served.get("/metrics").await.status, 200);
    // All of it with one look at the keys.
    assert_eq!(issuer.looks().await, 1);
}

#[tokio::test]
async fn what_the_holder_of_a_token_does_is_on_record_under_its_subject() {
    let issuer = Issuer::new().await;
    let mut served = served(issuer.settings()).await;
    served.use_secret(&issuer.token("htm:admin", &["*"]));
    served.patch("/v1/quotas", json!({"max_memories": 10})).await.is(200);
    let log = served.get("/v1/audit").await.is(200);
    assert_eq!(log["entries"][0]["actor"], "oauth:ada", "{log}");
    // A retry has a newer token. Another subject has ids of its own.
    let write = async |claims: Value| {
        let token = issuer.signed(&issuer.header(), &claims);
        let request = served.request(Method::POST, "/v1/memories").header("idempotency-key", "a");
        let sent =
            served.send(request.bearer_auth(token).json(&json!({"content": "Once.", "key": null}))).await;
        (sent.status, sent.header("idempotency-replayed").to_owned())
    };
    let claims = |sub: &str, exp: u64| {
        let mut claims = issuer.claims("htm:writer", &["atlas"]);
        (claims["sub"], claims["exp"]) = (json!(sub), json!(exp));
        claims
    };
    assert_eq!(write(claims("ada", now() + 60)).await, (201, String::new()));
    assert_eq!(write(claims("ada", now() + 900)).await, (201, "true".into()));
    assert_eq!(write(claims("bea", now() + 60)).await.1, "");
}

#[tokio::test]
async fn without_a_token_a_client_learns_where_to_get_one() {
    let issuer = Issuer::new().await;
    let mut served = served(issuer.settings()).await;
    // There is no key in the database, and the server is closed all the same.
    let refused = served.get("/v1/stats").await;
    assert_eq!(refused.problem(), (401, "api_key_missing"));
    let place = "/.well-known/oauth-protected-resource";
    let expected = format!(r#"Bearer scope="htm:reader", resource_metadata="{RESOURCE}{place}""#);
    assert_eq!(refused.header("www-authenticate"), expected);
    let refused = served.post("/mcp/tenant/a", json!({})).await;
    let expected = format!(
        r#"Bearer scope="htm:reader htm:writer", resource_metadata="{RESOURCE}{place}/mcp/tenant/a""#
    );
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, &*expected));
    for part in ["", "/mcp", "/mcp/tenant/a"] {
        let metadata = served.get(&format!("{place}{part}")).await.is(200);
        let expected = json!({
            "resource": format!("{RESOURCE}{part}"),
            "authorization_servers": [issuer.url()],
            "scopes_supported": ["htm:reader", "htm:writer", "htm:admin"],
            "bearer_methods_supported": ["header"],
            "resource_name": "HTM",
        });
        assert_eq!(metadata, expected);
    }
    assert_eq!(served.get(&format!("{place}/v1")).await.problem(), (404, "route_unknown"));
    assert_eq!(issuer.looks().await, 0);
    // Keys are accepted beside tokens.
    served.use_key(&NewApiKey::new(Role::Reader)).await;
    served.get("/v1/stats").await.is(200);
    let refused = stats(&served, "htm_0123456789ab_").await;
    assert_eq!(refused.problem(), (401, "api_key_invalid"));
    assert!(refused.header("www-authenticate").starts_with(r#"Bearer error="invalid_token", "#));

    let plain = Served::new().await;
    for part in ["", "/mcp", "/mcp/tenant/a"] {
        assert_eq!(plain.get(&format!("{place}{part}")).await.problem(), (404, "route_unknown"));
    }
}

#[tokio::test]
async fn a_token_that_is_not_for_this_server_is_refused() {
    let issuer = Issuer::new().await;
    let served = served(issuer.settings()).await;
    let claims = issuer.claims("htm:admin", &["*"]);
    stats(&served, &issuer.signed(&issuer.header(), &claims)).await.is(200);
    let with = |claim: &str, value: Value| {
        let mut claims = claims.clone();
        claims[claim] = value;
        issuer.signed(&issuer.header(), &claims)
    };
    let without = |claim: &str| {
        let mut claims = claims.clone();
        claims.as_object_mut().unwrap().remove(claim);
        issuer.signed(&issuer.header(), &claims)
    };
    let headed = |name: &str, value: Value| {
        let mut header = issuer.header();
        header[name] = value;
        issuer.signed(&header, &claims)
    };
    let good = issuer.signed(&issuer.header(), &claims);
    let (message, signature) = good.rsplit_once('.').unwrap();
    // The public key as a shared secret.
    let confused = {
        let header = json!({"alg": "HS256", "typ": "at+jwt", "kid": issuer.kid});
        let message = format!("{}.{}", base64(header.to_string()), base64(claims.to_string()));
        let key = hmac::Key::new(hmac::HMAC_SHA256, issuer.key.public_key().as_ref());
        format!("{message}.{}", base64(hmac::sign(&key, message.as_bytes())))
    };
    let unsigned = format!("{}.{}.", base64(json!({"alg": "none"}).to_string()), base64(claims.to_string()));
    let forged = {
        let claims = base64(issuer.claims("htm:admin", &["tenant-8"]).to_string());
        format!("{}.{claims}.{signature}", message.split_once('.').unwrap().0)
    };
    let stranger = Issuer { http: MockServer::start().await, key: new_key(), kid: issuer.kid.clone() };
    for (why, token, said) in [
        ("another audience", with("aud", json!("https://other.example.org")), "audience"),
        ("an audience that only begins alike", with("aud", json!(format!("{RESOURCE}.evil"))), "audience"),
        ("the audience of MCP", with("aud", json!([format!("{RESOURCE}/mcp")])), "audience"),
        ("another issuer", with("iss", json!("https://evil.example")), "issuer"),
        ("expired", with("exp", json!(now() - 120)), "expired"),
        ("too early", with("nbf", json!(now() + 120)), "not valid yet"),
        ("never expires", without("exp"), "expires"),
        ("no issuer", without("iss"), "issuer"),
        ("no audience", without("aud"), "audience"),
        ("no subject", without("sub"), "subject"),
        ("no time", with("exp", json!("soon")), "expires"),
        ("alg none", unsigned, "no JWT"),
        ("alg confusion", confused, "no JWT"),
        ("another algorithm", headed("alg", json!("ES384")), "no such key"),
        ("an algorithm of RSA", headed("alg", json!("RS256")), "no such key"),
        ("another type", headed("typ", json!("logout+jwt")), "type"),
        ("an extension", headed("crit", json!(["b64"])), "no JWT"),
        ("an unknown key", headed("kid", json!("other")), "no such key"),
        ("other claims", forged, "signature"),
        ("another key of the same name", stranger.signed(&issuer.header(), &claims), "signature"),
        ("no signature", format!("{message}."), "signature"),
        ("two parts", message.to_owned(), "no JWT"),
        ("no JWT", "abc".to_owned(), "no JWT"),
    ] {
        let refused = stats(&served, &token).await;
        assert_eq!(refused.problem(), (401, "token_invalid"), "{why}");
        assert!(refused.text.contains(said), "{why}: {}", refused.text);
        let challenge = refused.header("www-authenticate");
        assert!(challenge.starts_with(r#"Bearer error="invalid_token", "#), "{why}: {challenge}");
    }
    // What is not said is not allowed.
    for (token, code) in [
        (without("htm_namespaces"), "token_namespaces_unfit"),
        (with("htm_namespaces", json!([])), "token_namespaces_unfit"),
        (with("htm_namespaces", json!(["a//b"])), "token_namespaces_unfit"),
        (with("htm_namespaces", json!(["tenant-8", "*"])), "token_namespaces_unfit"),
        (with("htm_namespaces", json!(["tenant-8/*/b"])), "token_namespaces_unfit"),
        (without("scope"), "role_insufficient"),
        (with("scope", json!("openid admin")), "role_insufficient"),
    ] {
        assert_eq!(stats(&served, &token).await.problem(), (403, code));
    }
    // Within what clocks may differ.
    stats(&served, &with("exp", json!(now() - 30))).await.is(200);
    stats(&served, &with("nbf", json!(now() + 30))).await.is(200);
    // An audience may be one of several, or a part of the server.
    let several = json!(["https://other.example.org", RESOURCE]);
    stats(&served, &with("aud", several)).await.is(200);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for (path, status) in [("/mcp/atlas", 200), ("/mcp/tenant-8", 401), ("/mcp", 401)] {
        let request = served.request(Method::POST, path);
        let request = request.header("accept", "application/json, text/event-stream");
        let token = with("aud", json!(format!("{RESOURCE}/mcp/atlas")));
        assert_eq!(served.send(request.bearer_auth(token).json(&list)).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn a_new_key_is_fetched_and_a_withdrawn_one_is_forgotten() {
    let mut issuer = Issuer::new().await;
    let served = served(OAuthSettings { pause: Duration::ZERO, ..issuer.settings() }).await;
    let first = issuer.token("htm:reader", &["atlas"]);
    stats(&served, &first).await.is(200);
    issuer.rotate().await;
    stats(&served, &first).await.is(200);
    stats(&served, &issuer.token("htm:reader", &["atlas"])).await.is(200);
    assert_eq!(stats(&served, &first).await.problem(), (401, "token_invalid"));
}

#[tokio::test]
async fn invented_keys_do_not_make_it_ask_more_often() {
    let issuer = Issuer::new().await;
    let served = served(issuer.settings()).await;
    let invented = |at: usize| {
        let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": format!("invented-{at}")});
        issuer.signed(&header, &issuer.claims("htm:reader", &["atlas"]))
    };
    let tokens: Vec<String> = (0..50).map(invented).collect();
    let asked = futures::future::join_all(tokens.iter().map(|token| stats(&served, token))).await;
    assert!(asked.iter().all(|reply| reply.problem() == (401, "token_invalid")));
    stats(&served, &issuer.token("htm:reader", &["atlas"])).await.is(200);
    assert_eq!(issuer.looks().await, 1);
}

#[tokio::test]
async fn while_the_authorization_server_is_away_known_keys_stay() {
    let mut issuer = Issuer::new().await;
    let served = served(OAuthSettings { pause: Duration::ZERO, ..issuer.settings() }).await;
    issuer.http.reset().await;
    let known = issuer.token("htm:reader", &["atlas"]);
    let away = stats(&served, &known).await;
    assert_eq!(away.problem(), (503, "authorization_server_unreachable"));
    assert_eq!((away.header("retry-after"), away.header("www-authenticate")), ("1", ""));
    assert!(!away.text.contains(&issuer.url()), "{}", away.text);
    for (place, body) in [
        // Of another server, or at a place that others can change, or without an end.
        (
            "/.well-known/oauth-authorization-server",
            json!({"issuer": "https://x.example", "jwks_uri": "https://x.example"}),
        ),
        (
            "/.well-known/openid-configuration",
            json!({"issuer": issuer.url(), "jwks_uri": "http://x.example/keys"}),
        ),
        (
            "/.well-known/openid-configuration",
            json!({"issuer": issuer.url(), "jwks_uri": "a".repeat(300_000)}),
        ),
    ] {
        issuer.http.reset().await;
        issuer.answers(place, &body).await;
        assert_eq!(stats(&served, &known).await.problem(), (503, "authorization_server_unreachable"));
    }
    issuer.publish().await;
    stats(&served, &known).await.is(200);
    issuer.http.reset().await;
    stats(&served, &known).await.is(200);
    issuer.key = new_key();
    issuer.kid = "second".into();
    let unknown = stats(&served, &issuer.token("htm:reader", &["atlas"])).await;
    assert_eq!(unknown.problem(), (503, "authorization_server_unreachable"));
}

#[tokio::test]
async fn the_keys_of_openid_connect_or_of_a_fixed_place_are_found_too() {
    let issuer = Issuer::new().await;
    issuer.http.reset().await;
    let url = format!("{}/realms/a/", issuer.url());
    let metadata = json!({"issuer": url, "jwks_uri": format!("{}{KEYS}", issuer.url())});
    issuer.answers("/realms/a/.well-known/openid-configuration", &metadata).await;
    let point = issuer.key.public_key().as_ref();
    // One key needs no name.
    let key = json!({"kty": "EC", "crv": "P-256", "x": base64(&point[1..33]), "y": base64(&point[33..])});
    issuer.answers(KEYS, &json!({"keys": [key]})).await;
    let found = OAuthSettings::new(&url, RESOURCE);
    let fixed = OAuthSettings {
        jwks_url: Some(format!("{}{KEYS}", issuer.url())),
        ..OAuthSettings::new("https://id.example.org", RESOURCE)
    };
    for settings in [found, fixed] {
        let mut claims = issuer.claims("htm:reader", &["atlas"]);
        claims["iss"] = json!(settings.issuer);
        let token = issuer.signed(&json!({"alg": "ES256"}), &claims);
        stats(&served(settings).await, &token).await.is(200);
    }
}

#[tokio::test]
async fn with_an_issuer_it_may_listen_elsewhere_under_its_name() {
    let issuer = Issuer::new().await;
    let db = TestDatabase::new().await;
    let oauth = Some(OAuth::new(issuer.settings()).unwrap());
    let listening = Listening { oauth, ..Listening::from("0.0.0.0:0".parse::<SocketAddr>().unwrap()) };
    let server = Server::bind(listening, db.htm(), Limits::default()).await.unwrap();
    assert!(!server.is_open());
    let served = served(issuer.settings()).await;
    let named = |host: &'static str| served.request(Method::GET, "/livez").header("host", host);
    assert_eq!(served.send(named("memory.example.org")).await.status, 200);
    assert_eq!(served.send(named("other.example.org")).await.status, 403);
}

#[tokio::test]
async fn a_stream_of_events_ends_with_its_token() {
    let issuer = Issuer::new().await;
    let served = served(issuer.settings()).await;
    // The seconds that it has left, with what clocks may differ. On a slow machine the first are over too soon.
    for left in [2, 10, 60] {
        let mut claims = issuer.claims("htm:reader", &["atlas"]);
        claims["exp"] = json!(now() - 60 + left);
        let token = issuer.signed(&issuer.header(), &claims);
        let mut stream = served.request(Method::GET, "/v1/events").bearer_auth(token).send().await.unwrap();
        if stream.status() == 200 {
            while stream.chunk().await.unwrap().is_some() {}
            return;
        }
    }
    panic!("no stream began");
}

#[tokio::test]
async fn the_configuration_names_the_authorization_server() {
    let issuer = Issuer::new().await;
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--set"];
    let issuer_url = format!("oauth.issuer={}", issuer.url());
    let without = sandbox.htm(&[&arguments[..], &[&issuer_url]].concat()).await;
    assert!(without.fails(1, "oauth_unusable").contains("oauth.resource"));
}

#[tokio::test]
async fn a_client_of_mcp_gets_its_own_token() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "python") else { return };
    let issuer = Issuer::new().await;
    let address: SocketAddr = format!("127.0.0.1:{}", free_port()).parse().unwrap();
    let resource = format!("http://{address}");
    let mut claims = issuer.claims("htm:reader htm:writer", &["tenant/a"]);
    claims["aud"] = json!(format!("{resource}/mcp/tenant/a"));
    let token = issuer.signed(&issuer.header(), &claims);
    let answer = json!({"access_token": token, "token_type": "Bearer", "expires_in": 600});
    // The client asks for the resource and the scopes that the server named.
    Mock::given(method("POST"))
        .and(path("/token"))
        .and(body_string_contains("%2Fmcp%2Ftenant%2Fa"))
        .and(body_string_contains("scope=htm%3Areader+htm%3Awriter"))
        .respond_with(ResponseTemplate::new(200).set_body_json(answer))
        .mount(&issuer.http)
        .await;
    let oauth = Some(OAuth::new(OAuthSettings::new(issuer.url(), &resource)).unwrap());
    let served = Served::at(Listening { oauth, ..Listening::from(address) }, Limits::default()).await;
    let program = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mcp/oauth.py");
    let python = place.join("bin/python");
    let line =
        format!("'{}' '{}' {resource}/mcp/tenant/a {}", python.display(), program.display(), issuer.url());
    let seen = Sandbox::new(&served.db).shell(&line).await.json();
    assert!(seen["tools"].as_array().unwrap().contains(&json!("remember")), "{seen}");
    assert_eq!(served.db.count("select count(*) from htm.nodes where namespace = 'tenant/a'").await, 1);
}
