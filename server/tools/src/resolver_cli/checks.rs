//! The file of checks for a component: `checks.json`.

use chrono::{DateTime, Utc};
use portcullis_bundle::CannedResponses;
use portcullis_engine::fields::{list as read_list, string as read_string, text as read_text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::MAX_SUBJECT;
use portcullis_engine::{Caller, Check, CheckBody, Invalid, Json};
use portcullis_model::check::FileCheck;
use portcullis_model::fields::{instant, list, string, text};
use portcullis_model::file_schema::FileSchema;
use portcullis_model::input::{self, Field, Members, field};
use portcullis_model::{document, schema};
use utoipa::openapi::schema::{ObjectBuilder, Type};

/// Longest name of a check, in characters.
const MAX_NAME: usize = 256;
/// Follows the fault of an `expect` with the member `error`.
const ERROR_HINT: &str = "; an expected failure is `\"error\": \"<a part of its text>\"` beside `check`, in the place of `expect`";
/// The tenant, and the domain of a check that has no domain.
pub(super) const TENANT: &str = "test";

/// The schema of a file of checks.
pub(crate) const CHECKS_SCHEMA: FileSchema = FileSchema::list_of::<Sample<'static>>(
    "checks",
    "checks.json",
    "ResolverCheck",
    "Checks of a resolver with the answers that are expected; `portcullis resolver test` runs them",
)
.at_least_one();

/// A check, and the expected answer of the component.
#[derive(Debug)]
pub(super) struct Sample<'j> {
    pub(super) name: &'j str,
    body: CheckBody<'j>,
    /// Responses in place of requests to endpoints.
    pub(super) responses: CannedResponses,
    /// The instant of the check; `None` stands for the instant of the run.
    now: Option<DateTime<Utc>>,
    /// The roles of the subject's token. They replace the roles of the check.
    roles: Option<Vec<String>>,
    /// The attributes to request; `None` stands for all.
    wanted: Option<Vec<Box<str>>>,
    pub(super) expected: ExpectedAnswer<'j>,
}

/// The expected result of a check.
#[derive(Debug)]
pub(super) enum ExpectedAnswer<'j> {
    /// These values; `None` stands for an absent attribute. Other attributes may be answered too.
    Values(Vec<(&'j str, Option<&'j Json<'j>>)>),
    /// A failure whose text contains this text.
    Error(&'j str),
}

/// Reads the checks of a file. All faults are reported together.
pub(super) fn read<'j>(json: &'j Json<'j>) -> Result<Vec<Sample<'j>>, Invalid> {
    let (at, mut problems) = (Place::root(), Problems::default());
    let samples = read_list(Sample::read)(json, &at, &mut problems);
    if samples.as_ref().is_some_and(Vec::is_empty) {
        problems.expected(&at, "at least one check");
    }
    problems.finish(samples)
}

/// Refuses samples that request or expect an attribute that is not one of `attributes`, which the component has. All faults
/// are reported together.
pub(super) fn fit(samples: &[Sample<'_>], attributes: &[Box<str>]) -> Result<(), Invalid> {
    let (root, mut problems) = (Place::root(), Problems::default());
    let names: Vec<String> = attributes.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    for (index, sample) in samples.iter().enumerate() {
        let at = root.index(index);
        let wanted = sample.wanted.iter().flatten().enumerate();
        for (position, _) in wanted.filter(|(_, name)| !attributes.contains(name)) {
            let what = format!("an attribute of the component: {names}");
            problems.expected(&at.key("wanted").index(position), what);
        }
        // An expected failure names no attributes.
        let ExpectedAnswer::Values(values) = &sample.expected else { continue };
        for (name, _) in values.iter().filter(|(name, _)| !names_one(name, attributes)) {
            let hint = if *name == "error" { ERROR_HINT } else { "" };
            let what = format!("an attribute of the component: {names}{hint}");
            problems.expected(&at.key("expect").key(name), what);
        }
    }
    problems.into_result()
}

fn names_one(name: &str, attributes: &[Box<str>]) -> bool {
    attributes.iter().any(|attribute| **attribute == *name)
}

document!(Sample<'_> as "Sample", naming FileCheck => {
    let values = input::describe(Sample::declare)
        .member("error", absent("With `expect` there is no `error`"))
        .titled("Check with values")
        .about("A check, and the values that are expected");
    let failure = input::describe(Sample::declare)
        .required("error", error().schema())
        .member("expect", absent("With `error` there is no `expect`"))
        .titled("Check with a failure")
        .about("A check whose failure is expected");
    schema::one_of([values.into(), failure.into()])
});

fn absent(about: &'static str) -> ObjectBuilder {
    schema::typed(Type::Null).description(Some(about))
}

impl<'j> Sample<'j> {
    fn read(json: &'j Json<'j>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        input::read(json, at, problems, Self::declare)
    }

    fn declare(members: &mut Members<'j, '_>) -> Option<Self> {
        let now = instant().about("The time of the check; the time of the run when absent");
        let roles = list(text(MAX_SUBJECT))
            .about("The roles of the subject's token, in place of the check's");
        let wanted = list(string()).about("The attributes to request; all when absent");
        // Each member is read before the first `?`, so that all faults are noted.
        let name = members.required("name", name());
        let body = members.required("check", body());
        let responses = members.optional("responses", CannedResponses::field());
        let now = members.optional("now", now);
        let roles = members.optional("roles", roles);
        let wanted = members.optional("wanted", wanted);
        let values = members.optional("expect", expected_values());
        let error = members.optional("error", error());
        if values.is_some() && error.is_some() {
            members.expected_at("error", "either `error` or `expect`, not both");
        }
        let expected = match (values, error) {
            // Where both are given, a fault is noted already, and it does not matter which one counts.
            (_, Some(error)) => ExpectedAnswer::Error(error),
            (values, None) => ExpectedAnswer::Values(values.unwrap_or_default()),
        };
        Some(Self {
            name: name?,
            body: body?,
            responses: responses.unwrap_or_default(),
            now,
            roles,
            wanted: wanted.map(|names| names.into_iter().map(Box::from).collect()),
            expected,
        })
    }

    /// Returns the check in the form that the engine decides.
    pub(super) fn check<'s>(&'s self, now: DateTime<Utc>) -> Check<'s>
    where
        'j: 's,
    {
        const NO_CLAIMS: &Json<'_> = &Json::Object(Vec::new());
        let subject = self.body.subject;
        let caller =
            self.roles.as_deref().map(|roles| Caller { subject, roles, claims: NO_CLAIMS });
        let domain = self.body.domain.unwrap_or(TENANT);
        Check::new(self.body, domain, caller, self.now.unwrap_or(now))
    }

    /// Returns the attributes to request from a module with the attributes `all`.
    pub(super) fn wanted(&self, all: &[Box<str>]) -> Vec<Box<str>> {
        self.wanted.clone().unwrap_or_else(|| all.to_vec())
    }
}

/// The name of a check, which is not copied.
fn name<'j>() -> impl Field<'j, Value = &'j str> {
    field(read_text(MAX_NAME), || schema::text(MAX_NAME)).about("What the check shows")
}

fn body<'j>() -> impl Field<'j, Value = CheckBody<'j>> {
    field(CheckBody::read, schema::named::<FileCheck>)
}

fn error<'j>() -> impl Field<'j, Value = &'j str> {
    field(|json, at, problems| read_string(json, at, problems), schema::string)
        .about("A part of the text of the failure that is expected, in place of `expect`")
}

fn expected_values<'j>() -> impl Field<'j, Value = Vec<(&'j str, Option<&'j Json<'j>>)>> {
    field(values, || schema::typed(Type::Object)).about(
        "The expected values by attribute; `null` is an absent attribute. Other attributes may be answered too",
    )
}

/// Reads the expected values; `null` stands for an absent attribute.
fn values<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<(&'j str, Option<&'j Json<'j>>)>> {
    let Some(members) = json.as_object() else {
        problems.expected(at, format!("an object, not {}", json.kind()));
        return None;
    };
    let values = members.iter();
    Some(values.map(|(name, json)| (&**name, (*json != Json::Null).then_some(json))).collect())
}

/// Returns the faults of a file of checks.
#[cfg(test)]
pub(crate) fn faults_of_checks(text: &[u8]) -> String {
    let json = portcullis_engine::json::parse(text).unwrap_or(Json::Null);
    read(&json).map_or_else(|faults| faults.to_string(), |_| String::new())
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json;

    use super::*;

    /// Returns the faults of a sample with these members, for a component with two attributes.
    fn faults(members: &str) -> String {
        let check = r#""name": "a", "check": {"subject": "a", "resource": "b:c", "action": "d"}"#;
        let text = format!("[{{{check}, {members}}}]");
        let json = json::parse(text.as_bytes()).expect("JSON");
        let samples = read(&json).expect("valid");
        let attributes = ["department".into(), "manager".into()];
        fit(&samples, &attributes).map_or_else(|faults| faults.to_string(), |()| String::new())
    }

    #[test]
    fn only_attributes_of_the_component_are_expected() {
        let known = "expected an attribute of the component: `department`, `manager`";
        for (members, expected) in [
            (r#""expect": {"department": "sales", "manager": null}"#, String::new()),
            (r#""error": "no such person""#, String::new()),
            (r#""expect": {"departmnt": "sales"}"#, format!("at `/0/expect/departmnt`: {known}")),
            (
                r#""expect": {"error": "no such person"}"#,
                format!(
                    "at `/0/expect/error`: {known}; an expected failure is `\"error\": \"<a part of its text>\"` \
                     beside `check`, in the place of `expect`"
                ),
            ),
            (r#""wanted": ["manager", "boss"]"#, format!("at `/0/wanted/1`: {known}")),
        ] {
            assert_eq!(faults(members), expected, "{members}");
        }
    }
}
