//! The manifest of a resolver: what the operator says of it. The same in a request, in a file of the command
//! line, and in `RESOLVERS_DIR`.

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_engine::fields::{Fields, list, string};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::resolver_contract::{Limits, MEMORY_BYTES, NAME_BYTES, TIMEOUT_MAX};
use portcullis_engine::{Invalid, Json};
use serde::{Deserialize, Serialize};
use url::Url;

use super::endpoint::{Endpoint, Fault};
use super::secrets::{SecretNames, Secrets};
use super::stored;
use crate::egress_rules::EgressRules;
use crate::short;

/// Longest description, in characters.
pub(super) const MAX_DESCRIPTION: usize = 4_096;
/// Keys of `config`, and secrets.
pub(super) const MAX_ENTRIES: usize = 64;
/// Endpoints that are spelled out.
pub(super) const MAX_ENDPOINTS: usize = 16;
/// Endpoints that are named by their host.
pub(super) const MAX_HOSTS: usize = 32;
/// Longest value of `config`, and longest secret, in bytes: a list of networks fits.
pub(super) const MAX_VALUE: usize = 16 << 10;
/// Longest name of a namespace, in bytes.
pub(super) const MAX_NAMESPACE: usize = 63;
/// A day: what is older than that was not looked up for this check in any sense.
pub(super) const MAX_AGE_MS: u32 = 86_400_000;
/// Kinds of attributes that no resolver answers.
const RESERVED: [&str; 4] = ["user", "resource", "request", "token"];
const MIB: usize = 1 << 20;

/// A manifest: with its [`Secrets`], or with their names alone, as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest<S = Secrets> {
    /// The first segment of its attributes' paths.
    pub namespace: String,
    pub description: Option<String>,
    /// What the guest reads.
    pub config: BTreeMap<String, String>,
    /// What only the host reads, for the headers of endpoints.
    pub secrets: S,
    /// Where the guest may send requests, by the name that it uses.
    pub endpoints: BTreeMap<String, Endpoint>,
    /// Endpoints whose name is their host.
    pub allowed_hosts: Vec<String>,
    #[serde(with = "stored::limits")]
    pub limits: Limits,
    /// Caps every time to live that the module gives; 0 is no caching.
    pub cache_ttl_ms: Option<u32>,
    /// How long after its time to live the last good value may serve while the source is down.
    pub stale_if_error_ms: u32,
}

impl Manifest {
    /// Reads a manifest; its endpoints must be ones that the egress `rules` allow.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, rules: &EgressRules) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let manifest = Self::read(json, &Place::root(), &mut problems, rules);
        problems.finish(manifest)
    }

    /// Reads a manifest that stands at `at`.
    pub fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        rules: &EgressRules,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let namespace = fields.required("namespace", namespace);
        let description = fields.optional("description", short(MAX_DESCRIPTION));
        let config = fields.optional("config", config);
        let secrets = fields.optional("secrets", Secrets::read);
        let endpoints = fields.optional("endpoints", endpoints(rules));
        let allowed_hosts = fields.optional("allowed_hosts", hosts(rules));
        let limits = fields.optional("limits", limits);
        let cache_ttl_ms = fields.optional("cache_ttl_ms", milliseconds(MAX_AGE_MS));
        let stale_if_error_ms = fields.optional("stale_if_error_ms", milliseconds(MAX_AGE_MS));
        fields.close();
        let manifest = Self {
            namespace: namespace?,
            description,
            config: config.unwrap_or_default(),
            secrets: secrets.unwrap_or_default(),
            endpoints: endpoints.unwrap_or_default(),
            allowed_hosts: allowed_hosts.unwrap_or_default(),
            limits: limits.unwrap_or_default(),
            cache_ttl_ms,
            stale_if_error_ms: stale_if_error_ms.unwrap_or_default(),
        };
        manifest.check(at, problems).then_some(manifest)
    }

    /// Whether the parts fit one another; notes what does not.
    pub(super) fn check(&self, at: &Place<'_>, problems: &mut Problems) -> bool {
        let mut fits = true;
        let endpoints_at = at.key("endpoints");
        for (name, endpoint) in &self.endpoints {
            let (at, mut note) = (endpoints_at.key(name), |at: &Place<'_>, expected: String| {
                problems.expected(at, expected);
                fits = false;
            });
            if self.allowed_hosts.contains(name) {
                note(&at, "a name that is not among `allowed_hosts`".to_owned());
            }
            for (header, fault) in endpoint.faults(&self.secrets) {
                match fault {
                    Fault::Template(expected) => note(&at.key("headers").key(header), expected),
                    Fault::Secret(name) => note(
                        &at.key("headers").key(header),
                        format!("a value that a header can have, but the secret `{name}` is none"),
                    ),
                }
            }
        }
        fits
    }

    /// As the store keeps it and the API shows it.
    pub fn without_secrets(&self) -> Manifest<SecretNames> {
        self.clone().with(SecretNames::of(&self.secrets))
    }

    /// Every endpoint, those of `allowed_hosts` included.
    pub fn every_endpoint(&self) -> BTreeMap<String, Endpoint> {
        let hosts = self.allowed_hosts.iter();
        let hosts = hosts.filter_map(|host| Some((host.clone(), Endpoint::of_host(host)?)));
        self.endpoints.clone().into_iter().chain(hosts).collect()
    }
}

impl Manifest<SecretNames> {
    /// With the secrets, which are stored apart from it.
    pub fn with_secrets(self, secrets: Secrets) -> Manifest {
        self.with(secrets)
    }
}

impl<S> Manifest<S> {
    fn with<T>(self, secrets: T) -> Manifest<T> {
        Manifest {
            namespace: self.namespace,
            description: self.description,
            config: self.config,
            secrets,
            endpoints: self.endpoints,
            allowed_hosts: self.allowed_hosts,
            limits: self.limits,
            cache_ttl_ms: self.cache_ttl_ms,
            stale_if_error_ms: self.stale_if_error_ms,
        }
    }
}

/// A namespace that a resolver can own.
pub(super) fn namespace(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<String> {
    let text = string(json, at, problems)?;
    let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    let sound = text.len() <= MAX_NAMESPACE
        && text.bytes().all(plain)
        && text.starts_with(|c: char| c.is_ascii_lowercase());
    if !sound || RESERVED.contains(&text) {
        problems.expected(
            at,
            format!(
                "1 to {MAX_NAMESPACE} lower-case letters, digits and `_`, beginning with a letter, and none of \
                 `user`, `resource`, `request`, `token`"
            ),
        );
        return None;
    }
    Some(text.to_owned())
}

pub(super) fn config(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<BTreeMap<String, String>> {
    entries(MAX_ENTRIES, named, value)(json, at, problems)
}

pub(super) fn endpoints(
    rules: &EgressRules,
) -> impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<BTreeMap<String, Endpoint>> {
    move |json, at, problems| {
        let read = |json: &Json<'_>, at: &Place<'_>, problems: &mut Problems| {
            Endpoint::read(json, at, problems, rules)
        };
        entries(MAX_ENDPOINTS, named, read)(json, at, problems)
    }
}

/// Hosts, each once.
pub(super) fn hosts(
    rules: &EgressRules,
) -> impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<Vec<String>> {
    let host = |json: &Json<'_>, at: &Place<'_>, problems: &mut Problems| {
        let host = string(json, at, problems)?;
        let fault = match Endpoint::of_host(host) {
            None => Some(
                "the name of a host in lower case, with a port if it is not 443, such as `api.example.com`"
                    .to_owned(),
            ),
            Some(endpoint) => rules.check_url(&endpoint.url).err(),
        };
        match fault {
            None => Some(host.to_owned()),
            Some(expected) => {
                problems.expected(at, expected);
                None
            }
        }
    };
    move |json, at, problems| {
        let hosts = list(host)(json, at, problems)?;
        let repeated = (1..hosts.len()).find(|&index| hosts[..index].contains(&hosts[index]));
        if let Some(index) = repeated {
            problems.expected(&at.index(index), "each host once");
            return None;
        }
        if hosts.len() > MAX_HOSTS {
            problems.expected(at, format!("at most {MAX_HOSTS} hosts"));
            return None;
        }
        Some(hosts)
    }
}

pub(super) fn limits(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Limits> {
    let most_ms = u32::try_from(TIMEOUT_MAX.as_millis()).unwrap_or(u32::MAX);
    let most_mib = (MEMORY_BYTES / MIB) as u32;
    let default = Limits::default();
    let mut fields = Fields::open(json, at, problems)?;
    let timeout = fields.optional("timeout_ms", integer(1, most_ms, "milliseconds"));
    let memory = fields.optional("memory_mib", integer(1, most_mib, "MiB"));
    fields.close();
    Some(Limits {
        timeout: timeout.map_or(default.timeout, |ms| Duration::from_millis(ms.into())),
        memory_bytes: memory.map_or(default.memory_bytes, |mib| mib as usize * MIB),
    })
}

/// A time of at most `most` milliseconds.
pub(super) fn milliseconds(
    most: u32,
) -> impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<u32> {
    integer(0, most, "milliseconds")
}

fn integer(
    least: u32,
    most: u32,
    unit: &'static str,
) -> impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<u32> {
    move |json, at, problems| {
        let number = match json {
            Json::Number(number) => number.as_i32().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            problems.expected(at, format!("an integer from {least} to {most}, in {unit}"));
        }
        number
    }
}

/// An object with at most `max` members, whose names and values are judged one by one.
pub(super) fn entries<T>(
    max: usize,
    name_fault: impl Fn(&str) -> Option<String>,
    read: impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<T>,
) -> impl Fn(&Json<'_>, &Place<'_>, &mut Problems) -> Option<BTreeMap<String, T>> {
    move |json, at, problems| {
        let Some(members) = json.as_object() else {
            problems.expected(at, format!("an object, not {}", json.kind()));
            return None;
        };
        if members.len() > max {
            problems.expected(at, format!("at most {max} members"));
            return None;
        }
        let mut entries = BTreeMap::new();
        for (name, value) in members {
            let at = at.key(name);
            match name_fault(name) {
                Some(expected) => problems.expected(&at, expected),
                None => {
                    let value = read(value, &at, problems);
                    entries.extend(value.map(|value| (name.to_string(), value)));
                }
            }
        }
        (entries.len() == members.len()).then_some(entries)
    }
}

/// What is wrong with a name that a module could declare.
fn named(name: &str) -> Option<String> {
    let sound = (1..=NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
    (!sound).then(|| format!("a name of 1 to {NAME_BYTES} bytes without control characters"))
}

/// A string that is not too long to be copied for every call.
pub(super) fn value(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    let text = string(json, at, problems)?;
    if text.len() > MAX_VALUE {
        problems.expected(at, format!("at most {MAX_VALUE} bytes"));
        return None;
    }
    Some(text.to_owned())
}

/// A base URL, to which a guest appends paths and queries.
pub(super) fn base_url<'j>(
    rules: &EgressRules,
) -> impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<Url> {
    let read = crate::url(rules);
    move |json, at, problems| {
        let url = Url::parse(&read(json, at, problems)?).ok()?;
        if url.query().is_some() || url.fragment().is_some() {
            problems.expected(at, "a URL without query and fragment");
            return None;
        }
        Some(url)
    }
}
