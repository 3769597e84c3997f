//! URLs of PostgreSQL with several hosts, as libpq reads them. sqlx connects to one host only.

use std::borrow::Cow;
use std::net::IpAddr;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use url::form_urlencoded;

use crate::transactions::error::OpenError;

/// The form of a URL.
const FORM: &str = "`postgres://<user>@<host>/<database>`, where `<host>` may be several with commas in between, \
                    such as `db1,db2:5433`";
/// Most hosts of a URL. A look for the primary connects to all of them at the same time.
const MAX_HOSTS: usize = 16;

/// The text in the place of what may be secret.
const HIDDEN: &str = "***";

/// The values of `sslmode`, in lower case.
const TLS_MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
/// The parameters that a URL may have, beside `options[…]`. The driver leaves out what it does not know, so that a misspelt
/// `sslmode` would connect without TLS.
const PARAMETERS: [&str; 19] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
    "target_session_attrs",
];

/// The servers that a URL allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The primary.
    Primary,
    /// Any server.
    Any,
}

impl Target {
    /// Returns the values of `target_session_attrs` that this target allows.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Primary => &["read-write", "primary"],
            Self::Any => &["any"],
        }
    }
}

/// A server of a URL.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// The host and the port, for messages.
    pub(crate) name: String,
    pub(crate) options: PgConnectOptions,
}

/// The parts of a URL.
struct Parts<'u> {
    scheme: &'u str,
    /// The user and the password with their `@`, or nothing.
    credentials: &'u str,
    hosts: Vec<&'u str>,
    /// The path with its `/`, or nothing.
    path: &'u str,
    /// Names and values, decoded.
    parameters: Vec<(Cow<'u, str>, Cow<'u, str>)>,
}

/// Returns whether the value of the parameter `name` of a URL is a secret.
pub fn is_secret_parameter(name: &str) -> bool {
    name.to_lowercase().contains("pass")
}

/// Reads the hosts of `url`, in its order.
///
/// # Errors
/// [`OpenError::Url`]
pub(crate) fn parse(url: &str, target: Target) -> Result<Vec<Host>, OpenError> {
    // First, because the other messages show parts of the URL.
    refuse_open_password(url)?;
    let parts = Parts::parse(url).ok_or_else(form)?;
    parts.check_target(target)?;
    parts.check_parameters()?;
    let hosts: Vec<Host> =
        parts.urls()?.iter().map(|url| host(url)).collect::<Result<_, OpenError>>()?;
    match hosts.len() {
        1..=MAX_HOSTS => Ok(hosts),
        count => Err(OpenError::Url(format!("1 to {MAX_HOSTS} hosts, but there are {count}"))),
    }
}

/// Refuses a URL that does not say where its password ends: the rest of it would be taken for a host, and looked up, or for a
/// parameter, and logged.
fn refuse_open_password(url: &str) -> Result<(), OpenError> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let behind_host = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    let query = behind_host.split_once('?').map_or("", |(_, query)| query);
    let mut parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    if behind_host.contains(['@', '#']) || parameters.any(|parameter| !parameter.contains('=')) {
        return Err(OpenError::Url(format!(
            "{FORM}, in which `@`, `/`, `?`, `#` and `&` of a name or a password are written as `%40`, `%2F`, `%3F`, `%23` \
             and `%26`"
        )));
    }
    Ok(())
}

fn form() -> OpenError {
    OpenError::Url(FORM.to_owned())
}

/// Reads a URL with one host.
fn host(url: &str) -> Result<Host, OpenError> {
    let options = PgConnectOptions::from_str(url).map_err(|_| form())?;
    // A host that is a path is the directory of a socket.
    let place = options
        .get_socket()
        .map_or_else(|| options.get_host().to_owned(), |directory| directory.display().to_string());
    Ok(Host { name: format!("{place}:{}", options.get_port()), options })
}

impl<'u> Parts<'u> {
    fn parse(url: &'u str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // The last `@` ends the credentials: a password may contain one that is not encoded.
        let hosts_at = authority.rfind('@').map_or(0, |at| at + 1);
        let (credentials, hosts) = authority.split_at(hosts_at);
        Some(Self {
            scheme,
            credentials,
            hosts: hosts.split(',').collect(),
            path,
            parameters: form_urlencoded::parse(query.as_bytes()).collect(),
        })
    }

    fn check_target(&self, target: Target) -> Result<(), OpenError> {
        let wanted = self.parameter("target_session_attrs").unwrap_or_else(|| target.names()[0]);
        if target.names().contains(&wanted) {
            return Ok(());
        }
        Err(OpenError::Url(format!(
            "`target_session_attrs={}` or none, but it is `{wanted}`",
            target.names()[0]
        )))
    }

    /// Refuses a parameter that the driver does not know, and a value that it cannot read. No message has what may be a part of
    /// a secret, as everything behind one may be.
    fn check_parameters(&self) -> Result<(), OpenError> {
        let mut is_behind_secret = false;
        for (name, value) in &self.parameters {
            let expected = match &**name {
                "sslmode" | "ssl-mode" if !TLS_MODES.contains(&&*value.to_ascii_lowercase()) => {
                    format!("one of `{}`", TLS_MODES.join("`, `"))
                }
                "statement-cache-capacity" if value.parse::<usize>().is_err() => {
                    "a number".to_owned()
                }
                "port" if list(value).iter().any(|port| port.parse::<u16>().is_err()) => {
                    "ports from 0 to 65535".to_owned()
                }
                "hostaddr" if value.parse::<IpAddr>().is_err() => "an address".to_owned(),
                name if PARAMETERS.contains(&name) || name.starts_with("options[") => {
                    is_behind_secret |= is_secret_parameter(name);
                    continue;
                }
                name => {
                    let known = PARAMETERS.join("`, `");
                    let name = if is_behind_secret { HIDDEN } else { name };
                    return Err(OpenError::Url(format!(
                        "`{known}` as parameters of the URL, but there is `{name}`"
                    )));
                }
            };
            let value = if is_behind_secret { HIDDEN } else { value };
            let expected = format!("{expected} as `{name}` of the URL, but it is `{value}`");
            return Err(OpenError::Url(expected));
        }
        Ok(())
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        // The driver applies parameters one after the other, so that the last of equal names counts.
        self.parameters.iter().rev().find(|parameter| parameter.0 == name).map(|found| &*found.1)
    }

    /// Returns a URL for each host.
    fn urls(&self) -> Result<Vec<String>, OpenError> {
        let named = self.parameter("host").map(list);
        let hosts = named.as_ref().map_or(self.hosts.len(), Vec::len);
        let ports = self.parameter("port").map(list).unwrap_or_default();
        if ports.len() > 1 && ports.len() != hosts {
            let expected =
                format!("a port for each of the {hosts} hosts, but there are {}", ports.len());
            return Err(OpenError::Url(expected));
        }
        let urls = (0..hosts).map(|index| {
            // Parameters override the authority.
            let host = named.as_ref().and_then(|named| named.get(index)).copied();
            // With more hosts in the parameter than in the authority, the first one of the authority lends its port.
            let at = self.hosts.get(index).or(self.hosts.first()).copied().unwrap_or_default();
            if hosts > 1 && host.unwrap_or(at).is_empty() {
                return Err(form());
            }
            // A single port is the port of every host, as in libpq.
            let port = ports.get(index).or(ports.first()).copied();
            Ok(self.url(at, host, port))
        });
        urls.collect()
    }

    fn url(&self, at: &str, host: Option<&str>, port: Option<&str>) -> String {
        // The parser refuses a URL with a user and no host, which libpq allows.
        let at = if at.is_empty() && !self.credentials.is_empty() { "localhost" } else { at };
        let Self { scheme, credentials, path, .. } = self;
        // Hosts and ports are written anew, and the driver would log a warning about `target_session_attrs`.
        let others = self.parameters.iter().map(|(name, value)| (&**name, &**value));
        let others =
            others.filter(|(name, _)| !["host", "port", "target_session_attrs"].contains(name));
        let own =
            host.map(|host| ("host", host)).into_iter().chain(port.map(|port| ("port", port)));
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(others.chain(own));
        format!("{scheme}://{credentials}{at}{path}?{}", query.finish())
    }
}

/// Splits the value of a parameter at its commas.
fn list(value: &str) -> Vec<&str> {
    value.split(',').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(url: &str) -> Result<Vec<String>, String> {
        let hosts = parse(url, Target::Primary).map_err(|error| error.to_string())?;
        Ok(hosts.into_iter().map(|host| host.name).collect())
    }

    #[test]
    fn every_host_gets_its_port_and_all_share_the_rest() {
        for (url, expected) in [
            ("postgres://ann@db/acme", &["db:5432"][..]),
            ("postgresql://ann:x@db1,db2:5433/acme", &["db1:5432", "db2:5433"]),
            ("postgres://[::1]:1,10.0.0.1:2/a", &["[::1]:1", "10.0.0.1:2"]),
            (
                "postgres://ann@a,b,c/acme?target_session_attrs=read-write",
                &["a:5432", "b:5432", "c:5432"],
            ),
            ("postgres://ann@a,b/acme?target_session_attrs=primary&port=7", &["a:7", "b:7"]),
            ("postgres://ann@a,b/acme?port=7,8", &["a:7", "b:8"]),
            ("postgres://ann@/acme?host=/run/a,/run/b&port=1,2", &["/run/a:1", "/run/b:2"]),
            (
                "postgres://ann@localhost:5/acme?host=%2Frun%2Fa%2C%2Frun%2Fb",
                &["/run/a:5", "/run/b:5"],
            ),
        ] {
            assert_eq!(names(url).expect(url), expected, "{url}");
        }
        let url = "postgres://ann:hunt%40er@a,b/acme?application_name=p&sslmode=require";
        for host in parse(url, Target::Primary).expect("a URL") {
            let options = host.options;
            assert_eq!((options.get_username(), options.get_database()), ("ann", Some("acme")));
            assert_eq!(options.get_application_name(), Some("p"));
        }
    }

    #[test]
    fn names_and_values_may_be_encoded_and_tls_modes_have_no_case() {
        let url = "postgres://ann@a/acme?options%5Bsearch_path%5D=x%26y&ssl%6Dode=Require\
            &application_name=p%26q&p%61ssword=1%262";
        let hosts = parse(url, Target::Primary).expect("a URL");
        let options = &hosts[0].options;
        assert_eq!(options.get_options(), Some("-c search_path=x&y"));
        assert_eq!(options.get_application_name(), Some("p&q"));
        assert!(matches!(options.get_ssl_mode(), sqlx::postgres::PgSslMode::Require));
    }

    #[test]
    fn nothing_behind_a_password_is_shown() {
        for rest in ["ter=2", "port=ter", "hostaddr=ter"] {
            let url = format!("postgres://db/acme?user=ann&password=hun&{rest}");
            let error = names(&url).expect_err(&url);
            assert!(error.contains("`***`") && !error.contains("ter="), "{error}");
            assert!(!error.contains("`ter"), "{error}");
        }
    }

    #[test]
    fn a_wrong_url_says_what_is_expected() {
        let many = format!("postgres://{}/acme", vec!["db"; 17].join(","));
        for (url, expected) in [
            ("postgres://ann@a,,b/acme", "with commas in between"),
            ("postgres://ann@a,b:x/acme", "with commas in between"),
            ("postgres://ann@a,b/acme?sslmode=maybe", "as `sslmode` of the URL, but it is `maybe`"),
            ("postgres://ann@a/acme?sslmode=", "one of `disable`, `allow`, `prefer`, `require`"),
            ("postgres://ann@a/acme?port=x", "ports from 0 to 65535 as `port`"),
            ("postgres://ann@a/acme?hostaddr=db", "an address as `hostaddr`"),
            ("postgres://ann@a/acme?statement-cache-capacity=many", "a number as"),
            ("postgres://ann@a/acme?sslmod=require", "but there is `sslmod`"),
            (
                "postgres://ann@a,b/acme?port=1,2,3",
                "a port for each of the 2 hosts, but there are 3",
            ),
            (
                "postgres://ann@a,b/acme?target_session_attrs=any",
                "`target_session_attrs=read-write` or none, but it is `any`",
            ),
            ("postgres:ann", "with commas in between"),
            // The rest of a password would be a host, a path or a parameter.
            ("postgres://ann:p@ss/word@db/acme", "`%40`"),
            ("postgres://ann:1/2@db/acme", "`%2F`"),
            ("postgres://ann:1?2@db/acme", "`%3F`"),
            ("postgres://ann:1#2@db/acme", "`%23`"),
            ("postgres://db/acme?user=ann&password=1#2", "`%23`"),
            ("postgres://db/acme?user=ann&password=1&2", "`%26`"),
            (&many, "1 to 16 hosts, but there are 17"),
        ] {
            let error = names(url).expect_err(url);
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("ss/word"), "{error}");
        }
        assert_eq!(names("postgres://ann:p@ss@db/acme").expect("one `@` ends it"), ["db:5432"]);
        let standby = "postgres://ann@a/acme?target_session_attrs=read-write";
        let error = parse(standby, Target::Any).expect_err("any server reads").to_string();
        assert!(error.contains("`target_session_attrs=any`"), "{error}");
    }
}
