//! The cases of a tenant in a service, and the users whom they name.

use std::borrow::Cow;

use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::{self, Json, JsonError};

use crate::cases::{Case, CaseNames};
use crate::unique::each_once;
use crate::users::{SampleUser, read_users};

/// Most cases of a tenant. A gate decides all of them within one write.
pub const MAX_CASES: usize = 1_000;
/// Most users of a tenant's cases: one for each case.
pub const MAX_CASE_USERS: usize = 1_000;
/// Most bytes of a tenant's cases and users as JSON. A case of the sample tenants has some 300 bytes.
pub const MAX_CASE_BYTES: usize = 1024 * 1024;

/// The cases of a tenant in a service. They may name policies, rules and resolvers that do not exist.
#[derive(Debug)]
pub struct CaseSet {
    /// The domain of checks without a domain, and of the tokens of the users.
    pub domain: String,
    pub users: Vec<SampleUser>,
    pub cases: Vec<Case>,
    /// The cases as canonical JSON: compact, the members of objects sorted.
    pub cases_json: String,
    /// The users as canonical JSON.
    pub users_json: String,
}

impl CaseSet {
    /// Makes a set of cases and users, each the text of a JSON object.
    ///
    /// # Errors
    /// A fault of a case or user, or there are too many, by JSON pointer: `/cases/…` or `/users/…`.
    pub fn from_texts<'t>(
        domain: &str,
        cases: impl Iterator<Item = &'t str>,
        users: impl Iterator<Item = &'t str>,
    ) -> Result<Self, JsonError> {
        Self::from_stored(domain, &array_text(cases), &array_text(users))
    }

    /// Reads the cases and users that a service stored, each the text of a JSON array.
    ///
    /// # Errors
    /// The errors of [`Self::from_texts`].
    pub fn from_stored(domain: &str, cases: &str, users: &str) -> Result<Self, JsonError> {
        let (cases, users) = (json::parse(cases.as_bytes())?, json::parse(users.as_bytes())?);
        let mut problems = Problems::default();
        let set = Self::read(domain, &cases, &users, &mut problems);
        Ok(problems.finish(set)?)
    }

    fn read(
        domain: &str,
        cases_json: &Json<'_>,
        users_json: &Json<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let root = Place::root();
        let (at_cases, at_users) = (root.key("cases"), root.key("users"));
        let users = read_users(users_json, &at_users, problems, domain)?;
        // A case may come with the token of any user of the set.
        let subjects: Vec<&str> = users.iter().map(|user| &*user.sub).collect();
        let names = CaseNames { users: &subjects, resolvers: None, deciders: None };
        let cases = list(|json, at: &Place<'_>, problems: &mut Problems| {
            Case::read(json, at, problems, names)
        })(cases_json, &at_cases, problems)?;
        each_once(cases.iter().map(|case| &case.name), "`name`", &at_cases, problems);
        if cases.len() > MAX_CASES {
            problems.expected(&at_cases, format!("at most {MAX_CASES} cases"));
        }
        if users.len() > MAX_CASE_USERS {
            problems.expected(&at_users, format!("at most {MAX_CASE_USERS} users"));
        }
        let (cases_json, users_json) = (canonical(cases_json), canonical(users_json));
        // The bound is about the texts that are stored, which have no white space.
        if cases_json.len() + users_json.len() > MAX_CASE_BYTES {
            let what = format!("cases and users of at most {MAX_CASE_BYTES} bytes");
            problems.expected(&at_cases, what);
        }
        Some(Self { domain: domain.to_owned(), users, cases, cases_json, users_json })
    }
}

fn array_text<'t>(items: impl Iterator<Item = &'t str>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// Returns the canonical text of a JSON value: compact, the members of objects sorted by name.
fn canonical(json: &Json<'_>) -> String {
    sorted(json).to_string()
}

fn sorted<'j>(json: &'j Json<'j>) -> Json<'j> {
    match json {
        Json::Array(items) => Json::Array(items.iter().map(sorted).collect()),
        Json::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(name, value)| (Cow::Borrowed(&**name), sorted(value)))
                .collect();
            // Names are unique in an object, so the order is always the same.
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Json::Object(members)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
