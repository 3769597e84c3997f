//! The checks that are measured.

use std::path::Path;

use chrono::{DateTime, Utc};
use portcullis_engine::{AttributeAnswers, Caller, Check, CheckBody, Json, json};

use super::Unusable;
use super::tenant::Tenant;
use portcullis_bundle::{Case, SampleUser};
use portcullis_tools::policy_test::DEFAULT_NOW;

/// A check, with everything that it may depend on.
#[derive(Debug)]
pub(super) struct Asked {
    /// The index of its tenant.
    pub(super) tenant: usize,
    pub(super) origin: Origin,
    /// A body that [`CheckBody::parse`] accepts.
    pub(super) body: Json<'static>,
    pub(super) caller: Option<Token>,
    pub(super) now: DateTime<Utc>,
    /// What resolvers answer. Asking them is not measured; what is not here is undetermined.
    pub(super) resolved: AttributeAnswers,
}

/// Where a check comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The case with this index.
    Case(usize),
    Generated,
    Replayed,
}

/// Whoever asks.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) subject: String,
    pub(super) roles: Vec<String>,
    pub(super) claims: Json<'static>,
}

impl Token {
    /// The token of a sample user.
    pub(super) fn of(user: &SampleUser) -> Self {
        let claims = user.claims.clone();
        Self { subject: user.sub.clone(), roles: user.roles.clone(), claims }
    }
}

impl Asked {
    /// The question, ready to be decided.
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

/// The cases of the tenants' folders.
pub(super) fn of_cases(tenants: &[Tenant]) -> Vec<Asked> {
    let mut asked = Vec::new();
    for (tenant, bundle) in tenants.iter().enumerate() {
        let Some(bundle) = &bundle.bundle else { continue };
        let user = |case: &Case| case.caller.as_deref().and_then(|sub| bundle.user(sub));
        asked.extend(bundle.cases.iter().enumerate().map(|(index, case)| Asked {
            tenant,
            origin: Origin::Case(index),
            body: case.check.clone(),
            caller: user(case).map(Token::of),
            now: case.now.unwrap_or(DEFAULT_NOW),
            resolved: case.resolved.clone(),
        }));
    }
    asked
}

/// The checks of a file, one on each line; they are asked at `now`. A check about a sample user comes with that
/// user's token.
pub(super) fn replay(
    file: &Path,
    tenants: &[Tenant],
    now: DateTime<Utc>,
) -> anyhow::Result<Vec<Asked>> {
    let at = |what: String| Unusable::error(format!("{}{what}", file.display()));
    let text = std::fs::read(file).map_err(|error| at(format!(": cannot be read: {error}")))?;
    if tenants.len() != 1 {
        return Err(at(format!(": is for one tenant, not for {}", tenants.len())));
    }
    let mut asked = Vec::new();
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let place = |error: &dyn std::fmt::Display| at(format!(":{}: {error}", index + 1));
        let tree = json::parse(line).map_err(|error| place(&error))?;
        let body = CheckBody::parse(&tree).map_err(|error| place(&error))?;
        let bundle = tenants.first().and_then(|tenant| tenant.bundle.as_ref());
        let caller = bundle.and_then(|bundle| bundle.user(body.subject)).map(Token::of);
        let body = tree.into_owned();
        let resolved = AttributeAnswers::default();
        asked.push(Asked { tenant: 0, origin: Origin::Replayed, body, caller, now, resolved });
    }
    if asked.is_empty() {
        return Err(at(": holds no check".to_owned()));
    }
    Ok(asked)
}
