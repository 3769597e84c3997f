//! The resolvers whose attributes a tenant's policies read: `resolvers.yaml`.
//!
//! The attributes of a component are read from the `descriptor.json` beside it, so that policies are checked without
//! WebAssembly.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use portcullis_engine::fields::{Fields, boolean, string};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::{self, Member};
use portcullis_engine::{AttributeKind, Json, Namespaces};

use portcullis_model::egress_rules::EgressRules;
use portcullis_model::folder_webhook::SecretReference;
use portcullis_model::resolver::{AttributeRecord, Manifest, ModuleRecord};

use crate::resolver_secrets::{keep_secrets, references};
use crate::responses::{CannedResponses, each};

/// Beside a component: what `portcullis resolver inspect --json` says of it.
pub const DESCRIPTOR_FILE: &str = "descriptor.json";
pub(super) const MANIFEST_FILE: &str = "manifest.json";

/// The members of an item of `resolvers.yaml` that are not those of its manifest.
const OWN_MEMBERS: [&str; 3] = ["module", "responses", "enabled"];

/// A resolver of a tenant.
#[derive(Debug, PartialEq)]
pub struct SampleResolver {
    /// The name of the component's folder.
    pub module: String,
    /// The folder of the component, inside that of the tenant.
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
    /// The digest of the component that the descriptor is about, in hexadecimal.
    pub sha256: String,
    /// Responses to the requests of the component in every case.
    pub responses: CannedResponses,
}

/// Responses by the namespace of the resolver.
pub type ResponsesByNamespace = BTreeMap<String, CannedResponses>;

impl SampleResolver {
    /// Reads an item of `resolvers.yaml`: the name of a component, members to put over those of its manifest, and
    /// responses. `find` returns the folder of a component inside that of the tenant, and `text` reads a file.
    pub(super) fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        find: impl Fn(&str) -> String,
        text: impl Fn(&str) -> io::Result<String>,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let module = fields.required("module", |json, at, problems| {
            let module = string(json, at, problems)?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            if module.is_empty() || !module.chars().all(is_name) {
                problems.expected(at, "the name of a folder of `resolvers`");
                return None;
            }
            Some(module)
        })?;
        let responses = fields.optional("responses", CannedResponses::read).unwrap_or_default();
        let enabled = fields.optional("enabled", boolean).unwrap_or(true);
        let folder = find(module);
        let file = |name: &str, problems: &mut Problems| {
            let read = text(&format!("{folder}/{name}"));
            let note = |error: io::Error| {
                let what = match error.kind() {
                    io::ErrorKind::NotFound => format!(
                        "a resolver, but neither `resolvers/{module}/{name}` nor \
                         `../resolvers/{module}/{name}` exists"
                    ),
                    _ => format!("a resolver whose `{name}` can be read, but {error}"),
                };
                problems.expected(&at.key("module"), what);
            };
            read.map_err(note).ok()
        };
        let manifest = file(MANIFEST_FILE, problems)?;
        let descriptor = file(DESCRIPTOR_FILE, problems)?;
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
        let kept_secrets = keep_secrets(&mut merged);
        let merged = Json::Object(merged);
        // Whether the endpoints may be called is for whoever calls them.
        let rules = EgressRules { allow_http: true, ..EgressRules::default() };
        let manifest = Manifest::read(&merged, at, problems, &rules)?;
        check_endpoints(&responses, &manifest, &at.key("responses"), problems);
        let references = references(&merged);
        let (module, folder) = (module.to_owned(), folder.into());
        let ModuleRecord { attributes, sha256, .. } = descriptor;
        Some(Self {
            module,
            folder,
            manifest,
            references,
            kept_secrets,
            enabled,
            attributes,
            sha256,
            responses,
        })
    }

    pub(super) fn kind(&self, attribute: &str) -> Option<AttributeKind> {
        let mut all = self.attributes.iter();
        all.find(|known| known.name == attribute).map(|known| known.kind)
    }
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

/// Reads the responses of a case, by namespace: `{hr: {directory: {"GET people/ann": {status: 404}}}}`. Without
/// `resolvers` every namespace and endpoint is accepted.
pub(super) fn responses(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    resolvers: Option<&[SampleResolver]>,
) -> Option<ResponsesByNamespace> {
    let all = each(json, at, problems, CannedResponses::read)?;
    let Some(resolvers) = resolvers else { return Some(all) };
    for (namespace, responses) in &all {
        let at = at.key(namespace);
        match resolvers.iter().find(|one| one.manifest.namespace == *namespace) {
            Some(resolver) => check_endpoints(responses, &resolver.manifest, &at, problems),
            None => problems.expected(&at, "the namespace of a resolver of the tenant"),
        }
    }
    Some(all)
}

/// The members of a manifest, with those of an item of `resolvers.yaml` in place of theirs.
fn merged<'j>(manifest: &[Member<'j>], item: &[Member<'j>]) -> Vec<Member<'j>> {
    let is_of_manifest = |(name, _): &&Member<'_>| !OWN_MEMBERS.contains(&&**name);
    let own = item.iter().filter(is_of_manifest);
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
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use crate::Bundle;
    use crate::fixture::{edit, without_positions, write_tenant};

    const RESOLVERS: &str = "- module: business-hours\n  config: {opens: '07:00'}\n";

    /// A small tenant whose policy reads `hours`, with the sample resolver beside it.
    fn write(folder: &Path) -> PathBuf {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/resolvers");
        let module = folder.join("resolvers/business-hours");
        fs::create_dir_all(&module).expect("writable");
        for file in ["manifest.json", "descriptor.json"] {
            fs::copy(samples.join("business-hours").join(file), module.join(file)).expect("a copy");
        }
        let tenant = folder.join("acme");
        write_tenant(&tenant);
        fs::write(tenant.join("resolvers.yaml"), RESOLVERS).expect("writable");
        edit(&tenant, "policies.yaml", "resource.locked", "hours.open");
        edit(
            &tenant,
            "cases.yaml",
            "  expect: {decision: deny",
            "  resolved: {hours: {open: true}}\n  expect: {decision: deny",
        );
        tenant
    }

    /// The message about that tenant after one edit.
    #[track_caller]
    fn refused(file: &str, from: &str, to: &str, expected: &str) {
        let folder = tempfile::tempdir().expect("a folder");
        let tenant = write(folder.path());
        edit(&tenant, file, from, to);
        let error = Bundle::read_folder(&tenant).expect_err("it must be refused");
        let error = without_positions(&error.to_string());
        let (_, fault) = error.split_once(&format!("{file}: ")).expect("it names the file");
        assert_eq!(fault, expected);
    }

    #[test]
    fn a_manifest_is_what_the_component_has_and_the_tenant_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let bundle = Bundle::read_folder(&write(folder.path())).expect("sound");
        let [resolver] = &*bundle.resolvers else { panic!("one resolver") };
        assert_eq!(resolver.manifest.namespace, "hours");
        // A member replaces the whole one.
        assert_eq!(resolver.manifest.config.keys().collect::<Vec<_>>(), ["opens"]);
    }

    #[test]
    fn policies_read_what_there_is() {
        refused(
            "policies.yaml",
            "hours.open",
            "hours.opens",
            "at `/0/rule_data/attribute`: expected `hours.open`, `hours.weekday`; resolver `hours` has no `opens`",
        );
        refused(
            "policies.yaml",
            "hours.open",
            "hr.open",
            "at `/0/rule_data/attribute`: expected an attribute of `user`, `resource`, `request` or `token`; there is no resolver `hr`",
        );
        refused(
            "policies.yaml",
            "value: true",
            "value: 1",
            "at `/0/rule_data/attribute`: expected an attribute that `eq` compares with this value; `hours.open` is a boolean",
        );
    }

    #[test]
    fn cases_resolve_what_there_is() {
        let file = "cases.yaml";
        let at = "at `/1/resolved/hours";
        refused(
            file,
            "{hours:",
            "{hr:",
            "at `/1/resolved/hr`: expected the namespace of a resolver of the tenant",
        );
        refused(
            file,
            "open: true",
            "opens: true",
            &format!("{at}/opens`: expected an attribute of the resolver `hours`"),
        );
        refused(
            file,
            "open: true",
            "open: 'true'",
            &format!("{at}/open`: expected a boolean, not a string"),
        );
        refused(file, "{open: true}", "[]", &format!("{at}`: expected an object, not an array"));
    }

    #[test]
    fn a_resolver_that_is_not_there_is_named() {
        let file = "resolvers.yaml";
        for (to, expected) in [
            ("../secrets", "expected the name of a folder of `resolvers`"),
            (
                "geo",
                "expected a resolver, but neither `resolvers/geo/manifest.json` nor \
                 `../resolvers/geo/manifest.json` exists",
            ),
        ] {
            refused(file, "business-hours", to, &format!("at `/0/module`: {expected}"));
        }
        refused(
            file,
            "config",
            "konfig",
            "at `/0`: field `konfig` is unknown; did you mean `config`?",
        );
        refused(
            file,
            RESOLVERS,
            &RESOLVERS.repeat(2),
            "at `/1`: expected a unique `namespace`, but an earlier item also has `hours`",
        );
    }
}
