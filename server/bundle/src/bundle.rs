//! One tenant, read whole from its files.

use std::io;
use std::path::Path;

use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::Types;
use portcullis_engine::{ActionTerms, Json, Namespaces, RoleInclusions};

use portcullis_model::entity::NewEntity;
use portcullis_model::folder_webhook::{FolderWebhook, SecretReference};
use portcullis_model::input::Field;
use portcullis_model::named_condition::NewCondition;
use portcullis_model::policy::NewPolicy;
use portcullis_model::relation::NewTuple;
use portcullis_model::resource::Registration;
use portcullis_model::role::NewRole;
use portcullis_model::rule::NewRule;
use portcullis_model::settings::TenantSettings;
use portcullis_model::types::NewType;

use crate::cases::{self, Case, CaseNames};
use crate::error::BundleError;
use crate::files::Files;
use crate::item_files::{ItemKind, SourceFile};
use crate::kinds::{
    CASES, CONDITIONS, KINDS, POLICIES, RESOLVERS, RESOURCES, ROLES, RULES, SETTINGS, TENANT,
    TYPES, WEBHOOKS,
};
use crate::list_files::Listed;
use crate::registry::{ItemWarning, RegisteredNames};
use crate::resolvers::{self, MANIFEST_FILE, SampleResolver};
use crate::rulebook::{Rulebook, check_subject};
use crate::sources::{DiskFolder, FileSource};
use crate::strays::{StrayFile, meant, strays_in, with_lists};
use crate::unique::each_once;
use crate::users::{self, SampleUser};
use crate::{entities, named_conditions, policies, roles, types};

/// May be missing. Entities are data: only the cases and checks of the folder read them.
const ENTITIES_FILE: &str = "entities.yaml";
/// May be missing. Tuples are data: only the cases and checks of the folder read them.
const RELATIONS_FILE: &str = "relations.yaml";

/// Returns the files that are read, beside those in the folders of lists.
fn known_files() -> Vec<&'static str> {
    [ENTITIES_FILE, RELATIONS_FILE].into_iter().chain(KINDS.map(|kind| kind.file())).collect()
}

/// Cases whose name starts so are the ones that `portcullis dev` shows.
const DEMO_PREFIX: &str = "demo: ";

/// A reference to a secret in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretUse {
    pub reference: SecretReference,
    /// The file, line and column.
    pub place: String,
}

/// One tenant, read whole and checked: everything that its files mention exists.
#[derive(Debug)]
pub struct Bundle {
    /// The tenant's id, and its domain: what a rule or check without a domain means.
    pub tenant: String,
    pub description: Option<String>,
    pub users: Vec<SampleUser>,
    /// The types; `None` without a file: they are not kept in the folder.
    pub types: Option<Vec<NewType>>,
    /// The entities that the cases and checks of the folder read; `None` without a file.
    pub entities: Option<Vec<NewEntity>>,
    /// The tuples that the cases and checks of the folder read; `None` without a file.
    pub tuples: Option<Vec<NewTuple>>,
    /// The resolvers that answer the attributes of other kinds than the request's and the token's.
    pub resolvers: Vec<SampleResolver>,
    pub resources: Vec<Registration>,
    /// The explicit rules. They come before the registrations of `resources`, so that a default role
    /// makes no rule for a tuple that has one.
    pub rules: Vec<NewRule>,
    /// The roles that include others; `None` without a file: they are not kept in the folder.
    pub roles: Option<Vec<NewRole>>,
    /// The named conditions; `None` without a file: they are not kept in the folder.
    pub conditions: Option<Vec<NewCondition>>,
    /// The policies. Their conditions have what the names in them stand for.
    pub policies: Vec<NewPolicy>,
    pub cases: Vec<Case>,
    /// `None` without a file: the tenant's webhooks are not kept in the folder.
    pub webhooks: Option<Vec<FolderWebhook>>,
    /// The settings; without a file, the defaults.
    pub settings: TenantSettings,
    /// The settings as they are written; `None` without a file: they are not kept in the folder.
    pub written_settings: Option<Json<'static>>,
    /// Whether there is a file of resolvers. Without one, the tenant's resolvers are not kept in the folder.
    pub has_resolvers: bool,
    /// The references to secrets in the files.
    pub secrets: Vec<SecretUse>,
    /// All of the above that decides, compiled.
    pub rulebook: Rulebook,
    /// Doubts about the files, each a line with its place. They change nothing.
    pub warnings: Vec<String>,
    /// The doubts about rules, and those about policies.
    pub rule_warnings: Vec<ItemWarning>,
    pub policy_warnings: Vec<ItemWarning>,
    /// The files that look like files of a folder, and are not read.
    pub strays: Vec<StrayFile>,
    /// The files whose items can have findings.
    pub sources: Vec<SourceFile>,
}

impl Bundle {
    /// Reads a tenant folder.
    ///
    /// # Errors
    /// The first file that is missing or not what it should be.
    pub fn read_folder(folder: &Path) -> Result<Self, BundleError> {
        let known = known_files();
        // This comes before the files are read: the error about a missing one names the stray that may be it.
        let strays = strays_in(folder, &known);
        let source = DiskFolder(folder);
        let shown = folder.display().to_string();
        let read = read_files(&Files { folder: shown.clone(), source });
        let mut bundle = read.map_err(|error| misnamed(error, &strays, &known))?;
        bundle.strays = with_lists(folder, strays, &known);
        bundle.warnings.extend(bundle.strays.iter().map(|stray| stray.warning(&shown)));
        Ok(bundle)
    }

    /// The sample user whose `sub` it is.
    pub fn user(&self, sub: &str) -> Option<&SampleUser> {
        self.users.iter().find(|user| user.sub == sub)
    }

    /// The files of the folder whose content is data, which an apply leaves alone.
    pub fn data_files(&self) -> impl Iterator<Item = &'static str> {
        let entities = self.entities.as_ref().map(|_| ENTITIES_FILE);
        entities.into_iter().chain(self.tuples.as_ref().map(|_| RELATIONS_FILE))
    }

    /// The cases to show to somebody who is new here.
    pub fn demos(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.name.starts_with(DEMO_PREFIX))
    }
}

/// Adds the stray file that may be meant to the error about a missing file.
fn misnamed(error: BundleError, strays: &[String], known: &[&str]) -> BundleError {
    let BundleError::Unreadable { file, error } = error else { return error };
    let name = file.rsplit('/').next().unwrap_or(&file);
    match strays.iter().find(|stray| meant(stray, known) == Some(name)) {
        // A file that is there but cannot be read is not misnamed.
        Some(stray) if error.kind() == io::ErrorKind::NotFound => {
            BundleError::Misnamed { stray: stray.clone(), file }
        }
        _ => BundleError::Unreadable { file, error },
    }
}

/// Reads the files of a tenant, and checks that everything exists that they mention.
pub(super) fn read_files<S: FileSource>(files: &Files<S>) -> Result<Bundle, BundleError> {
    let (tenant, description, users) = files.read(TENANT.file(), users::read)?;
    // The types come first, because rules, policies, cases and entities are checked against the types.
    let types = files.read_optional(TYPES.file(), types::read_all)?;
    let declared = types::compiled(types.as_deref());
    let resolvers = read_resolvers(files)?;
    let has_resolvers = resolvers.is_some();
    let resolvers = resolvers.unwrap_or_default();
    let settings = files.read_optional(SETTINGS.file(), read_settings)?;
    let (written_settings, settings) = settings.unzip();
    // The settings come before the rules and cases, whose actions they may restrict.
    let settings: TenantSettings = settings.unwrap_or_default();
    let terms = (&declared, settings.checks.actions);
    let (resources, rules) = (read_resources(files)?, read_rules(files, &tenant, terms)?);
    let roles = files.read_optional(ROLES.file(), roles::read)?;
    let conditions = files.read_optional(CONDITIONS.file(), named_conditions::read_all)?;
    let names = named_conditions::named(conditions.as_deref().unwrap_or_default());
    let namespaces = resolvers::namespaces(&resolvers).with_types(declared.clone());
    let namespaces = namespaces.with_conditions(names);
    let mut policies = read_policies(files, &namespaces)?;
    // From here on policies have the conditions themselves in place of their names.
    named_conditions::resolve(&mut policies.items, namespaces.conditions());
    let included = roles.iter().flatten().map(|role| (role.name.clone(), role.includes.clone()));
    let rulebook = Rulebook::new(&tenant, &resources.items, &rules.items, &policies.items)
        .with_inclusions(RoleInclusions::new(included))
        .with_types(&declared)
        .with_directory_wins(settings.directory_wins)
        .with_relations(types.iter().flatten().map(|one| (&*one.kind, &one.relations)));
    let (rulebook, tuples) = with_tuples(files, rulebook)?;
    let (rulebook, entities) = with_entities(files, &declared, rulebook)?;
    // The cases come after everything that they may name.
    let deciders = cases::deciders(&rulebook, &policies.items);
    let subjects: Vec<&str> = users.iter().map(|user| &*user.sub).collect();
    let names =
        CaseNames { users: &subjects, resolvers: Some(&resolvers), deciders: Some(&deciders) };
    let cases = files.read_list(
        &CASES,
        |json, at, problems| cases::read(json, at, problems, names, terms),
        "`name`",
        |case| case.name.clone(),
    )?;
    let webhooks = read_webhooks(files)?;
    let registered = RegisteredNames::new(resources.items.iter());
    let rule_warnings = registered.warnings_of_rules(&rules.items);
    let policy_warnings = registered.warnings_of_policies(&policies.items);
    let mut warnings = files.warnings(&rules, rule_warnings.clone());
    warnings.extend(files.warnings(&policies, policy_warnings.clone()));
    let mut sources = vec![files.item_file(ItemKind::Resolver, RESOLVERS.file(), resolvers.len())];
    sources.extend(files.item_files(ItemKind::Rule, &rules));
    if let Some(types) = &types {
        sources.push(files.item_file(ItemKind::Type, TYPES.file(), types.len()));
    }
    if let Some(roles) = &roles {
        sources.push(files.item_file(ItemKind::Role, ROLES.file(), roles.len()));
    }
    if let Some(conditions) = &conditions {
        sources.push(files.item_file(ItemKind::Condition, CONDITIONS.file(), conditions.len()));
    }
    sources.extend(files.item_files(ItemKind::Policy, &policies));
    sources.extend(files.item_files(ItemKind::Case, &cases));
    let secrets = secret_uses(files, &resolvers, webhooks.as_deref().unwrap_or_default());
    Ok(Bundle {
        tenant,
        description,
        users,
        types,
        entities,
        tuples,
        resolvers,
        resources: resources.items,
        rules: rules.items,
        roles,
        conditions,
        policies: policies.items,
        cases: cases.items,
        webhooks,
        settings,
        written_settings,
        has_resolvers,
        secrets,
        rulebook,
        warnings,
        rule_warnings,
        policy_warnings,
        strays: vec![],
        sources,
    })
}

/// Returns the rulebook with the tuples that the cases and checks of the folder read, and these.
fn with_tuples<S: FileSource>(
    files: &Files<S>,
    rulebook: Rulebook,
) -> Result<(Rulebook, Option<Vec<NewTuple>>), BundleError> {
    let read = files.read_optional(RELATIONS_FILE, |json, at, problems| {
        let tuples = list(NewTuple::read)(json, at, problems)?;
        Some((rulebook.assuming(&tuples, at, problems), tuples))
    })?;
    Ok(match read {
        Some((graph, tuples)) => (rulebook.with_graph(graph), Some(tuples)),
        None => (rulebook, None),
    })
}

/// Returns the rulebook with the entities that the cases and checks of the folder read, and these.
fn with_entities<S: FileSource>(
    files: &Files<S>,
    types: &Types,
    rulebook: Rulebook,
) -> Result<(Rulebook, Option<Vec<NewEntity>>), BundleError> {
    let read = files.read_optional(ENTITIES_FILE, |json, at, problems| {
        entities::read(json, at, problems, types)
    })?;
    Ok(match read {
        Some((table, entities)) => (rulebook.with_entities(table), Some(entities)),
        None => (rulebook, None),
    })
}

fn read_resources<S: FileSource>(files: &Files<S>) -> Result<Listed<Registration>, BundleError> {
    files.read_list(
        &RESOURCES,
        |json, at, problems| list(Registration::read)(json, at, problems),
        "`name`",
        |resource| resource.name.clone(),
    )
}

fn read_rules<S: FileSource>(
    files: &Files<S>,
    tenant: &str,
    terms: (&Types, ActionTerms),
) -> Result<Listed<NewRule>, BundleError> {
    files.read_list(
        &RULES,
        |json, at, problems| read_rule_list(json, at, problems, tenant, terms),
        "tuple",
        |rule| rule.tuple.to_string(),
    )
}

fn read_rule_list(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    tenant: &str,
    (types, actions): (&Types, ActionTerms),
) -> Option<Vec<NewRule>> {
    list(|json, at: &Place<'_>, problems: &mut Problems| {
        let rule = NewRule::field(tenant).read(json, at, problems)?;
        check_subject(&rule, types, at, problems);
        if let Some(expected) = actions.fault_of_rule(&rule.tuple) {
            problems.expected(&at.key("act"), expected);
        }
        Some(rule)
    })(json, at, problems)
}

fn read_policies<S: FileSource>(
    files: &Files<S>,
    namespaces: &Namespaces,
) -> Result<Listed<NewPolicy>, BundleError> {
    files.read_list(
        &POLICIES,
        |json, at, problems| policies::read(json, at, problems, namespaces),
        "`name`",
        |policy| policy.name.clone(),
    )
}

fn read_webhooks<S: FileSource>(
    files: &Files<S>,
) -> Result<Option<Vec<FolderWebhook>>, BundleError> {
    files.read_optional(WEBHOOKS.file(), |json, at, problems| {
        let webhooks = list(FolderWebhook::read)(json, at, problems)?;
        each_once(webhooks.iter().map(|webhook| &webhook.url), "`url`", at, problems);
        Some(webhooks)
    })
}

/// Reads the settings, and returns them as they are written, too: an apply sends them so.
fn read_settings(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<(Json<'static>, TenantSettings)> {
    let settings = TenantSettings::read(json, at, problems)?;
    Some((json.clone().into_owned(), settings))
}

/// Returns the references to secrets, with their places.
fn secret_uses<S: FileSource>(
    files: &Files<S>,
    resolvers: &[SampleResolver],
    webhooks: &[FolderWebhook],
) -> Vec<SecretUse> {
    let mut uses = Vec::new();
    for (index, resolver) in resolvers.iter().enumerate() {
        for (name, reference) in &resolver.references {
            // A member of the manifest's own file is at the item that names the resolver.
            let place = files.place(RESOLVERS.file(), &format!("/{index}/secrets/{name}"));
            uses.push(SecretUse { reference: reference.clone(), place });
        }
    }
    for (index, webhook) in webhooks.iter().enumerate() {
        if let Some(reference) = &webhook.secret {
            let place = files.place(WEBHOOKS.file(), &format!("/{index}/secret"));
            uses.push(SecretUse { reference: reference.clone(), place });
        }
    }
    uses
}

fn read_resolvers<S: FileSource>(
    files: &Files<S>,
) -> Result<Option<Vec<SampleResolver>>, BundleError> {
    files.read_optional(RESOLVERS.file(), |json, at, problems| {
        let resolvers = list(|json, at: &Place<'_>, problems: &mut Problems| {
            SampleResolver::read(
                json,
                at,
                problems,
                |module| resolver_folder(&files.source, module),
                |name| files.source.text(name),
            )
        })(json, at, problems)?;
        let namespaces = resolvers.iter().map(|resolver| &resolver.manifest.namespace);
        each_once(namespaces, "`namespace`", at, problems);
        Some(resolvers)
    })
}

/// Returns the folder of a resolver: the tenant's own, or one that it shares with its neighbours.
fn resolver_folder(source: &impl FileSource, module: &str) -> String {
    let own = format!("resolvers/{module}");
    let is_own = source.text(&format!("{own}/{MANIFEST_FILE}")).is_ok();
    if is_own { own } else { format!("../{own}") }
}
