//! TLS: the certificate and its key, read again when their files change.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::stream::{Stream, StreamExt};
use portcullis_fairness::run_apart;
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

/// The variables that name the files.
const CERTIFICATE: &str = "TLS_CERT_FILE";
const KEY: &str = "TLS_KEY_FILE";
/// The time between two looks at the files: a renewed certificate serves within seconds, and reading two small files
/// costs nothing.
const RELOAD_INTERVAL: Duration = Duration::from_secs(5);

/// The reason why a file does not serve.
#[derive(Debug, thiserror::Error)]
#[error("{variable}: expected a usable file in PEM: {reason}")]
pub struct TlsError {
    /// The variable that names the file.
    pub variable: &'static str,
    pub reason: String,
}

fn unusable(variable: &'static str) -> impl Fn(&dyn Display) -> TlsError {
    move |reason| TlsError { variable, reason: reason.to_string() }
}

/// The certificate of the service, with the files that it comes from.
pub struct TlsIdentity {
    /// The certificate and the certificates of its authorities, in PEM.
    certificate: PathBuf,
    /// The private key, in PEM.
    key: PathBuf,
    /// The content of the files that serves.
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
    pub fn read(certificate: PathBuf, key: PathBuf) -> Result<Self, TlsError> {
        let content = Content::read(&certificate, &key)?;
        let current = Arc::new(Current(ArcSwap::from_pointee(content.parse()?)));
        Ok(Self { certificate, key, content, current })
    }

    /// Returns the acceptor of connections: TLS 1.2 and 1.3, for HTTP/2 and HTTP/1.1.
    pub(super) fn acceptor(&self) -> Result<TlsAcceptor, rustls::Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            // Asked at each handshake, so that a new certificate serves without another acceptor.
            .with_cert_resolver(Arc::clone(&self.current) as Arc<dyn ResolvesServerCert>);
        // In the order of preference.
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reads the files again and again, and at once for each item of `asked`. A changed certificate serves new connections. If
    /// the files do not serve, the certificate before them stays.
    pub async fn keep_up(mut self, asked: impl Stream<Item = ()>) {
        let mut asked = pin!(asked);
        let mut last = None;
        loop {
            tokio::select! {
                () = tokio::time::sleep(RELOAD_INTERVAL) => {}
                Some(()) = asked.next() => {
                    tracing::info!("reading the TLS certificate again, because of a signal");
                    // Whoever asks for it wants to know whether the files serve.
                    last = None;
                }
            }
            let reloaded = run_apart(move || {
                let outcome = self.reload();
                (self, outcome)
            });
            // The thread is gone only when the process stops.
            let Ok((same, outcome)) = reloaded.await else { return };
            self = same;
            let is_new = replace_fault(&mut last, outcome.as_ref().err());
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

    /// Reads the files again. Returns whether they changed.
    fn reload(&mut self) -> Result<bool, TlsError> {
        let content = Content::read(&self.certificate, &self.key)?;
        if content == self.content {
            return Ok(false);
        }
        // Content that does not parse is not kept: the next look tries it again.
        let parsed = content.parse()?;
        self.content = content;
        self.current.0.store(Arc::new(parsed));
        Ok(true)
    }
}

/// Replaces the last fault of the files by `next`. Returns whether that is a new one: a file that is missing for hours takes
/// one line of the log.
fn replace_fault(last: &mut Option<String>, next: Option<&TlsError>) -> bool {
    let next = next.map(ToString::to_string);
    let is_new = next.is_some() && next != *last;
    *last = next;
    is_new
}

/// Says why there is no private key in the text of a file.
fn fault_of_key(text: &[u8], error: &pem::Error) -> String {
    // PKCS#8 says it in its first line, the older forms in a header.
    if [&b"BEGIN ENCRYPTED"[..], b"4,ENCRYPTED"].iter().any(|mark| contains(text, mark)) {
        return "its private key is encrypted: give one without a passphrase, as `openssl pkey -in FILE` prints it"
            .to_owned();
    }
    match error {
        pem::Error::NoItemsFound => "the file has no private key".to_owned(),
        error => error.to_string(),
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The content of the files.
#[derive(PartialEq)]
struct Content {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Content {
    fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        Ok(Self { certificate: read_file(certificate, CERTIFICATE)?, key: read_file(key, KEY)? })
    }

    fn parse(&self) -> Result<CertifiedKey, TlsError> {
        let (no_certificate, no_key) = (unusable(CERTIFICATE), unusable(KEY));
        let certificates = CertificateDer::pem_slice_iter(&self.certificate)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| no_certificate(&error))?;
        if certificates.is_empty() {
            return Err(no_certificate(&"the file has none"));
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key)
            .map_err(|error| no_key(&fault_of_key(&self.key, &error)))?;
        let provider: CryptoProvider = aws_lc_rs::default_provider();
        CertifiedKey::from_der(certificates, key, &provider).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                no_key(&"it is not the key of the certificate in TLS_CERT_FILE")
            }
            error => no_key(&error),
        })
    }
}

fn read_file(path: &Path, variable: &'static str) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| unusable(variable)(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_lasts_is_new_once() {
        let missing = || Some(unusable(KEY)(&"the file is missing"));
        let bad = || Some(unusable(CERTIFICATE)(&"the file is bad"));
        let mut last = None;
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
            assert_eq!(replace_fault(&mut last, fault.as_ref()), is_new, "{fault:?}");
        }
    }
}
