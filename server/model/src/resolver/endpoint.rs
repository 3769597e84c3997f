//! Endpoints: where a guest may send requests. It knows their names; URLs and credentials stay with the host.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use portcullis_engine::Json;
use portcullis_engine::resolver_contract::EndpointMethod;
use serde::{Deserialize, Serialize};
use url::Url;

use super::fields::{MAX_VALUE, value};
use super::secrets::{Secrets, is_name};
use super::stored;
use crate::egress_rules::EgressRules;
use crate::fields::{Names, map, map_schema, one_or_more, url, variant};
use crate::input::{Field, Members, field};
use crate::schema;

/// Headers of one endpoint.
const MAX_HEADERS: usize = 16;
/// The name of a header that is not among [`RESERVED_HEADERS`].
const HEADER: &str = concat!(
    r"^(?!(connection|content-length|host|keep-alive|te|trailer|transfer-encoding|upgrade)$)",
    r"[a-z0-9!#$%&'*+.^_`|~-]+$"
);
/// The template of a header in a file: `${name}` is a secret, and the rest is text that a header may have.
const TEMPLATE: &str = r"^([\t -#%-~]|\$(?!\{)|\$\{[A-Za-z0-9_.-]{1,64}\})*$";
/// A URL in a file, of any host, without query and fragment.
const ANY_BASE_URL: &str = r"^[\x01-\x20]*[Hh][Tt][Tt][Pp][Ss]?:[^\x00?#]+$";
/// Headers that belong to the connection, and so to the client.
const RESERVED_HEADERS: [&str; 8] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The base to which the guest's paths are appended.
    #[serde(with = "stored::url")]
    pub url: Url,
    pub methods: Vec<EndpointMethod>,
    /// The headers that the host adds to each request. `${name}` stands for a secret.
    pub headers: BTreeMap<String, String>,
}

/// A fault of a header.
pub(super) enum Fault {
    /// The template itself; the text completes "expected …".
    Template(String),
    /// The secret of this name, which makes no header.
    Secret(String),
}

impl Endpoint {
    /// The endpoint that `allowed_hosts` means by a host; `None` if it is not spelled as a host is.
    pub(super) fn for_host(host: &str) -> Option<Self> {
        let url = Url::parse(&format!("https://{host}/")).ok()?;
        let spelled = match url.port() {
            // The parser leaves out a port of 443, so a host with `:443` is spelled otherwise and refused.
            Some(port) => format!("{}:{port}", url.host_str()?),
            None => url.host_str()?.to_owned(),
        };
        let methods = vec![EndpointMethod::Get, EndpointMethod::Head];
        // The parser has brought the host into its usual form: guests use the name as it is written.
        (spelled == host).then(|| Self { url, methods, headers: BTreeMap::new() })
    }

    pub(super) fn declare(members: &mut Members<'_, '_>, rules: &EgressRules) -> Option<Self> {
        let url = members.required("url", base_url(rules));
        let methods = one_or_more(method(), "method")
            .about("The methods that the module may use; `GET` and `HEAD` when absent");
        let methods = members.optional("methods", methods);
        let headers = members.optional("headers", headers(rules));
        Some(Self {
            url: url?,
            methods: methods.unwrap_or_else(|| vec![EndpointMethod::Get, EndpointMethod::Head]),
            headers: headers.unwrap_or_default(),
        })
    }

    /// The schema of an endpoint in a response.
    pub(super) fn shown() -> schema::Record {
        schema::record()
            .field("url", schema::string())
            .field("methods", schema::list(method().schema()))
            .field("headers", map_schema(MAX_HEADERS, schema::string()))
    }

    /// The headers that the host adds, with the secrets in them; marked as sensitive.
    ///
    /// `None` if a header cannot be made, which a manifest that was read does not have.
    pub fn rendered(&self, secrets: &Secrets) -> Option<HeaderMap> {
        let rendered = self.headers.iter().map(|(name, template)| {
            let name = HeaderName::try_from(name).ok()?;
            Some((name, render(template, secrets).ok()?))
        });
        rendered.collect()
    }

    /// The headers that have secrets in them: the header and the secret, each by its name.
    pub(super) fn uses(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().flat_map(|(header, template)| {
            secrets_in(template).map(move |secret| (header.as_str(), secret))
        })
    }

    /// The headers that cannot be made, and why.
    pub(super) fn faults<'e>(
        &'e self,
        secrets: &'e Secrets,
    ) -> impl Iterator<Item = (&'e str, Fault)> {
        self.headers.iter().filter_map(|(name, template)| {
            render(template, secrets).err().map(|fault| (name.as_str(), fault))
        })
    }
}

/// The names of the secrets in `template`, which is one that renders.
fn secrets_in(template: &str) -> impl Iterator<Item = &str> {
    template.split("${").skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}

/// Returns the header that `template` makes.
fn render(template: &str, secrets: &Secrets) -> Result<HeaderValue, Fault> {
    let mut rendered = String::new();
    let mut rest = template;
    while let Some((plain, named)) = rest.split_once("${") {
        // A `$` without a brace is plain text, but an opened name must be closed.
        let (name, after) = named.split_once('}').ok_or_else(unknown_name)?;
        let secret = Some(name).filter(|name| is_name(name)).and_then(|name| secrets.get(name));
        let secret = secret.ok_or_else(unknown_name)?;
        // The fault is the secret's own, and not one of the template.
        if HeaderValue::from_str(secret).is_err() {
            return Err(Fault::Secret(name.to_owned()));
        }
        rendered.push_str(plain);
        rendered.push_str(secret);
        // The secret itself is not searched for names: it is appended as it is.
        rest = after;
    }
    rendered.push_str(rest);
    let mut value = HeaderValue::from_str(&rendered)
        .map_err(|_| Fault::Template("only characters that a header may contain".to_owned()))?;
    // Sensitive values are left out of debug output and out of the dynamic table of HTTP/2.
    value.set_sensitive(true);
    Ok(value)
}

fn unknown_name() -> Fault {
    let expected = "a header value in which `${name}` is the name of one of `secrets`";
    Fault::Template(expected.to_owned())
}

/// Headers that the host adds, by their names.
fn headers<'j>(rules: &EgressRules) -> impl Field<'j, Value = BTreeMap<String, String>> {
    let names = Names { fault: header_fault, schema: || schema::string().pattern(Some(HEADER)) };
    let template = field(
        |json: &'j Json<'j>, at, problems| value().read(json, at, problems),
        || match rules.allow_http {
            true => schema::short(MAX_VALUE).pattern(Some(TEMPLATE)),
            false => schema::short(MAX_VALUE),
        },
    );
    map(MAX_HEADERS, "members", names, template).about(
        "What the service adds to each request; `${name}` stands for the secret of that name",
    )
}

/// Returns what is expected instead of a header name that a manifest cannot set.
fn header_fault(name: &str) -> Option<String> {
    // The type of names lowers capitals, so a name with one differs from what it gives back.
    let known = HeaderName::try_from(name).is_ok_and(|header| header.as_str() == name);
    (!known || RESERVED_HEADERS.contains(&name)).then(|| {
        "the name of a header in lower case, and not one that belongs to the connection".to_owned()
    })
}

fn method<'j>() -> impl Field<'j, Value = EndpointMethod> {
    variant()
}

/// A base URL, to which a guest appends paths and queries.
fn base_url<'j>(rules: &EgressRules) -> impl Field<'j, Value = Url> {
    field(
        |json, at, problems| {
            // The field has parsed the same text already, so this cannot fail.
            let url = Url::parse(&url(rules).read(json, at, problems)?).ok()?;
            if url.query().is_some() || url.fragment().is_some() {
                problems.expected(at, "a URL without query and fragment");
                return None;
            }
            Some(url)
        },
        || match rules.allow_http {
            true => schema::any_url().pattern(Some(ANY_BASE_URL)),
            false => schema::url(),
        },
    )
}
