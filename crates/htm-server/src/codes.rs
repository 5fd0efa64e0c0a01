//! The error codes of the server.

use htm_core::error::Code;
use htm_core::fault::Fault;

htm_core::error_codes! {
    ROUTE_UNKNOWN "route_unknown" User "The server has no such path."
        => "see the paths at /openapi.json";
    METHOD_UNKNOWN "method_unknown" User "The path has no such method."
        => "see the methods of the path at /openapi.json";
    API_KEY_MISSING "api_key_missing" User "A request has no key of the API, and the server has keys."
        => "send the header `Authorization: Bearer KEY`; make a key with `htm keys create`, or get a token";
    TOKEN_INVALID "token_invalid" User "The access token is not valid for the server."
        => "get a token from the authorization server that /.well-known/oauth-protected-resource names";
    TOKEN_NAMESPACES_UNFIT "token_namespaces_unfit" User "The access token does not say which namespaces its holder sees."
        => "let the authorization server add the claim `oauth.namespaces_claim`, as the guide on tenants describes";
    AUTHORIZATION_SERVER_UNREACHABLE "authorization_server_unreachable" Transient "The keys of the authorization server cannot be fetched."
        => "send the request again in a moment; the server's log has the cause";
    OAUTH_UNUSABLE "oauth_unusable" Permanent "The settings of OAuth cannot be used."
        => "correct the section [oauth] of the configuration: https URLs, and a `resource` without a path";
    ROLE_INSUFFICIENT "role_insufficient" User "The role of the key or the token does not allow the request."
        => "use a key with a higher role, or a token with its scope";
    TOO_MANY_REQUESTS "too_many_requests" Transient "The key has made all requests that it may make in a minute, or its namespace has."
        => "wait until Retry-After has passed, or raise the limit of the key or the quota of the namespace";
    BODY_INVALID "body_invalid" User "The body of a request is not the JSON that the path expects, or the path takes no body."
        => "see its schema at /openapi.json";
    BODY_TOO_LARGE "body_too_large" User "The body of a request has more bytes, or takes more memory, than the server reads."
        => "send less at once";
    BODY_INCOMPLETE "body_incomplete" User "The client did not send the whole body."
        => "send the request again";
    MEDIA_TYPE_UNFIT "media_type_unfit" User "The body has a content type or an encoding that the path does not read."
        => "send the content type of the path, `application/json` for most (see /openapi.json), without `Content-Encoding`";
    QUERY_INVALID "query_invalid" User "A parameter of the query is unknown, missing or invalid."
        => "see the parameters at /openapi.json";
    PATH_INVALID "path_invalid" User "A part of the path is invalid."
        => "see the path at /openapi.json; an id is a whole number";
    HEADER_INVALID "header_invalid" User "A header is missing, is there more than once, or has a value that the server cannot read."
        => "see the headers at /openapi.json";
    URI_TOO_LONG "uri_too_long" User "The URI of a request has more bytes than the server reads."
        => "send long values in a body: the paths that search take POST";
    HEADERS_TOO_LARGE "headers_too_large" User "A request has more headers, or more bytes of them, than the server reads."
        => "leave out headers that the server does not need, such as cookies";
    HOST_FORBIDDEN "host_forbidden" User "The request names a host, or comes from a page, that the server does not serve."
        => "call the server by the address that it listens on; a proxy has to pass `Host` on unchanged, with its port";
    DOCUMENT_UNREADABLE "document_unreadable" User "A file cannot be read as a document: it is binary, encrypted, damaged, empty or too large."
        => "send Markdown, HTML, text, source code or a PDF with text; the path's extension tells which it is";
    BATCH_TOO_LARGE "batch_too_large" User "A request has more items than the server takes at once."
        => "send them in several requests, or as a stream to /v1/import";
    IDEMPOTENCY_UNFIT "idempotency_unfit" User "The path takes no Idempotency-Key."
        => "leave the header out; a key of a memory makes its import idempotent";
    TOO_BUSY "too_busy" Transient "The server is at its limit of concurrent requests."
        => "send the request again in a moment";
    REQUEST_TIMEOUT "request_timeout" Transient "The request took longer than the server allows."
        => "ask for less at once, or send it again; with an Idempotency-Key a write is not done twice";
    STOPPING "stopping" Transient "The server is stopping."
        => "send the request again, to another server or in a moment";
    INTERNAL_ERROR "internal_error" Bug "The server failed unexpectedly."
        => "this is a bug; the server's log has the cause under the request's id: report it";
    TLS_UNUSABLE "tls_unusable" Permanent "The certificate or the private key of the server cannot be used."
        => "give PEM files that belong together: `server.tls_certificate`, `server.tls_key`";
    LISTEN_NOT_LOOPBACK "listen_not_loopback" Permanent "The server has no keys, so it may listen on this machine only."
        => "make a key with `htm keys create`, set `oauth.issuer`, or listen on 127.0.0.1 or [::1]";
    LISTEN_UNUSABLE "listen_unusable" Permanent "The server cannot listen on the address."
        => "give `--listen`, or `server.listen`, a free port of this machine";
}

/// Every code that an answer may have, those of the library too.
pub(crate) fn every() -> impl Iterator<Item = &'static Code> {
    ALL.iter().chain(htm_core::error::codes::ALL).copied()
}
