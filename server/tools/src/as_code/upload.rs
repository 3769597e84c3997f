//! Sends the content of a folder to the service.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use http::{Method, StatusCode};
use portcullis_bundle::{Bundle, SecretValues};
use portcullis_config::Variables;
use portcullis_engine::Json;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::answer::PlanAnswer;
use super::arguments::ContentArguments;
use super::modules::{self, FolderModule, hexadecimal};
use super::request::SentApply;
use crate::service::{Call, Service, refusal};

/// A folder that is ready to be sent.
pub(super) struct FolderContent {
    pub(super) bundle: Bundle,
    pub(super) owner: String,
    secrets: SecretValues,
    modules: Vec<FolderModule>,
}

/// The answer of the service, as it was sent and as it was read.
pub(super) struct Planned {
    /// One line of JSON.
    pub(super) text: String,
    pub(super) answer: PlanAnswer,
}

impl FolderContent {
    /// Reads the folder with the components of its resolvers, and the variables that it refers to. Writes its warnings to
    /// `err`.
    ///
    /// # Errors
    /// The folder is not valid, or a variable is not set.
    pub(super) fn read(
        dir: &Path,
        arguments: &ContentArguments,
        variables: &Variables,
        err: &mut (dyn Write + Send),
    ) -> anyhow::Result<Self> {
        let bundle = Bundle::read_folder(dir)?;
        for name in bundle.data_files() {
            writeln!(err, "note: {name} is data, which stays as the service has it")?;
        }
        for warning in &bundle.warnings {
            writeln!(err, "warning: {warning}")?;
        }
        let names = bundle.secrets.iter().map(|used| used.reference.variable());
        let secrets: SecretValues = variables.values_of(names);
        let missing: Vec<String> = bundle
            .missing_secrets(&secrets)
            .into_iter()
            .map(|used| {
                let name = used.reference.variable();
                format!(
                    "{}: expected a value in the variable `{name}`, which is not set",
                    used.place
                )
            })
            .collect();
        if !missing.is_empty() {
            bail!("{}", missing.join("\n"));
        }
        let modules = modules::read(dir, &bundle)?;
        let owner = arguments.owner.clone().unwrap_or_else(|| format!("files:{}", bundle.tenant));
        Ok(Self { bundle, owner, secrets, modules })
    }

    /// Returns the digest of the content without secrets. Two folders with the same digest are applied alike.
    pub(super) fn digest(&self) -> String {
        // With every digest known, the content has no bytes of modules.
        let known = self.modules.iter().map(|module| module.sha256.clone()).collect();
        let content =
            self.bundle.content(&SecretValues::new(), &modules::sent(&self.modules, &known));
        hexadecimal(&Sha256::digest(content.to_string()))
    }

    /// Sends the folder, as a dry run if `dry_run` is true.
    ///
    /// # Errors
    /// The service gives no answer or refuses the call.
    pub(super) async fn send(
        &self,
        service: &Service,
        request: &SentApply<'_>,
        dry_run: bool,
    ) -> anyhow::Result<Planned> {
        let known = match self.modules.is_empty() {
            true => HashSet::new(),
            false => modules::known(service).await?,
        };
        let sent = modules::sent(&self.modules, &known);
        let resolvers = self.bundle.resolvers.iter().zip(&sent);
        let with_bytes = resolvers.filter(|(_, module)| module.bytes.is_some());
        let namespaces: Vec<_> =
            with_bytes.map(|(resolver, _)| resolver.manifest.namespace.clone()).collect();
        let content = self.bundle.content(&self.secrets, &sent);
        send(service, request, content, &namespaces, dry_run).await
    }
}

/// Applies content without resolvers.
///
/// # Errors
/// The service gives no answer or refuses the call.
pub(super) async fn apply_content(
    service: &Service,
    request: &SentApply<'_>,
    content: Json<'static>,
) -> anyhow::Result<Planned> {
    send(service, request, content, &[], false).await
}

/// Sends content, and returns the plan.
async fn send(
    service: &Service,
    request: &SentApply<'_>,
    content: Json<'static>,
    modules: &[String],
    dry_run: bool,
) -> anyhow::Result<Planned> {
    let body = request.body(content).to_string();
    let query: &[(&str, &str)] = if dry_run { &[("dry_run", "true")] } else { &[] };
    let url = service.route("apply", query);
    let body_bytes = body.len();
    // The message about a refusal names items of the body, so that it is kept.
    let answer = service.send(Method::POST, url, Some(body.clone().into_bytes())).await?;
    if !matches!(answer.status, StatusCode::OK | StatusCode::ACCEPTED) {
        let sent: Value = serde_json::from_str(&body).unwrap_or_default();
        let (base, bundle) = (&service.base, Some(&sent["bundle"]));
        let method = Method::POST;
        let is_import = request.is_import;
        let route = "apply";
        let call =
            Call { base, method, route, bundle, body_bytes, modules, is_import, lines: None };
        return Err(refusal(&call, &answer));
    }
    read(&answer.body).with_context(|| format!("the answer of `{}`", service.base))
}

/// Reads the answer of an apply.
fn read(body: &[u8]) -> anyhow::Result<Planned> {
    let json = portcullis_engine::json::parse(body)?;
    Ok(Planned { text: json.to_string(), answer: serde_json::from_slice(body)? })
}
