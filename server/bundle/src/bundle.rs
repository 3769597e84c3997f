//! One tenant, read whole from its files.

use std::path::Path;
use std::{fs, io};

use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};

use portcullis_model::policy::NewPolicy;
use portcullis_model::resource::Registration;
use portcullis_model::rule::NewRule;

use crate::cases::{self, Case};
use crate::error::BundleError;
use crate::files::Files;
use crate::item_files::{ItemKind, SourceFile};
use crate::policies;
use crate::registry::{ItemWarning, RegisteredNames};
use crate::resolvers::{self, MANIFEST_FILE, SampleResolver};
use crate::rulebook::Rulebook;
use crate::strays::{meant, strays_in};
use crate::unique::each_once;
use crate::users::{self, SampleUser, TENANT_FILE};

/// May be missing.
const RESOLVERS_FILE: &str = "resolvers.yaml";
const RESOURCES_FILE: &str = "resources.yaml";
pub(super) const RULES_FILE: &str = "rules.yaml";
pub(super) const POLICIES_FILE: &str = "policies.yaml";
pub(super) const CASES_FILE: &str = "cases.yaml";

/// The files that are read.
const KNOWN_FILES: [&str; 6] =
    [TENANT_FILE, RESOLVERS_FILE, RESOURCES_FILE, RULES_FILE, POLICIES_FILE, CASES_FILE];

/// Cases whose name starts so are the ones that `portcullis dev` shows.
const DEMO_PREFIX: &str = "demo: ";

/// One tenant, read whole and checked: everything that its files mention exists.
#[derive(Debug)]
pub struct Bundle {
    /// The tenant's id, and its domain: what a rule or check without a domain means.
    pub tenant: String,
    pub description: Option<String>,
    pub users: Vec<SampleUser>,
    /// The resolvers that answer the attributes of other kinds than the request's and the token's.
    pub resolvers: Vec<SampleResolver>,
    pub resources: Vec<Registration>,
    /// The explicit rules. They come before the registrations of `resources`, so that a default role
    /// makes no rule for a tuple that has one.
    pub rules: Vec<NewRule>,
    pub policies: Vec<NewPolicy>,
    pub cases: Vec<Case>,
    /// All of the above that decides, compiled.
    pub rulebook: Rulebook,
    /// Doubts about the files, each a line with its place. They change nothing.
    pub warnings: Vec<String>,
    /// The doubts about rules, and those about policies.
    pub rule_warnings: Vec<ItemWarning>,
    pub policy_warnings: Vec<ItemWarning>,
    /// The names of YAML files that are not read, each with the file that it may be meant to be.
    pub strays: Vec<(String, Option<&'static str>)>,
    /// The files whose items can have findings.
    pub sources: Vec<SourceFile>,
}

impl Bundle {
    /// Reads a tenant folder.
    ///
    /// # Errors
    /// The first file that is missing or not what it should be.
    pub fn read_folder(folder: &Path) -> Result<Self, BundleError> {
        let text = |name: &str| fs::read_to_string(folder.join(name));
        let strays = strays_in(folder, &KNOWN_FILES);
        let folder = folder.display().to_string();
        let read = read_files(&Files { folder: folder.clone(), text });
        let mut bundle = read.map_err(|error| misnamed(error, &strays))?;
        bundle.warnings.extend(strays.iter().map(|stray| stray_warning(&folder, stray)));
        let with_meant = |stray: String| (stray.clone(), meant(&stray, &KNOWN_FILES));
        bundle.strays = strays.into_iter().map(with_meant).collect();
        Ok(bundle)
    }

    /// The sample user whose `sub` it is.
    pub fn user(&self, sub: &str) -> Option<&SampleUser> {
        self.users.iter().find(|user| user.sub == sub)
    }

    /// The cases to show to somebody who is new here.
    pub fn demos(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.name.starts_with(DEMO_PREFIX))
    }
}

/// Adds the stray file that may be meant to the error about a missing file.
fn misnamed(error: BundleError, strays: &[String]) -> BundleError {
    let BundleError::Unreadable { file, error } = error else { return error };
    let name = file.rsplit('/').next().unwrap_or(&file);
    match strays.iter().find(|stray| meant(stray, &KNOWN_FILES) == Some(name)) {
        Some(stray) if error.kind() == io::ErrorKind::NotFound => {
            BundleError::Misnamed { stray: stray.clone(), file }
        }
        _ => BundleError::Unreadable { file, error },
    }
}

fn stray_warning(folder: &str, stray: &str) -> String {
    let hint = meant(stray, &KNOWN_FILES).map(|name| format!("; did you mean `{name}`?"));
    format!("{folder}/{stray}: this file is not read{}", hint.unwrap_or_default())
}

/// Reads the files of a tenant, and checks that everything exists that they mention.
pub(super) fn read_files<T: Fn(&str) -> io::Result<String>>(
    files: &Files<T>,
) -> Result<Bundle, BundleError> {
    let (tenant, description, users) = files.read(TENANT_FILE, users::read)?;
    let resolvers = read_resolvers(files)?;
    let resources = files.read(RESOURCES_FILE, |json, at, problems| {
        let resources = list(Registration::read)(json, at, problems)?;
        each_once(resources.iter().map(|resource| &resource.name), "`name`", at, problems);
        Some(resources)
    })?;
    let rules = files.read(RULES_FILE, |json, at, problems| {
        let rules = list(|json, at: &Place<'_>, problems: &mut Problems| {
            NewRule::read(json, at, problems, &tenant)
        })(json, at, problems)?;
        each_once(rules.iter().map(|rule| &rule.tuple), "tuple", at, problems);
        Some(rules)
    })?;
    let namespaces = resolvers::namespaces(&resolvers);
    let policies = files.read(POLICIES_FILE, |json, at, problems| {
        policies::read(json, at, problems, &namespaces)
    })?;
    let rulebook = Rulebook::new(&tenant, &resources, &rules, &policies);
    let deciders = cases::deciders(&rulebook, &policies);
    let cases = files.read(CASES_FILE, |json, at, problems| {
        let cases = list(|json, at: &Place<'_>, problems: &mut Problems| {
            Case::read(json, at, problems, &users, &resolvers, &deciders)
        })(json, at, problems)?;
        each_once(cases.iter().map(|case| &case.name), "`name`", at, problems);
        Some(cases)
    })?;
    let registered = RegisteredNames::new(&resources);
    let rule_warnings = registered.warnings_of_rules(&rules);
    let policy_warnings = registered.warnings_of_policies(&policies);
    let mut warnings = files.warnings(RULES_FILE, &rule_warnings);
    warnings.extend(files.warnings(POLICIES_FILE, &policy_warnings));
    let sources = [
        (RESOLVERS_FILE, ItemKind::Resolver, resolvers.len()),
        (RULES_FILE, ItemKind::Rule, rules.len()),
        (POLICIES_FILE, ItemKind::Policy, policies.len()),
        (CASES_FILE, ItemKind::Case, cases.len()),
    ];
    let sources =
        sources.into_iter().filter_map(|(name, kind, items)| files.source(name, kind, items));
    let sources = sources.collect();
    Ok(Bundle {
        tenant,
        description,
        users,
        resolvers,
        resources,
        rules,
        policies,
        cases,
        rulebook,
        warnings,
        rule_warnings,
        policy_warnings,
        strays: vec![],
        sources,
    })
}

fn read_resolvers<T: Fn(&str) -> io::Result<String>>(
    files: &Files<T>,
) -> Result<Vec<SampleResolver>, BundleError> {
    if matches!((files.text)(RESOLVERS_FILE), Err(error) if error.kind() == io::ErrorKind::NotFound)
    {
        return Ok(vec![]);
    }
    // The tenant's own, or one that it shares with its neighbours.
    let find = |module: &str| {
        let own = format!("resolvers/{module}");
        let is_own = (files.text)(&format!("{own}/{MANIFEST_FILE}")).is_ok();
        if is_own { own } else { format!("../{own}") }
    };
    files.read(RESOLVERS_FILE, |json, at, problems| {
        let resolvers = list(|json, at: &Place<'_>, problems: &mut Problems| {
            SampleResolver::read(json, at, problems, find, &files.text)
        })(json, at, problems)?;
        let namespaces = resolvers.iter().map(|resolver| &resolver.manifest.namespace);
        each_once(namespaces, "`namespace`", at, problems);
        Some(resolvers)
    })
}
