//! `portcullis resolver push`: installs a component in a running Portcullis service.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use http::Method;
use portcullis_config::Variables;
use portcullis_egress::multipart::{Form, Part};
use portcullis_engine::{Json, json};
use serde_json::Value;
use url::Url;

use crate::service::{CallLimits, Service};
use crate::service_url::service_url;

use super::project::{self, MANIFEST_FILE, Project};
use super::steps::Step;

/// The list of resolvers.
const ROUTE: &str = "resolvers";
/// The time limit of one request. The service answers within 30 s. If it is still compiling the module then, it says
/// so, writes nothing, and continues the compilation for the next push.
/// A list of as many resolvers as a tenant can have is far smaller than the largest answer.
const LIMITS: CallLimits = CallLimits { time: Duration::from_secs(45), answer: 16 << 20 };
/// The header of an answer of a service with replicas.
const REPLICAS_LOAD: &str = "x-replicas-load";
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

pub(super) async fn run(
    arguments: &PushArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let service = Service::with_credential(&arguments.url, variables.credential()?, LIMITS)?;
    let project = Project::find(&arguments.path)?;
    let file = project.beside(arguments.manifest.as_deref(), MANIFEST_FILE);
    let bytes = project::read(&file, project::MANIFEST)?;
    let manifest = json::parse(&bytes).with_context(|| file.display().to_string())?;
    let namespace = manifest.get("namespace").and_then(Json::as_str);
    let namespace = namespace
        .with_context(|| format!("{}: at `/namespace`: expected a string", file.display()))?;
    let module = project.bytes()?;

    let step = Step::begin(format!("sending {} bytes to {}", module.len(), arguments.url));
    let records = service.list(ROUTE).await?;
    // A resolver of the operator may have the namespace, too; a push never changes that.
    let known = records
        .iter()
        .find(|one| one["origin"] == "tenant" && one["namespace"] == namespace)
        .and_then(|record| record["id"].as_str());
    let (method, what, manifest) = match known {
        None => (Method::POST, "installed", manifest.to_string()),
        // An update keeps absent members, but a push shall leave what the file says and nothing else.
        Some(_) => (Method::PUT, "replaced", complete(&manifest).to_string()),
    };
    let form = form(manifest, module)?;
    let answer = service.send_form(method, ROUTE, known, form).await?;
    drop(step);

    let record: Value = serde_json::from_slice(&answer.body).context("the service's answer")?;
    let revision = answer.headers.get("x-policy-revision").and_then(|value| value.to_str().ok());
    let (id, revision) = (text(&record["id"]), revision.unwrap_or("?"));
    writeln!(out, "{what} `{namespace}`: {id}, revision {revision}")?;
    for attribute in record["module"]["attributes"].as_array().into_iter().flatten() {
        let (name, kind) = (text(&attribute["name"]), text(&attribute["kind"]));
        writeln!(out, "  {namespace}.{name}  {kind}")?;
    }
    if answer.headers.contains_key(REPLICAS_LOAD) {
        writeln!(out, "other replicas load it when a check first needs it")?;
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
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
}
