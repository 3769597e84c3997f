//! `portcullis resolver push`: a component into a running Portcullis.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};
use portcullis_engine::{Json, json};
use serde::Deserialize;
use url::Url;

use super::multipart;
use super::project::{self, MANIFEST_FILE, Project};
use super::steps::Step;
use portcullis_config::Variables;
use portcullis_egress::{Answer, Client};

/// How long one request may take. The service answers within 30 s, also when it is still compiling the module: then it
/// says so, has written nothing, and goes on compiling for the next push.
const TIMEOUT: Duration = Duration::from_secs(45);
/// Largest answer that is read: a list of the most resolvers that a tenant can have is far smaller.
const MAX_ANSWER: usize = 16 << 20;
/// What a manifest has that leaves these members out, as JSON. `secrets` are not among them: those that the service has
/// stay, so that a file need not repeat them.
const DEFAULTS: [(&str, &str); 7] = [
    ("description", "null"),
    ("config", "{}"),
    ("endpoints", "{}"),
    ("allowed_hosts", "[]"),
    ("limits", "{}"),
    ("cache_ttl_ms", "null"),
    ("stale_if_error_ms", "0"),
];

/// What the command line says.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The component, or the folder that has it.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The address of the service.
    #[arg(long, value_name = "URL")]
    url: Url,
    /// The manifest; `manifest.json` beside the component without this.
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
}

/// A resolver's record, as far as it is of interest.
#[derive(Deserialize)]
struct Record {
    id: String,
    origin: String,
    namespace: String,
    module: Module,
}

#[derive(Deserialize)]
struct Module {
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
struct Attribute {
    name: String,
    kind: String,
}

pub(super) async fn run(
    arguments: &Arguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let service = Service::new(&arguments.url, variables)?;
    let project = Project::find(&arguments.path)?;
    let file = project.beside(arguments.manifest.as_deref(), MANIFEST_FILE);
    let bytes = project::read(&file)?;
    let manifest = json::parse(&bytes).with_context(|| file.display().to_string())?;
    let namespace = manifest.get("namespace").and_then(Json::as_str);
    let namespace = namespace
        .with_context(|| format!("{}: at `/namespace`: expected a string", file.display()))?;
    let module = project.bytes()?;

    let step = Step::begin(format!("sending {} bytes to {}", module.len(), arguments.url));
    let known = service.find(namespace).await?;
    let (method, id) = match &known {
        None => (Method::POST, None),
        Some(record) => (Method::PUT, Some(record.id.as_str())),
    };
    let manifest =
        if known.is_none() { manifest.to_string() } else { complete(&manifest).to_string() };
    let body = multipart::body(&manifest, &module);
    let answer = service.send(method, id, Some(body)).await?;
    drop(step);

    let record: Record = serde_json::from_slice(&answer.body).context("the service's answer")?;
    let what = if known.is_none() { "installed" } else { "replaced" };
    let revision = answer.headers.get("x-policy-revision").and_then(|value| value.to_str().ok());
    writeln!(out, "{what} `{namespace}`: {}, revision {}", record.id, revision.unwrap_or("?"))?;
    for Attribute { name, kind } in record.module.attributes {
        writeln!(out, "  {namespace}.{name}  {kind}")?;
    }
    Ok(())
}

/// The manifest with every member that an update would leave as it is.
fn complete<'j>(manifest: &Json<'j>) -> Json<'j> {
    let mut members = manifest.as_object().unwrap_or_default().to_vec();
    for (name, default) in DEFAULTS {
        if !members.iter().any(|(known, _)| known == name)
            && let Ok(default) = json::parse(default.as_bytes())
        {
            members.push((name.into(), default));
        }
    }
    Json::Object(members)
}

/// A running Portcullis.
struct Service {
    /// Of its resolvers.
    url: Url,
    credential: HeaderMap,
    client: Client,
}

impl Service {
    fn new(base: &Url, variables: &Variables) -> anyhow::Result<Self> {
        ensure!(matches!(base.scheme(), "http" | "https"), "--url: expected an http or https URL");
        let mut url = base.clone();
        url.set_path(&format!("{}/api/v1/resolvers", base.path().trim_end_matches('/')));
        let credential = HeaderMap::from_iter([variables.credential()?]);
        Ok(Self { url, credential, client: Client::trusted(TIMEOUT)? })
    }

    /// The tenant's resolver that answers a namespace.
    async fn find(&self, namespace: &str) -> anyhow::Result<Option<Record>> {
        let answer = self.send(Method::GET, None, None).await?;
        let records: Vec<Record> =
            serde_json::from_slice(&answer.body).context("the service's answer")?;
        let is_it = |record: &Record| record.origin == "tenant" && record.namespace == namespace;
        Ok(records.into_iter().find(is_it))
    }

    /// Sends a request; an answer that is no success is an error with what the service says.
    async fn send(
        &self,
        method: Method,
        id: Option<&str>,
        body: Option<Vec<u8>>,
    ) -> anyhow::Result<Answer> {
        let mut url = self.url.clone();
        if let Some(id) = id {
            url.set_path(&format!("{}/{id}", url.path()));
        }
        let mut headers = self.credential.clone();
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::try_from(multipart::content_type())?);
        }
        let route = format!("{method} {url}");
        let answer = self.client.send(method, url, headers, body, MAX_ANSWER).await;
        let answer = answer.with_context(|| route.clone())?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        bail!("{route}: {}: {}", answer.status, told(&answer.body))
    }
}

/// What the body of an error tells a person: its message, and where in the request.
fn told(body: &[u8]) -> String {
    let Ok(body) = json::parse(body) else {
        return String::from_utf8_lossy(body).chars().take(300).collect();
    };
    let message = body.get("message").and_then(Json::as_str).unwrap_or_default();
    let path = body.get("details").and_then(|details| details.get("path")).and_then(Json::as_str);
    match path {
        Some(path) if !message.contains(path) => format!("{message} (at `{path}`)"),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_says_what_the_file_leaves_out_except_secrets() {
        let manifest =
            json::parse(br#"{"namespace": "hr", "limits": {"timeout_ms": 9}}"#).expect("JSON");
        assert_eq!(
            complete(&manifest).to_string(),
            r#"{"namespace":"hr","limits":{"timeout_ms":9},"description":null,"config":{},"endpoints":{},"allowed_hosts":[],"cache_ttl_ms":null,"stale_if_error_ms":0}"#
        );
    }

    #[test]
    fn errors_are_told_with_their_place() {
        for (body, expected) in [
            (
                r#"{"code": "X", "message": "expected a string", "details": {"path": "/manifest"}}"#,
                "expected a string (at `/manifest`)",
            ),
            (
                r#"{"message": "at `/module`: expected a resolver", "details": {"path": "/module"}}"#,
                "at `/module`: expected a resolver",
            ),
            (r#"{"message": "taken", "details": {}}"#, "taken"),
            ("bad gateway", "bad gateway"),
        ] {
            assert_eq!(told(body.as_bytes()), expected);
        }
    }
}
