//! Certificates of servers, signed by an authority of the test's own.

use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::NamedTempFile;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

/// A server's certificate for one name.
pub struct Certificate {
    pub(crate) acceptor: TlsAcceptor,
    authority: NamedTempFile,
    pem: String,
    key_pem: String,
}

impl Certificate {
    /// Signs a certificate for a host's name or address.
    pub fn new(host: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new([host.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &authority).expect("a certificate");
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            )
            .expect("the key is the certificate's");
        let file = NamedTempFile::new().expect("a file");
        std::fs::write(&file, authority.as_ref().pem()).expect("a file");
        Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            authority: file,
            pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        }
    }

    /// The certificate, in PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Its private key, in PEM.
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    /// The file with the certificate of the authority, in PEM.
    pub fn authority(&self) -> &Path {
        self.authority.path()
    }
}
