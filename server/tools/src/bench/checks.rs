//! The checks that are measured.

use std::path::Path;

use chrono::{DateTime, Utc};
use portcullis_bundle::{Bundle, Case, DEFAULT_NOW, SampleUser};
use portcullis_engine::{
    AttributeAnswers, Caller, Check, CheckBody, Decision, Json, KnownEntities, OpenQuestion, Plan,
    json,
};

use crate::bench::tenant::Tenant;
use crate::bench::unusable::Unusable;

/// A check, with everything that its decision depends on.
#[derive(Debug)]
pub(super) struct MeasuredCheck {
    /// The index of its tenant.
    pub(super) tenant: usize,
    pub(super) origin: CheckOrigin,
    /// A body that [`CheckBody::parse`] accepts.
    pub(super) body: Json<'static>,
    pub(super) caller: Option<CallerToken>,
    pub(super) now: DateTime<Utc>,
    /// The attribute answers of resolvers. Calls of resolvers are not measured; other attributes are undetermined.
    pub(super) resolved: AttributeAnswers,
}

/// The origin of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckOrigin {
    /// The case with this index.
    Case(usize),
    Generated,
    Replayed,
}

/// The token of the caller.
#[derive(Clone, Debug)]
pub(super) struct CallerToken {
    pub(super) subject: String,
    pub(super) roles: Vec<String>,
    pub(super) claims: Json<'static>,
}

impl CallerToken {
    /// Returns the token of a sample user.
    pub(super) fn new(user: &SampleUser) -> Self {
        let claims = user.claims.clone();
        Self { subject: user.sub.clone(), roles: user.roles.clone(), claims }
    }
}

impl MeasuredCheck {
    /// Returns the check in the form that the engine decides.
    pub(super) fn check<'a>(&'a self, tenants: &'a [Tenant]) -> Option<Check<'a>> {
        let body = CheckBody::parse(&self.body).ok()?;
        let caller = self.caller.as_ref().map(|token| Caller {
            subject: &token.subject,
            roles: &token.roles,
            claims: &token.claims,
        });
        let domain = body.domain.unwrap_or(&tenants.get(self.tenant)?.domain);
        Some(Check::new(body, domain, caller, self.now))
    }
}

/// Decides a check. Its roles include others; no directory completes it.
pub(super) fn decide<'p>(
    plan: &'p Plan,
    check: &Check<'_>,
    resolved: &AttributeAnswers,
) -> Decision<'p> {
    let facts = KnownEntities::default();
    OpenQuestion::combined(plan, &facts, *check).with_answers(resolved).settle()
}

/// Returns the cases of the tenants' folders.
pub(super) fn from_cases(tenants: &[Tenant]) -> Vec<MeasuredCheck> {
    let mut asked = Vec::new();
    for (position, tenant) in tenants.iter().enumerate() {
        let Some(bundle) = &tenant.bundle else { continue };
        asked.extend(bundle.cases.iter().enumerate().map(|(index, case)| MeasuredCheck {
            tenant: position,
            origin: CheckOrigin::Case(index),
            body: case.check.clone(),
            caller: caller(case, bundle),
            now: case.now.unwrap_or(DEFAULT_NOW),
            resolved: tenant.answers.get(index).cloned().unwrap_or_default(),
        }));
    }
    asked
}

fn caller(case: &Case, bundle: &Bundle) -> Option<CallerToken> {
    case.caller.as_deref().and_then(|sub| bundle.user(sub)).map(CallerToken::new)
}

/// Reads the checks of a file, one on each line. Their instant is `now`. A check about a sample user has that user's
/// token.
pub(super) fn replay(
    file: &Path,
    tenants: &[Tenant],
    now: DateTime<Utc>,
) -> anyhow::Result<Vec<MeasuredCheck>> {
    let text = std::fs::read(file)
        .map_err(|error| unusable(file, format_args!(": cannot be read: {error}")))?;
    // A line names no tenant, so there must be no choice.
    if tenants.len() != 1 {
        return Err(unusable(
            file,
            format_args!(
                ": a file of checks is for one tenant, but there are {} tenants",
                tenants.len()
            ),
        ));
    }
    let mut asked = Vec::new();
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        // Editors count lines from one.
        let number = index + 1;
        let tree = json::parse(line)
            .map_err(|error| unusable(file, format_args!(":{number}: {error}")))?;
        let body = CheckBody::parse(&tree)
            .map_err(|error| unusable(file, format_args!(":{number}: {error}")))?;
        let bundle = tenants.first().and_then(|tenant| tenant.bundle.as_ref());
        let caller = bundle.and_then(|bundle| bundle.user(body.subject)).map(CallerToken::new);
        let body = tree.into_owned();
        let resolved = AttributeAnswers::default();
        asked.push(MeasuredCheck {
            tenant: 0,
            origin: CheckOrigin::Replayed,
            body,
            caller,
            now,
            resolved,
        });
    }
    if asked.is_empty() {
        return Err(unusable(file, format_args!(": contains no check")));
    }
    Ok(asked)
}

/// Returns the error about a file; `what` follows its name.
fn unusable(file: &Path, what: std::fmt::Arguments<'_>) -> anyhow::Error {
    Unusable::error(format!("{}{what}", file.display()))
}
