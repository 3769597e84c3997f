//! The resolvers whose attributes a tenant's policies read: `resolvers.yaml`.
//!
//! The attributes of a component are read from the `descriptor.json` beside it, so that policies are checked without
//! WebAssembly.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use portcullis_engine::fields::string;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::{self, Member};
use portcullis_engine::{AttributeKind, Json, Namespaces};

use utoipa::openapi::schema::Type;

use portcullis_model::egress_rules::EgressRules;
use portcullis_model::fields::{boolean, by_name};
use portcullis_model::folder_webhook::SecretReference;
use portcullis_model::input::{self, Field, Members, field};
use portcullis_model::resolver::{AttributeRecord, Manifest, ModuleRecord, with_replaced_members};
use portcullis_model::{document, schema};

use crate::resolver_secrets::{keep_secrets, references};
use crate::responses::CannedResponses;

/// Beside a component: what `portcullis resolver inspect --json` says of it.
pub const DESCRIPTOR_FILE: &str = "descriptor.json";
pub(super) const MANIFEST_FILE: &str = "manifest.json";
/// The name of a folder.
const MODULE: &str = "^[A-Za-z0-9_-]+$";

/// The members of an item of `resolvers.yaml` that are not members of its manifest.
const OWN_MEMBERS: [&str; 3] = ["module", "responses", "enabled"];

/// A resolver of a tenant.
#[derive(Debug, PartialEq)]
pub struct SampleResolver {
    /// The name of the component's folder.
    pub module: String,
    /// The folder of the component, inside the tenant's folder.
    pub folder: PathBuf,
    pub manifest: Manifest,
    /// The secrets of the manifest that refer to variables, by their names.
    pub references: BTreeMap<String, SecretReference>,
    /// The secrets of the manifest that are `null`: the service keeps the values that it has.
    pub kept_secrets: BTreeSet<String>,
    /// Whether the service shall call the resolver.
    pub enabled: bool,
    /// The attributes that the descriptor declares.
    pub attributes: Vec<AttributeRecord>,
    /// The parts of a check that the descriptor asks for.
    pub inputs: Vec<String>,
    /// The digest of the component that the descriptor is about, in hexadecimal.
    pub sha256: String,
    /// Responses to the requests of the component in every case.
    pub responses: CannedResponses,
}

/// Responses by the namespace of the resolver.
pub type ResponsesByNamespace = BTreeMap<String, CannedResponses>;

impl SampleResolver {
    /// Reads an item of `resolvers.yaml`: the name of a component, members to put over the members of its manifest, and
    /// responses. `find` returns the folder of a component inside the tenant's folder, and `text` reads a file.
    pub(super) fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        find: impl Fn(&str) -> String,
        text: impl Fn(&str) -> io::Result<String>,
    ) -> Option<Self> {
        let OwnMembers { module, responses, enabled } =
            // The other members belong to the manifest, whose own reading notes unknown ones.
            input::read_partly(json, at, problems, OwnMembers::declare)?;
        let folder = find(&module);
        let manifest = text(&format!("{folder}/{MANIFEST_FILE}"));
        let manifest = noted(manifest, &module, MANIFEST_FILE, at, problems)?;
        let descriptor = text(&format!("{folder}/{DESCRIPTOR_FILE}"));
        let descriptor = noted(descriptor, &module, DESCRIPTOR_FILE, at, problems)?;
        let (Ok(manifest), Ok(descriptor)) =
            (json::parse(manifest.as_bytes()), serde_json::from_str::<ModuleRecord>(&descriptor))
        else {
            problems.expected(
                &at.key("module"),
                "a resolver with a valid `manifest.json` and `descriptor.json`",
            );
            return None;
        };
        let mut merged = merged(manifest.as_object()?, json.as_object()?);
        // Before the manifest is read, whose secrets are texts.
        let kept_secrets = keep_secrets(&mut merged);
        let merged = Json::Object(merged);
        // Whether the endpoints may be called is for whoever calls them.
        let rules = EgressRules { allow_http: true, ..EgressRules::default() };
        let manifest = Manifest::field(&rules).read(&merged, at, problems)?;
        // The endpoints are known once the manifest has been read.
        check_endpoints(&responses, &manifest, &at.key("responses"), problems);
        let references = references(&merged);
        let ModuleRecord { attributes, inputs, sha256, .. } = descriptor;
        Some(Self {
            module,
            folder: folder.into(),
            manifest,
            references,
            kept_secrets,
            enabled,
            attributes,
            inputs,
            sha256,
            responses,
        })
    }

    pub(super) fn kind(&self, attribute: &str) -> Option<AttributeKind> {
        let mut all = self.attributes.iter();
        all.find(|known| known.name == attribute).map(|known| known.kind)
    }
}

document!(SampleResolver as "Resolver" => {
    with_replaced_members(input::describe(OwnMembers::declare)).about(
        "A resolver whose attributes the policies may read. Any member of a manifest replaces the member of the module's \
         manifest.json",
    )
});

/// The members of an item that are not members of a manifest.
struct OwnMembers {
    module: String,
    responses: CannedResponses,
    enabled: bool,
}

impl OwnMembers {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let enabled =
            boolean().default_is(true).about("`false` is as if the service did not have it");
        let module = members.required("module", module());
        let responses = members.optional("responses", CannedResponses::field());
        let enabled = members.optional("enabled", enabled).unwrap_or(true);
        Some(Self { module: module?, responses: responses.unwrap_or_default(), enabled })
    }
}

fn module<'j>() -> impl Field<'j, Value = String> {
    field(read_module, || schema::typed(Type::String).pattern(Some(MODULE))).about(
        "The module: a folder of `resolvers` or `../resolvers` with a manifest.json and a descriptor.json",
    )
}

fn read_module(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    let module = string(json, at, problems)?;
    // Neither a `/` nor a `..`: the name is a part of a path.
    if module.is_empty()
        || !module.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    {
        problems.expected(at, "the name of a folder of `resolvers`");
        return None;
    }
    Some(module.to_owned())
}

/// Returns the text of the file `name` of a module. Notes that it cannot be read.
fn noted(
    text: io::Result<String>,
    module: &str,
    name: &str,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<String> {
    let what = match text {
        Ok(text) => return Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => format!(
            "a resolver, but neither `resolvers/{module}/{name}` nor \
             `../resolvers/{module}/{name}` exists"
        ),
        Err(error) => format!("a resolver whose `{name}` can be read, but {error}"),
    };
    problems.expected(&at.key("module"), what);
    None
}

/// Notes every endpoint of `responses` that the manifest does not have.
fn check_endpoints(
    responses: &CannedResponses,
    manifest: &Manifest,
    at: &Place<'_>,
    problems: &mut Problems,
) {
    let known = manifest.every_endpoint();
    for endpoint in responses.endpoints().filter(|name| !known.contains_key(*name)) {
        let what = format!("an endpoint of the resolver `{}`", manifest.namespace);
        problems.expected(&at.key(endpoint), what);
    }
}

/// The responses of a case, by namespace: `{hr: {directory: {"GET people/ann": {status: 404}}}}`. Without `resolvers`
/// every namespace and endpoint is accepted.
pub(super) fn responses<'j>(
    resolvers: Option<&[SampleResolver]>,
) -> impl Field<'j, Value = ResponsesByNamespace> {
    field(
        move |json, at, problems| {
            let all = by_namespace().read(json, at, problems)?;
            if let Some(resolvers) = resolvers {
                check_namespaces(&all, at, problems, resolvers);
            }
            Some(all)
        },
        || by_namespace().schema(),
    )
    .about(
        "Responses to the requests of resolvers by namespace and endpoint, before the responses of resolvers.yaml",
    )
}

fn by_namespace<'j>() -> impl Field<'j, Value = ResponsesByNamespace> {
    by_name(CannedResponses::field())
}

/// Notes every namespace of `responses` that no resolver of the tenant has.
fn check_namespaces(
    responses: &ResponsesByNamespace,
    at: &Place<'_>,
    problems: &mut Problems,
    resolvers: &[SampleResolver],
) {
    for (namespace, responses) in responses {
        let at = at.key(namespace);
        match resolvers.iter().find(|one| one.manifest.namespace == *namespace) {
            Some(resolver) => check_endpoints(responses, &resolver.manifest, &at, problems),
            None => problems.expected(&at, "the namespace of a resolver of the tenant"),
        }
    }
}

/// The members of a manifest, overridden and completed by the members of an item of `resolvers.yaml`.
fn merged<'j>(manifest: &[Member<'j>], item: &[Member<'j>]) -> Vec<Member<'j>> {
    let own = item.iter().filter(|(name, _)| !OWN_MEMBERS.contains(&&**name));
    // A member of the item replaces the whole one of the manifest, and nothing inside it is merged.
    let rest = manifest.iter().filter(|(name, _)| item.iter().all(|(other, _)| other != name));
    rest.chain(own).cloned().collect()
}

/// Returns the namespaces that the tenant's policies may read.
pub(super) fn namespaces(resolvers: &[SampleResolver]) -> Namespaces {
    let mut namespaces = Namespaces::default();
    for resolver in resolvers {
        let attributes = resolver.attributes.iter();
        let attributes = attributes.map(|known| (known.name.clone(), known.kind));
        namespaces.insert(&resolver.manifest.namespace, attributes);
    }
    namespaces
}

#[cfg(test)]
mod tests;
