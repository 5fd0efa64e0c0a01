//! TLS: the server's certificate, and the handshake with a client.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use htm_core::{Error, Result};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::codes;

/// The certificate chain and the private key of a server.
#[derive(Clone)]
pub struct Tls(tokio_rustls::TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(…)")
    }
}

impl Tls {
    /// Reads PEM files: the certificate with its chain, and its private key (PKCS #8, PKCS #1 or SEC 1).
    ///
    /// # Errors
    /// `tls_unusable`: a file cannot be read, has no certificate or no key, or the two do not belong together.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self> {
        let unusable =
            |path: &Path, what: &str| Error::new(codes::TLS_UNUSABLE, format!("{} {what}", path.display()));
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect)
            .map_err(|error| unusable(certificate, "is no certificate in PEM").with_source(error))?;
        if chain.is_empty() {
            return Err(unusable(certificate, "has no certificate"));
        }
        let private = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| unusable(key, "is no private key in PEM").with_source(error))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
            .map_err(|error| unusable(certificate, "and its key cannot be used").with_source(error))?;
        Ok(Self(tokio_rustls::TlsAcceptor::from(Arc::new(config))))
    }

    /// The encrypted connection. None: the client does not speak TLS, or not in time.
    pub(crate) async fn accept<S>(&self, stream: S, limit: Duration) -> Option<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        timeout(limit, self.0.accept(stream)).await.ok()?.ok()
    }
}
