use serde_json::json;

use super::*;

const RESOURCE: &str = "https://memory.example.org";

fn oauth() -> OAuth {
    OAuth::new(OAuthSettings::new("https://id.example.org", RESOURCE)).unwrap()
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    let settings = || OAuthSettings::new("https://id.example.org/realms/a", RESOURCE);
    for (settings, named) in [
        (OAuthSettings { issuer: "id.example.org".into(), ..settings() }, "oauth.issuer"),
        (OAuthSettings { issuer: "http://id.example.org".into(), ..settings() }, "oauth.issuer"),
        (OAuthSettings { issuer: "http://localhost@id.example.org".into(), ..settings() }, "oauth.issuer"),
        (OAuthSettings { issuer: "https://id.example.org?a=b".into(), ..settings() }, "oauth.issuer"),
        (OAuthSettings { resource: String::new(), ..settings() }, "oauth.resource"),
        (OAuthSettings { resource: format!("{RESOURCE}/mcp"), ..settings() }, "oauth.resource"),
        (OAuthSettings { jwks_url: Some("ftp://id".into()), ..settings() }, "oauth.jwks_url"),
        (OAuthSettings { namespaces_claim: " ".into(), ..settings() }, "oauth.namespaces_claim"),
    ] {
        let error = OAuth::new(settings).unwrap_err();
        assert_eq!(error.code(), "oauth_unusable");
        assert!(error.to_string().contains(named), "{error}");
    }
    for issuer in ["http://localhost:8080", "http://127.0.0.1", "http://[::1]:1"] {
        OAuth::new(OAuthSettings { issuer: issuer.into(), ..settings() }).unwrap();
    }
}

#[test]
fn an_audience_covers_its_path_and_those_below() {
    let covers = |part: &str, path: &str| oauth().0.covers(&format!("{RESOURCE}{part}"), path);
    for (part, path) in [
        ("", "/v1/recall"),
        ("/", "/mcp"),
        ("/mcp", "/mcp"),
        ("/mcp", "/mcp/atlas"),
        ("/mcp/", "/mcp"),
        ("/mcp/atlas", "/mcp/atlas/notes"),
    ] {
        assert!(covers(part, path), "{part} {path}");
    }
    for (part, path) in [
        ("/mcp", "/v1/recall"),
        ("/mcp", "/mcpx"),
        ("/mcp/atlas", "/mcp"),
        ("/mcp/atlas", "/mcp/atlas-2"),
        (".evil.example", "/mcp"),
        (":8443", "/mcp"),
    ] {
        assert!(!covers(part, path), "{part} {path}");
    }
    assert!(!oauth().0.covers("https://other.example.org", "/mcp") && !oauth().0.covers("", "/mcp"));
}

#[test]
fn what_a_token_does_not_say_is_not_allowed() {
    let read = |claims: Value| oauth().0.read(claims.as_object().unwrap());
    let token = |role, namespaces: Option<&[&str]>| Token {
        who: "oauth:ada".into(),
        role,
        namespaces: namespaces.map(|them| them.iter().map(|it| (*it).to_owned()).collect()),
    };
    for (claims, expected) in [
        (
            json!({"sub": "ada", "scope": "openid htm:reader", "htm_namespaces": ["atlas", "tenant-7/*"]}),
            token(Role::Reader, Some(&["atlas", "tenant-7/*"])),
        ),
        (
            json!({"sub": "ada", "scope": "htm:writer htm:reader", "htm_namespaces": "atlas"}),
            token(Role::Writer, Some(&["atlas"])),
        ),
        (json!({"sub": "ada", "scp": ["htm:admin"], "htm_namespaces": ["*"]}), token(Role::Admin, None)),
    ] {
        assert_eq!(read(claims.clone()).unwrap(), expected, "{claims}");
    }
    let whole = json!({"sub": "ada", "scope": "htm:admin", "htm_namespaces": ["atlas"]});
    for (claim, value, code) in [
        ("scope", json!("htm:Admin htm:admins admin"), codes::ROLE_INSUFFICIENT),
        ("scope", json!(null), codes::ROLE_INSUFFICIENT),
        ("scope", json!(["htm:admin", 1]), codes::ROLE_INSUFFICIENT),
        ("htm_namespaces", json!(null), codes::TOKEN_NAMESPACES_UNFIT),
        ("htm_namespaces", json!([]), codes::TOKEN_NAMESPACES_UNFIT),
        ("htm_namespaces", json!(["atlas", 1]), codes::TOKEN_NAMESPACES_UNFIT),
        ("htm_namespaces", json!({"atlas": true}), codes::TOKEN_NAMESPACES_UNFIT),
        ("htm_namespaces", json!(vec!["atlas"; 101]), codes::TOKEN_NAMESPACES_UNFIT),
        ("htm_namespaces", json!(["atlas", "*"]), codes::TOKEN_NAMESPACES_UNFIT),
        ("htm_namespaces", json!(["*", "*"]), codes::TOKEN_NAMESPACES_UNFIT),
        ("htm_namespaces", json!(["atlas/*/b"]), codes::TOKEN_NAMESPACES_UNFIT),
        ("htm_namespaces", json!(["atlas*"]), codes::TOKEN_NAMESPACES_UNFIT),
        ("htm_namespaces", json!(["a//b"]), codes::TOKEN_NAMESPACES_UNFIT),
        ("sub", json!(""), codes::TOKEN_INVALID),
        ("sub", json!("a\nb"), codes::TOKEN_INVALID),
        ("sub", json!("a".repeat(241)), codes::TOKEN_INVALID),
        ("sub", json!(7), codes::TOKEN_INVALID),
    ] {
        let mut claims = whole.clone();
        claims[claim] = value;
        assert!(read(claims.clone()).unwrap_err().is(code), "{claims}");
        claims.as_object_mut().unwrap().remove(claim);
        assert!(read(claims.clone()).unwrap_err().is(code), "{claims}");
    }
}

#[test]
fn a_challenge_names_the_metadata_of_what_was_asked_for() {
    let challenge = |code, path: &str, has_token, needed| {
        let problem = oauth().challenge(Problem::new(code, "x"), path, has_token, needed);
        let response = axum::response::IntoResponse::into_response(problem);
        let header = response.headers().get("www-authenticate");
        header.map(|it| it.to_str().unwrap().replace(RESOURCE, "…")).unwrap_or_default()
    };
    let place = "…/.well-known/oauth-protected-resource";
    assert_eq!(
        challenge(codes::API_KEY_MISSING, "/v1/recall", false, Role::Reader),
        format!(r#"Bearer scope="htm:reader", resource_metadata="{place}""#)
    );
    assert_eq!(
        challenge(codes::TOKEN_INVALID, "/mcp/a\"b", true, Role::Reader),
        format!(
            r#"Bearer error="invalid_token", scope="htm:reader htm:writer", resource_metadata="{place}/mcp/a%22b""#
        )
    );
    assert_eq!(
        challenge(codes::ROLE_INSUFFICIENT, "/v1/jobs", true, Role::Admin),
        format!(
            r#"Bearer error="insufficient_scope", scope="htm:reader htm:writer htm:admin", resource_metadata="{place}""#
        )
    );
    // A better scope would not help.
    for code in [codes::TOKEN_NAMESPACES_UNFIT, codes::AUTHORIZATION_SERVER_UNREACHABLE] {
        assert_eq!(challenge(code, "/mcp", true, Role::Reader), "");
    }
}
