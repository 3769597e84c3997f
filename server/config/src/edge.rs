//! The settings of listeners and connections.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use portcullis_auth::MAX_TOKEN;
use portcullis_engine::resolver_contract::MODULE_BYTES;
use url::{Host, Url};

use crate::error::ConfigError;
use crate::units::{SIZE_UNITS, parse_size};
use crate::variables::Variables;

/// Least memory for request bodies, in bytes: two uploads of 17 MiB.
const LEAST_BODY_MEMORY: u64 = 2 * (MODULE_BYTES as u64 + (1 << 20));

/// Least limit of the body of an apply, in bytes, as for other bodies. The greatest one is what a tenant may always use.
const LEAST_APPLY_BODY: u64 = 1 << 20;

/// The limits that the operator may set for the bytes of a token. Each connection may have a header with one in memory.
const TOKEN_BYTES: RangeInclusive<usize> = 1 << 10..=64 << 10;

/// The settings of listeners and connections.
#[derive(Clone, Debug)]
pub struct EdgeConfig {
    /// The address for the operator's routes. Without it they are on the address of all routes.
    pub admin_listen: Option<SocketAddr>,
    pub tls: Option<TlsConfig>,
    /// The address by which clients reach the service, perhaps with a path, without a slash at the end.
    pub public_url: Option<String>,
    /// Most bytes of a token. The bound on the header of a request follows.
    pub max_token: usize,
    /// Most bytes of request bodies in memory.
    pub body_memory: u64,
    /// Most bytes of the body of an apply.
    pub apply_body: u64,
    /// Most connections; derived from the number of file descriptors without it.
    pub max_connections: Option<usize>,
    /// Longest time of a connection without a request.
    pub idle_timeout: Duration,
    /// Longest time until a client takes the next piece of an answer.
    pub write_timeout: Duration,
    /// Time from the signal to stop, for which requests are served although the readiness probe fails.
    pub shutdown_delay: Duration,
}

/// The files for TLS, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsConfig {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Default for EdgeConfig {
    fn default() -> Self {
        Self {
            admin_listen: None,
            tls: None,
            public_url: None,
            max_token: MAX_TOKEN,
            body_memory: 128 << 20,
            // 10,000 policies of 500 bytes, and modules of a usual size in base64.
            apply_body: 8 << 20,
            max_connections: None,
            // Longer than the pauses of most clients and proxies.
            idle_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            // Only a load balancer that asks for readiness needs it.
            shutdown_delay: Duration::ZERO,
        }
    }
}

impl Variables {
    /// Returns the settings of listeners and connections.
    pub(crate) fn edge(&self) -> Result<EdgeConfig, ConfigError> {
        let default = EdgeConfig::default();
        let body_memory = self.size_from("REQUEST_BODY_MEMORY", LEAST_BODY_MEMORY)?;
        Ok(EdgeConfig {
            admin_listen: self.admin_listen()?,
            tls: self.tls()?,
            public_url: self.public_url()?,
            max_token: self.max_token()?.unwrap_or(default.max_token),
            body_memory: body_memory.unwrap_or(default.body_memory),
            apply_body: self.apply_body()?.unwrap_or(default.apply_body),
            max_connections: self.positive("MAX_CONNECTIONS")?,
            idle_timeout: self
                .positive_duration("CONNECTION_IDLE_TIMEOUT", default.idle_timeout)?,
            write_timeout: self
                .positive_duration("CONNECTION_WRITE_TIMEOUT", default.write_timeout)?,
            shutdown_delay: self.duration("SHUTDOWN_DELAY", default.shutdown_delay)?,
        })
    }

    pub(crate) fn public_url(&self) -> Result<Option<String>, ConfigError> {
        let expected = "an https URL of a host and perhaps a path, such as `https://example.com/authz`, without user, query \
                        and fragment; http is accepted for loopback hosts";
        self.parsed("PUBLIC_URL", expected, |text| {
            let url = Url::parse(text).ok()?;
            let is_loopback = match url.host()? {
                Host::Domain(name) => name == "localhost",
                Host::Ipv4(address) => address.is_loopback(),
                Host::Ipv6(address) => address.is_loopback(),
            };
            let is_secure = url.scheme() == "https" || (url.scheme() == "http" && is_loopback);
            let has_more = !url.username().is_empty()
                || url.password().is_some()
                || url.query().is_some()
                || url.fragment().is_some();
            // `Url` writes a slash behind a host without a path.
            (is_secure && !has_more).then(|| url.as_str().trim_end_matches('/').to_owned())
        })
    }

    fn max_token(&self) -> Result<Option<usize>, ConfigError> {
        let (least, most) = (TOKEN_BYTES.start() >> 10, TOKEN_BYTES.end() >> 10);
        let size = format!("a size from `{least}KiB` to `{most}KiB` {SIZE_UNITS}");
        self.parsed("MAX_TOKEN_BYTES", &size, |text| {
            let bytes = usize::try_from(parse_size(text)?).ok()?;
            TOKEN_BYTES.contains(&bytes).then_some(bytes)
        })
    }

    fn apply_body(&self) -> Result<Option<u64>, ConfigError> {
        let (least, most) = (LEAST_APPLY_BODY, LEAST_BODY_MEMORY);
        let size = format!("a size from `{}MiB` to `{}MiB` {SIZE_UNITS}", least >> 20, most >> 20);
        self.parsed("APPLY_BODY_BYTES", &size, |text| {
            parse_size(text).filter(|bytes| (least..=most).contains(bytes))
        })
    }

    fn tls(&self) -> Result<Option<TlsConfig>, ConfigError> {
        let expected = "a readable file in PEM";
        let certificate = self.readable("TLS_CERT_FILE", expected)?;
        let key = self.readable("TLS_KEY_FILE", expected)?;
        let (name, other) = match (certificate, key) {
            (Some(certificate), Some(key)) => return Ok(Some(TlsConfig { certificate, key })),
            (None, None) => return Ok(None),
            (Some(_), None) => ("TLS_KEY_FILE", "TLS_CERT_FILE"),
            (None, Some(_)) => ("TLS_CERT_FILE", "TLS_KEY_FILE"),
        };
        Err(ConfigError::new(name, format!("{expected} beside {other}, but it is not set")))
    }

    /// Returns the path of a file that can be opened.
    fn readable(&self, name: &'static str, expected: &str) -> Result<Option<PathBuf>, ConfigError> {
        let Some(path) = self.get(name) else { return Ok(None) };
        let opened = std::fs::File::open(path);
        opened.map_err(|error| ConfigError::unreadable_file(name, expected, path, &error))?;
        Ok(Some(PathBuf::from(path)))
    }

    /// Returns the address of the operator's listener.
    fn admin_listen(&self) -> Result<Option<SocketAddr>, ConfigError> {
        let address = "an address such as `127.0.0.1:9090`";
        let admin = self.parsed("ADMIN_LISTEN_ADDR", address, |text| text.parse().ok())?;
        let public = self.listen()?;
        match admin {
            Some(admin) if take_one_port(admin, public) => Err(ConfigError::new(
                "ADMIN_LISTEN_ADDR",
                format!("another address than LISTEN_ADDR, which is `{public}`"),
            )
            .not(admin.to_string())),
            admin => Ok(admin),
        }
    }
}

/// Returns whether two listeners cannot have these addresses at the same time.
fn take_one_port(one: SocketAddr, other: SocketAddr) -> bool {
    // The system chooses a free port for each address with port 0.
    one.port() != 0 && one.port() == other.port() && (covers(one, other) || covers(other, one))
}

/// Returns whether a listener on `all` takes the connections to the address of `one`.
fn covers(all: SocketAddr, one: SocketAddr) -> bool {
    all.ip() == one.ip() || (all.ip().is_unspecified() && all.is_ipv4() == one.is_ipv4())
}
