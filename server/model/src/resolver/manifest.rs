//! The manifest of a resolver: what the operator says of it. The same in a request, in a file of the command
//! line, and in `RESOLVERS_DIR`.

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_engine::fields::string;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::resolver_contract::{Limits, MEMORY_BYTES, NAME_BYTES, TIMEOUT_MAX};
use portcullis_engine::{Invalid, Json};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::openapi::schema::Type;

use super::endpoint::{Endpoint, Fault};
use super::fields::{DECLARED, MAX_ENTRIES, value};
use super::secrets::{SecretNames, Secrets};
use super::stored;
use crate::egress_rules::EgressRules;
use crate::fields::{at_most, integer, map, parsed, short};
use crate::input::{self, Field, Members, derived, field, object};
use crate::{document, schema};

/// Longest description, in characters.
pub(super) const MAX_DESCRIPTION: usize = 4_096;
/// Endpoints that are spelled out.
pub(super) const MAX_ENDPOINTS: usize = 16;
/// Endpoints that are named by their host.
const MAX_HOSTS: usize = 32;
/// Longest name of a namespace, in bytes.
const MAX_NAMESPACE: usize = 63;
/// A day: what is older than that was not looked up for this check in any sense.
const MAX_AGE_MS: i32 = 86_400_000;
/// Kinds of attributes that no resolver answers, and words of conditions.
const RESERVED: [&str; 8] =
    ["user", "resource", "request", "token", "action", "context", "item", "condition"];
const MIB: usize = 1 << 20;
const HOST: &str = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$";
/// A host in a file: a name or an address, with a port if it is not 443.
const ANY_HOST: &str = r"^[^A-Z/?#@\\\s\x00]+$";

/// A manifest: with its [`Secrets`], or with their names alone, as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest<S = Secrets> {
    /// The first segment of its attributes' paths.
    pub namespace: String,
    pub description: Option<String>,
    /// The settings that the guest reads.
    pub config: BTreeMap<String, String>,
    /// The secrets that only the host reads, for the headers of endpoints.
    pub secrets: S,
    /// The targets of the guest's requests, by the names that it uses.
    pub endpoints: BTreeMap<String, Endpoint>,
    /// Endpoints whose name is their host.
    pub allowed_hosts: Vec<String>,
    #[serde(with = "stored::limits")]
    pub limits: Limits,
    /// Caps every time to live that the module gives; 0 turns caching off.
    pub cache_ttl_ms: Option<u32>,
    /// The time, in milliseconds after the time to live, in which the last good value may serve while the source is
    /// down.
    pub stale_if_error_ms: u32,
}

impl Manifest {
    /// Reads a manifest; its endpoints must be ones that the egress `rules` allow.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, rules: &EgressRules) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let manifest = Self::field(rules).read(json, &Place::root(), &mut problems);
        problems.finish(manifest)
    }

    /// A manifest; its endpoints must be ones that the egress `rules` allow.
    pub fn field<'j>(rules: &EgressRules) -> impl Field<'j, Value = Self> {
        derived(
            object(|members| Self::declare(members, rules)),
            |manifest, json, at, problems| {
                let manifest = manifest.read(json, at, problems)?;
                // The parts are compared only once each of them is valid.
                manifest.check(at, problems).then_some(manifest)
            },
            Field::schema,
        )
    }

    pub(super) fn declare(members: &mut Members<'_, '_>, rules: &EgressRules) -> Option<Self> {
        let namespace = members.required("namespace", namespace());
        let description =
            short(MAX_DESCRIPTION).about("A sentence for people: what the attributes say");
        let description = members.optional("description", description);
        let config = members.optional("config", config());
        let secrets = members.optional("secrets", Secrets::field());
        let endpoints = members.optional("endpoints", endpoints(rules));
        let allowed_hosts = members.optional("allowed_hosts", hosts(rules));
        let limits = members.optional("limits", limits());
        let cache_ttl_ms = members.optional("cache_ttl_ms", cache_ttl());
        let stale_if_error_ms = members.optional("stale_if_error_ms", stale_if_error());
        Some(Self {
            namespace: namespace?,
            description,
            config: config.unwrap_or_default(),
            secrets: secrets.unwrap_or_default(),
            endpoints: endpoints.unwrap_or_default(),
            allowed_hosts: allowed_hosts.unwrap_or_default(),
            limits: limits.unwrap_or_default(),
            cache_ttl_ms,
            stale_if_error_ms: stale_if_error_ms.unwrap_or_default(),
        })
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
            // An allowed host becomes an endpoint of its own name, which must not replace a declared one.
            if self.allowed_hosts.contains(name) {
                note(&at, "a name that is not among `allowed_hosts`".to_owned());
            }
            for (header, fault) in endpoint.faults(&self.secrets) {
                match fault {
                    Fault::Template(expected) => note(&at.key("headers").key(header), expected),
                    Fault::Secret(name) => note(
                        &at.key("headers").key(header),
                        format!(
                            "a valid header value, but the secret `{name}` contains characters that a header cannot have"
                        ),
                    ),
                }
            }
        }
        fits
    }

    /// As the store keeps it and the API shows it.
    pub fn without_secrets(&self) -> Manifest<SecretNames> {
        self.clone().with(SecretNames::new(&self.secrets))
    }

    /// Every endpoint, including the endpoints of `allowed_hosts`.
    pub fn every_endpoint(&self) -> BTreeMap<String, Endpoint> {
        let hosts = self.allowed_hosts.iter();
        let hosts = hosts.filter_map(|host| Some((host.clone(), Endpoint::for_host(host)?)));
        // No name is in both: `check` refuses that.
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

document!(Manifest as "ResolverManifest" => {
    input::describe(|members| Manifest::declare(members, &EgressRules::default())).example(json!({
        "namespace": "hr",
        "description": "who works where",
        "config": {"region": "eu"},
        "secrets": {"hr_token": "keep-this-out-of-your-repository"},
        "endpoints": {"directory": {"url": "https://hr.example.com/api/", "methods": ["GET"],
            "headers": {"authorization": "Bearer ${hr_token}"}}},
        "limits": {"timeout_ms": 250, "memory_mib": 64},
        "cache_ttl_ms": 60000,
    }))
});

/// A namespace that a resolver can own.
pub(super) fn namespace<'j>() -> impl Field<'j, Value = String> {
    parsed(
        |text| is_namespace(text).then(|| text.to_owned()),
        || {
            let reserved = RESERVED.map(|name| format!("`{name}`")).join(", ");
            format!(
                "1 to {MAX_NAMESPACE} lower-case letters, digits and `_`, beginning with a letter, and none of \
                 {reserved}"
            )
        },
        || {
            let about = "The first segment of its attributes' paths; unique in the tenant";
            let pattern = format!("^(?!({})$)[a-z][a-z0-9_]*$", RESERVED.join("|"));
            schema::text(MAX_NAMESPACE).pattern(Some(pattern)).description(Some(about))
        },
    )
}

fn is_namespace(text: &str) -> bool {
    // Bytes are characters here, because the next condition admits only ASCII.
    text.len() <= MAX_NAMESPACE
        && text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !RESERVED.contains(&text)
}

pub(super) fn config<'j>() -> impl Field<'j, Value = BTreeMap<String, String>> {
    map(MAX_ENTRIES, "members", DECLARED, value())
        .about("What the module reads: the keys that it declares, and no others")
}

pub(super) fn endpoints<'j>(
    rules: &EgressRules,
) -> impl Field<'j, Value = BTreeMap<String, Endpoint>> {
    let endpoint = object(|members| Endpoint::declare(members, rules));
    map(MAX_ENDPOINTS, "members", DECLARED, endpoint).about(
        "Where the module may send requests, by the names that it uses; with GET and HEAD unless `methods` \
         says otherwise",
    )
}

/// Hosts, each once.
pub(super) fn hosts<'j>(rules: &EgressRules) -> impl Field<'j, Value = Vec<String>> {
    field(
        |json, at, problems| read_hosts(json, at, problems, rules),
        || {
            let host = match rules.allow_http {
                true => schema::typed(Type::String).pattern(Some(ANY_HOST)),
                false => schema::text(NAME_BYTES).pattern(Some(HOST)),
            };
            schema::list(host).max_items(Some(MAX_HOSTS)).unique_items(true).description(Some(
                "For each an endpoint of its name: `https://<host>/`, GET and HEAD, no headers",
            ))
        },
    )
}

fn read_hosts(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    rules: &EgressRules,
) -> Option<Vec<String>> {
    let list =
        at_most(MAX_HOSTS, "hosts", |json, at, problems| read_host(json, at, problems, rules));
    let hosts = list(json, at, problems)?;
    // Comparing all pairs is cheap, because the list is known to be short here.
    let repeated = (1..hosts.len()).find(|&index| hosts[..index].contains(&hosts[index]));
    if let Some(index) = repeated {
        problems.expected(&at.index(index), "each host once");
        return None;
    }
    Some(hosts)
}

fn read_host(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    rules: &EgressRules,
) -> Option<String> {
    let host = string(json, at, problems)?;
    let shape =
        "the name of a host in lower case, with a port if it is not 443, such as `api.example.com`";
    let endpoint = Endpoint::for_host(host).ok_or_else(|| shape.to_owned());
    match endpoint.and_then(|endpoint| rules.check_url(&endpoint.url)) {
        Ok(()) => Some(host.to_owned()),
        Err(expected) => {
            problems.expected(at, expected);
            None
        }
    }
}

pub(super) fn limits<'j>() -> impl Field<'j, Value = Limits> {
    object(declare_limits).about("The limits of one call of the module")
}

fn declare_limits(members: &mut Members<'_, '_>) -> Option<Limits> {
    let most_ms = i32::try_from(TIMEOUT_MAX.as_millis()).unwrap_or(i32::MAX);
    // The quotient is a small constant, so the cast loses nothing.
    let most_mib = (MEMORY_BYTES / MIB) as i32;
    let default = Limits::default();
    let timeout = integer::<u32>(1, most_ms, ", in milliseconds")
        .about("The time of one call, in milliseconds");
    let memory = integer::<usize>(1, most_mib, ", in MiB").about("The memory of one call, in MiB");
    let timeout = members.optional("timeout_ms", timeout);
    let memory = members.optional("memory_mib", memory);
    Some(Limits {
        timeout: timeout.map_or(default.timeout, |ms| Duration::from_millis(ms.into())),
        memory_bytes: memory.map_or(default.memory_bytes, |mib| mib * MIB),
    })
}

pub(super) fn cache_ttl<'j>() -> impl Field<'j, Value = u32> {
    integer(0, MAX_AGE_MS, ", in milliseconds")
        .about("Caps every time to live that the module gives; 0 turns caching off")
}

pub(super) fn stale_if_error<'j>() -> impl Field<'j, Value = u32> {
    integer(0, MAX_AGE_MS, ", in milliseconds").about(
        "How long after its time to live the last good value may serve while the source is down",
    )
}
