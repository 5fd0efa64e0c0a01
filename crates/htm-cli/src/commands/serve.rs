//! `htm serve`: the HTTP server.

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use htm_documents::PdfReader;
use htm_runtime::Runtime;
use htm_runtime::config::{Config, Loaded};
use htm_server::{Limits, Listening, OAuth, OAuthSettings, Server, Tls};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::asked;
use crate::args::{ListeningArgs, ServeArgs};
use crate::codes;
use crate::error::CliError;
use crate::output::Output;
use crate::shell::{self, Socket};

pub(crate) async fn run(loaded: &Loaded, args: ServeArgs, output: &Output) -> Result<ExitCode, CliError> {
    let config = &loaded.config;
    let listening = listening(config, args.listening.listen)?.ok_or_else(|| {
        CliError::new(codes::LISTEN_MISSING, "server.listen is empty, and no --listen is given")
    })?;
    let stop = until_stdin_closes(&args.listening, output.stop());
    let runtime = Runtime::open(config).await?;
    let result = async {
        let server = Server::bind(listening, runtime.htm_for_tenants().await?, Limits::default()).await?;
        let server = server.pdfs(PdfReader::this_program());
        output.value(&Serving::of(Some(&server)), || format!("{}\nCtrl-C stops it", announce(&server)));
        tokio::join!(server.serve(stop.clone()), serve_shell(loaded, &runtime, &stop));
        Ok(ExitCode::SUCCESS)
    }
    .await;
    runtime.close().await;
    result
}

/// Where the server listens, for the program that started it.
#[derive(Serialize)]
pub(crate) struct Serving {
    /// Null: it serves no HTTP.
    url: Option<String>,
}

impl Serving {
    pub(crate) fn of(server: Option<&Server>) -> Self {
        Self { url: server.map(Server::url) }
    }
}

/// Has the end of standard input cancel a token, if asked for.
pub(crate) fn until_stdin_closes(args: &ListeningArgs, stop: CancellationToken) -> CancellationToken {
    if args.until_stdin_closes {
        let stop = stop.clone();
        // A thread: a read of standard input cannot be cancelled, and would hold up the end of the runtime.
        std::thread::spawn(move || {
            io::copy(&mut io::stdin(), &mut io::sink()).ok();
            stop.cancel();
        });
    }
    stop
}

/// Carries out commands of the shell until `stop` is cancelled.
pub(crate) async fn serve_shell(loaded: &Loaded, runtime: &Runtime, stop: &CancellationToken) {
    if let Some(place) = Socket::of(loaded) {
        shell::serve(&place, stop, async |asked, output: &Output| {
            asked::in_server(runtime, asked, output).await
        })
        .await;
    }
}

/// Where the server listens by the configuration, or at another address. None: `server.listen` is empty.
pub(crate) fn listening(config: &Config, address: Option<SocketAddr>) -> Result<Option<Listening>, CliError> {
    let oauth = oauth(config)?;
    let config = &config.server;
    let Some(address) = address.or(config.address()) else { return Ok(None) };
    let tls = match (config.tls_certificate.as_str(), config.tls_key.as_str()) {
        ("", "") => None,
        (certificate, key) => Some(Tls::from_files(certificate.as_ref(), key.as_ref())?),
    };
    Ok(Some(Listening { address, hosts: config.hosts.clone(), tls, oauth }))
}

/// The authorization server of the configuration.
pub(crate) fn oauth(config: &Config) -> Result<Option<OAuth>, CliError> {
    let config = &config.oauth;
    if config.issuer.is_empty() {
        return Ok(None);
    }
    let jwks_url = (!config.jwks_url.is_empty()).then(|| config.jwks_url.clone());
    let namespaces_claim = config.namespaces_claim.clone();
    let settings = OAuthSettings::new(&config.issuer, &config.resource);
    Ok(Some(OAuth::new(OAuthSettings { jwks_url, namespaces_claim, ..settings })?))
}

/// The address of a server, and its callers.
pub(crate) fn announce(server: &Server) -> String {
    let callers = match (server.is_open(), server.oauth()) {
        (true, _) => "there are no keys, so every program of this machine can call it".to_owned(),
        (false, None) => "requests need a key (htm keys)".to_owned(),
        (false, Some(oauth)) => {
            format!("requests need a key (htm keys) or a token of {}", oauth.issuer())
        }
    };
    format!("HTM serves {}; open it in a browser for the console; {callers}", server.url())
}
