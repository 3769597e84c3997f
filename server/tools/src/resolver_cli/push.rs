//! `portcullis resolver push`: installs a component in a running Portcullis service.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use http::{HeaderMap, Method, StatusCode};
use portcullis_config::Variables;
use portcullis_egress::multipart::{Form, Part};
use portcullis_egress::{Answer, Client};
use portcullis_engine::{Json, json};
use serde::Deserialize;
use url::Url;

use crate::service_url::service_url;

use super::project::{self, MANIFEST_FILE, Project};
use super::steps::Step;

/// The time limit of one request. The service answers within 30 s. If it is still compiling the module then, it says
/// so, writes nothing, and continues the compilation for the next push.
const TIMEOUT: Duration = Duration::from_secs(45);
/// The largest answer that is read, in bytes: a list of as many resolvers as a tenant can have is far smaller.
const MAX_ANSWER: usize = 16 << 20;
/// The defaults of the members that a manifest may leave out, as JSON. `secrets` has none: the service keeps the stored
/// secrets, so a file does not need to repeat them.
const DEFAULTS: [(&str, &str); 7] = [
    ("description", "null"),
    ("config", "{}"),
    ("endpoints", "{}"),
    ("allowed_hosts", "[]"),
    ("limits", "{}"),
    ("cache_ttl_ms", "null"),
    ("stale_if_error_ms", "0"),
];

/// The arguments of `portcullis resolver push`.
#[derive(Debug, clap::Args)]
pub struct PushArguments {
    /// The component, or a folder that contains exactly one.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The URL of the service.
    #[arg(long, value_name = "URL", value_parser = service_url)]
    url: Url,
    /// The manifest (default: `manifest.json` in the folder of the component).
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
}

/// The members of a resolver's record that this command reads.
#[derive(Deserialize)]
struct InstalledResolver {
    id: String,
    origin: String,
    namespace: String,
    module: InstalledModule,
}

#[derive(Deserialize)]
struct InstalledModule {
    attributes: Vec<InstalledAttribute>,
}

#[derive(Deserialize)]
struct InstalledAttribute {
    name: String,
    kind: String,
}

pub(super) async fn run(
    arguments: &PushArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let service = Service::new(&arguments.url, variables)?;
    let project = Project::find(&arguments.path)?;
    let file = project.beside(arguments.manifest.as_deref(), MANIFEST_FILE);
    let bytes = project::read(&file, project::MANIFEST)?;
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
    let answer = service.send(method, id, Some(form(manifest, module)?)).await?;
    drop(step);

    let record: InstalledResolver =
        serde_json::from_slice(&answer.body).context("the service's answer")?;
    let what = if known.is_none() { "installed" } else { "replaced" };
    let revision = answer.headers.get("x-policy-revision").and_then(|value| value.to_str().ok());
    writeln!(out, "{what} `{namespace}`: {}, revision {}", record.id, revision.unwrap_or("?"))?;
    for InstalledAttribute { name, kind } in record.module.attributes {
        writeln!(out, "  {namespace}.{name}  {kind}")?;
    }
    Ok(())
}

/// Returns the form with a resolver's manifest and its module.
fn form(manifest: String, module: Vec<u8>) -> anyhow::Result<Form> {
    let manifest = Part::text(manifest).file_name("manifest").mime_str("application/json")?;
    let module = Part::bytes(module).file_name("module").mime_str("application/wasm")?;
    Ok(Form::new().part("manifest", manifest).part("module", module))
}

/// Returns the manifest with its defaults written out. An update keeps the stored value of a member that is absent.
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

/// A running Portcullis service.
struct Service {
    /// The URL of its resolvers.
    url: Url,
    credential: HeaderMap,
    client: Client,
}

impl Service {
    fn new(base: &Url, variables: &Variables) -> anyhow::Result<Self> {
        let mut url = base.clone();
        url.set_path(&format!("{}/api/v1/resolvers", base.path().trim_end_matches('/')));
        let credential = HeaderMap::from_iter([variables.credential()?]);
        Ok(Self { url, credential, client: Client::trusted(TIMEOUT)? })
    }

    /// Returns the tenant's resolver that answers `namespace`.
    async fn find(&self, namespace: &str) -> anyhow::Result<Option<InstalledResolver>> {
        let answer = self.send(Method::GET, None, None).await?;
        let records: Vec<InstalledResolver> =
            serde_json::from_slice(&answer.body).context("the service's answer")?;
        let matches =
            |record: &InstalledResolver| record.origin == "tenant" && record.namespace == namespace;
        Ok(records.into_iter().find(matches))
    }

    /// Sends a request. An answer without success is an error with the message of the service.
    async fn send(
        &self,
        method: Method,
        id: Option<&str>,
        form: Option<Form>,
    ) -> anyhow::Result<Answer> {
        let mut url = self.url.clone();
        if let Some(id) = id {
            url.set_path(&format!("{}/{id}", url.path()));
        }
        let (route, headers) = (format!("{method} {url}"), self.credential.clone());
        let answer = match form {
            None => self.client.send(method, url, headers, None, MAX_ANSWER).await,
            Some(form) => self.client.send_form(method, url, headers, form, MAX_ANSWER).await,
        };
        let answer = answer.with_context(|| route.clone())?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        bail!("{route}: {}: {}{}", answer.status, message(&answer.body), hint(answer.status))
    }
}

/// Returns the end of the message about a refused credential.
fn hint(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "; `portcullis resolver push` needs a service key with the permissions `resolvers:read` and \
             `resolvers:write` in SERVICE_API_KEY, or a manager's token in TOKEN"
        }
        _ => "",
    }
}

/// Returns the message in the body of an error, with the place in the request.
fn message(body: &[u8]) -> String {
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
    fn a_refused_credential_learns_the_permissions() {
        for (status, named) in [(401, true), (403, true), (400, false), (503, false)] {
            let hint = hint(StatusCode::from_u16(status).expect("a status"));
            assert_eq!(hint.contains("`resolvers:read` and `resolvers:write`"), named, "{status}");
        }
    }

    #[test]
    fn errors_are_shown_with_their_place() {
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
            assert_eq!(message(body.as_bytes()), expected);
        }
    }
}
