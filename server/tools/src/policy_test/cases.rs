//! Decides one case, and compares the decision with the expected one.

use portcullis_bundle::{Bundle, Case, Expected, SampleUser};
use portcullis_engine::{Check, CheckBody, Invalid};

use super::coverage::Coverage;
use super::instant::DEFAULT_NOW;
use super::resolvers::FolderResolvers;
use super::undetermined::{UndeterminedPolicy, rests_on};

/// The result of a case.
pub(super) struct CaseResult<'f> {
    pub(super) case: &'f Case,
    pub(super) verdict: CaseVerdict,
}

/// The verdict on a case.
pub(super) enum CaseVerdict {
    Passed,
    /// The decision is another one, for this reason.
    Otherwise {
        got: Expected,
        reason: String,
    },
    /// The decision is the expected one, but it rests on these policies.
    Undetermined(Vec<UndeterminedPolicy>),
}

impl CaseResult<'_> {
    /// Returns whether the case passed.
    pub(super) fn passed(&self) -> bool {
        matches!(self.verdict, CaseVerdict::Passed)
    }

    /// Returns the explanation of a failure, as pairs of a label and a text.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let expected = &self.case.expected;
        match &self.verdict {
            CaseVerdict::Passed => vec![],
            CaseVerdict::Otherwise { got, reason } => {
                vec![("expected", shown(expected)), ("got", shown(got)), ("why", reason.clone())]
            }
            CaseVerdict::Undetermined(policies) => {
                let mut lines = vec![("got", format!("{}, as expected", shown(expected)))];
                lines.extend(policies.iter().map(|policy| {
                    let UndeterminedPolicy { name, because } = policy;
                    ("but", format!("the condition of `{name}` is undetermined: {because}"))
                }));
                let advice =
                    "complete the case, or write `undetermined: allowed` if it is about this";
                lines.push(("so", advice.to_owned()));
                lines
            }
        }
    }
}

/// Shows a decision.
fn shown(expected: &Expected) -> String {
    format!("{} by `{}`", expected.decision, expected.rule)
}

/// Returns the check of a case, with the domain and the claims of the caller.
///
/// # Errors
/// The body is not valid. [`Bundle::read_folder`] accepts valid ones only.
pub(crate) fn check_of<'f>(bundle: &'f Bundle, case: &'f Case) -> Result<Check<'f>, Invalid> {
    let body = CheckBody::parse(&case.check)?;
    let caller = case.caller.as_deref().and_then(|sub| bundle.user(sub));
    let domain = body.domain.unwrap_or(&bundle.tenant);
    let now = case.now.unwrap_or(DEFAULT_NOW);
    Ok(Check::new(body, domain, caller.map(SampleUser::caller), now))
}

/// Decides a case as the service would, and adds what it shows to `coverage`.
pub(super) async fn decide<'f>(
    bundle: &Bundle,
    resolvers: &FolderResolvers,
    case: &'f Case,
    coverage: &mut Coverage,
) -> Result<CaseResult<'f>, Invalid> {
    let check = check_of(bundle, case)?;
    let plan = bundle.rulebook.plan(check.resource);
    let answers = resolvers.answers(&bundle.tenant, &plan, &check, case).await;
    let decision = plan.evaluate_with(&check, &answers);
    let explanation = plan.explain(&check, &answers, decision.rule_id());
    coverage.add(&explanation);
    let got =
        Expected { decision: decision.effect(), rule: bundle.rulebook.name(decision.rule_id()) };
    let policies = rests_on(&explanation, got.decision);
    let verdict = if got != case.expected {
        CaseVerdict::Otherwise { got, reason: decision.reason() }
    } else if policies.is_empty() || case.undetermined_allowed {
        CaseVerdict::Passed
    } else {
        CaseVerdict::Undetermined(policies)
    };
    Ok(CaseResult { case, verdict })
}
