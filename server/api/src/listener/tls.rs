//! TLS: the certificate and its key, read again when their files change.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use portcullis_fairness::run_apart;
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

/// The time between two looks at the files: a renewed certificate serves within seconds, and reading two small files
/// costs nothing.
const RELOAD_INTERVAL: Duration = Duration::from_secs(5);

/// The files of a certificate.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate and the certificates of its authorities, in PEM.
    pub certificate: PathBuf,
    /// The private key, in PEM.
    pub key: PathBuf,
}

/// The reason why the files do not serve.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("TLS_CERT_FILE: expected certificates in PEM: {0}")]
    Certificate(String),
    #[error("TLS_KEY_FILE: expected the private key of the certificate in PEM: {0}")]
    Key(String),
}

/// The certificate of the service, with the files that it comes from.
#[derive(Debug)]
pub struct TlsIdentity {
    files: TlsFiles,
    /// The content of the files when they were last read.
    content: Content,
    current: Arc<Current>,
}

/// The certificate that new connections get.
#[derive(Debug)]
struct Current(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl TlsIdentity {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read, is not PEM, or the key is not the key of the certificate.
    pub fn read(files: TlsFiles) -> Result<Self, TlsError> {
        let content = Content::read(&files)?;
        let current = Arc::new(Current(ArcSwap::from_pointee(content.parse()?)));
        Ok(Self { files, content, current })
    }

    /// Returns the acceptor of connections: TLS 1.2 and 1.3, for HTTP/2 and HTTP/1.1.
    pub(super) fn acceptor(&self) -> Result<TlsAcceptor, rustls::Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.current) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reads the files again and again. A changed certificate serves new connections. If the files do not serve, the
    /// certificate before them stays.
    pub async fn keep_up(mut self) {
        let mut last = LastFault::default();
        loop {
            tokio::time::sleep(RELOAD_INTERVAL).await;
            let reloaded = run_apart(move || {
                let outcome = self.reload();
                (self, outcome)
            });
            let Ok((same, outcome)) = reloaded.await else { return };
            self = same;
            let is_new = last.replace_by(outcome.as_ref().err());
            match outcome {
                Ok(false) => {}
                Ok(true) => tracing::info!("the new TLS certificate serves"),
                Err(error) if is_new => {
                    tracing::error!(%error, "the new TLS certificate does not serve; the old one stays");
                }
                // The log has it.
                Err(_) => {}
            }
        }
    }

    /// Reads the files again. Returns whether they changed. A fault is reported once for each content.
    fn reload(&mut self) -> Result<bool, TlsError> {
        let content = Content::read(&self.files)?;
        if content == self.content {
            return Ok(false);
        }
        let parsed = content.parse();
        self.content = content;
        self.current.0.store(Arc::new(parsed?));
        Ok(true)
    }
}

/// The fault of the last read of the files. A file that is missing for hours takes one line of the log.
#[derive(Default)]
struct LastFault(Option<String>);

impl LastFault {
    /// Replaces the fault by that of the next read. Returns whether this is another fault than the last one.
    fn replace_by(&mut self, next: Option<&TlsError>) -> bool {
        let next = next.map(ToString::to_string);
        let is_new = next.is_some() && next != self.0;
        self.0 = next;
        is_new
    }
}

/// The content of the files.
#[derive(PartialEq)]
struct Content {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl std::fmt::Debug for Content {
    /// Shows nothing, because the key is secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").finish_non_exhaustive()
    }
}

impl Content {
    fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let text = |error: io::Error| error.to_string();
        let certificate = std::fs::read(&files.certificate);
        let key = std::fs::read(&files.key);
        Ok(Self {
            certificate: certificate.map_err(|error| TlsError::Certificate(text(error)))?,
            key: key.map_err(|error| TlsError::Key(text(error)))?,
        })
    }

    fn parse(&self) -> Result<CertifiedKey, TlsError> {
        let certificates = CertificateDer::pem_slice_iter(&self.certificate)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| TlsError::Certificate(error.to_string()))?;
        if certificates.is_empty() {
            return Err(TlsError::Certificate("the file has none".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        let key = key.map_err(|error| TlsError::Key(error.to_string()))?;
        let provider: CryptoProvider = aws_lc_rs::default_provider();
        CertifiedKey::from_der(certificates, key, &provider)
            .map_err(|error| TlsError::Key(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_lasts_is_new_once() {
        let missing = || Some(TlsError::Key("the file is missing".to_owned()));
        let bad = || Some(TlsError::Certificate("the file is bad".to_owned()));
        let mut last = LastFault::default();
        for (fault, is_new) in [
            (None, false),
            (missing(), true),
            (missing(), false),
            (missing(), false),
            (bad(), true),
            (missing(), true),
            (None, false),
            (missing(), true),
        ] {
            assert_eq!(last.replace_by(fault.as_ref()), is_new, "{fault:?}");
        }
    }
}
