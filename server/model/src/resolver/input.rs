//! What manifests and their updates look like, for the API's document. Each line stands for a reader.

use portcullis_engine::resolver_contract::{EndpointMethod, MEMORY_BYTES, NAME_BYTES, TIMEOUT_MAX};
use serde_json::json;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::{PartialSchema, ToSchema};

use super::endpoint::MAX_HEADERS;
use super::manifest::{
    MAX_AGE_MS, MAX_DESCRIPTION, MAX_ENDPOINTS, MAX_ENTRIES, MAX_HOSTS, MAX_NAMESPACE, MAX_VALUE,
    Manifest,
};
use super::update::ManifestUpdate;
use crate::schema::{self, AnySchema};

/// Reserved are `user`, `resource`, `request` and `token`.
const NAMESPACE: &str = r"^(?!(user|resource|request|token)$)[a-z][a-z0-9_]*$";
const HOST: &str = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$";
const SECRET_NAME: &str = r"^[A-Za-z0-9_.-]{1,64}$";
const NAME: &str = r"^[^\x00-\x1f\x7f-\x9f]+$";
const HEADER: &str = concat!(
    r"^(?!(connection|content-length|host|keep-alive|te|trailer|transfer-encoding|upgrade)$)",
    r"[a-z0-9!#$%&'*+.^_`|~-]+$"
);

impl ToSchema for Manifest {
    fn name() -> std::borrow::Cow<'static, str> {
        "ResolverManifest".into()
    }
}

impl PartialSchema for Manifest {
    fn schema() -> AnySchema {
        schema::input()
            .required("namespace", namespace())
            .optional("description", schema::short(MAX_DESCRIPTION))
            .optional("config", config())
            .optional("secrets", secrets())
            .optional("endpoints", endpoints())
            .optional("allowed_hosts", hosts())
            .optional("limits", limits())
            .optional("cache_ttl_ms", cache_ttl())
            .optional("stale_if_error_ms", stale_if_error())
            .example(json!({
                "namespace": "hr",
                "description": "who works where",
                "config": {"region": "eu"},
                "secrets": {"hr_token": "keep-this-out-of-your-repository"},
                "endpoints": {"directory": {"url": "https://hr.example.com/api/", "methods": ["GET"],
                    "headers": {"authorization": "Bearer ${hr_token}"}}},
                "limits": {"timeout_ms": 250, "memory_mib": 64},
                "cache_ttl_ms": 60000,
            }))
            .into()
    }
}

impl ToSchema for ManifestUpdate {
    fn name() -> std::borrow::Cow<'static, str> {
        "ResolverUpdate".into()
    }
}

impl PartialSchema for ManifestUpdate {
    fn schema() -> AnySchema {
        schema::input()
            .change("namespace", namespace())
            .clearable("description", schema::short(MAX_DESCRIPTION))
            .change("config", config())
            .change("secrets", secrets())
            .change("endpoints", endpoints())
            .change("allowed_hosts", hosts())
            .change("limits", limits())
            .clearable("cache_ttl_ms", cache_ttl())
            .change("stale_if_error_ms", stale_if_error())
            .change("enabled", schema::boolean())
            .example(json!({"enabled": false, "limits": {"timeout_ms": 100}}))
            .into()
    }
}

fn namespace() -> ObjectBuilder {
    schema::text(MAX_NAMESPACE)
        .pattern(Some(NAMESPACE))
        .description(Some("The first segment of its attributes' paths; unique in the tenant"))
}

fn config() -> ObjectBuilder {
    map(schema::short(MAX_VALUE), MAX_ENTRIES)
        .property_names(Some(name()))
        .description(Some("What the module reads: the keys that it declares, and no others"))
}

fn secrets() -> ObjectBuilder {
    let name = schema::string().pattern(Some(SECRET_NAME));
    map(schema::short(MAX_VALUE), MAX_ENTRIES).property_names(Some(name)).description(Some(
        "For the headers of endpoints. Encrypted at rest, never shown again, and never given to the module",
    ))
}

fn endpoints() -> ObjectBuilder {
    let method = schema::choice(method_names());
    let endpoint = schema::input()
        .required("url", schema::url())
        .optional("methods", schema::list(method).min_items(Some(1)))
        .optional("headers", headers());
    map(endpoint, MAX_ENDPOINTS).property_names(Some(name())).description(Some(
        "Where the module may send requests, by the names that it uses; with GET and HEAD unless `methods` \
         says otherwise",
    ))
}

fn headers() -> ObjectBuilder {
    let name = schema::string().pattern(Some(HEADER));
    map(schema::short(MAX_VALUE), MAX_HEADERS).property_names(Some(name)).description(Some(
        "What the service adds to each request; `${name}` stands for the secret of that name",
    ))
}

fn hosts() -> utoipa::openapi::schema::ArrayBuilder {
    let host = schema::text(NAME_BYTES).pattern(Some(HOST));
    schema::list(host).max_items(Some(MAX_HOSTS)).unique_items(true).description(Some(
        "For each an endpoint of its name: `https://<host>/`, GET and HEAD, no headers",
    ))
}

fn limits() -> AnySchema {
    let timeout = i64::try_from(TIMEOUT_MAX.as_millis()).unwrap_or(i64::MAX);
    schema::input()
        .optional("timeout_ms", schema::integer(1, timeout))
        .optional("memory_mib", schema::integer(1, (MEMORY_BYTES >> 20) as i64))
        .into()
}

fn cache_ttl() -> ObjectBuilder {
    schema::integer(0, MAX_AGE_MS.into())
        .description(Some("Caps every time to live that the module gives; 0 is no caching"))
}

fn stale_if_error() -> ObjectBuilder {
    schema::integer(0, MAX_AGE_MS.into()).description(Some(
        "How long after its time to live the last good value may serve while the source is down",
    ))
}

/// The names of the methods that an endpoint can grant.
fn method_names() -> [&'static str; 6] {
    EndpointMethod::NAMES.map(|(_, name)| name)
}

/// The name of a key or an endpoint.
fn name() -> ObjectBuilder {
    schema::text(NAME_BYTES).pattern(Some(NAME))
}

/// An object whose members are all `value`.
fn map(value: impl Into<AnySchema>, max: usize) -> ObjectBuilder {
    schema::typed(Type::Object).additional_properties(Some(value.into())).max_properties(Some(max))
}

/// The endpoints of a record.
pub(super) fn shown_endpoints() -> AnySchema {
    let headers = map(schema::string(), MAX_HEADERS);
    let endpoint = schema::record()
        .field("url", schema::string())
        .field("methods", schema::list(schema::choice(method_names())))
        .field("headers", headers);
    schema::nullable(map(endpoint, MAX_ENDPOINTS))
}

/// The limits of a record.
pub(super) fn shown_limits() -> AnySchema {
    let limits = schema::record()
        .field("timeout_ms", schema::typed(Type::Integer))
        .field("memory_mib", schema::typed(Type::Integer));
    schema::nullable(limits)
}
