//! Decides one case, and compares the decision with the expected one.

use portcullis_bundle::{
    Bundle, Case, CaseVerdict, FolderFacts, FolderQuestion, UndeterminedPolicy, explained,
};
use portcullis_engine::Invalid;

use super::coverage::Coverage;
use super::resolvers::FolderResolvers;

/// The result of a case.
pub(super) struct CaseResult<'f> {
    pub(super) case: &'f Case,
    pub(super) verdict: CaseVerdict,
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
            CaseVerdict::Otherwise { got, reason, conditions } => {
                let mut lines = vec![
                    ("expected", expected.to_string()),
                    ("got", got.to_string()),
                    ("why", reason.clone()),
                ];
                lines.extend(conditions.iter().map(|condition| ("when", condition.clone())));
                lines
            }
            CaseVerdict::Undetermined { got, policies } => {
                let mut lines = vec![("got", format!("{got}, as expected"))];
                for UndeterminedPolicy { name, because, expression } in policies {
                    let text = format!("the condition of `{name}` is undetermined: {because}");
                    lines.push(("but", text));
                    lines.extend(expression.iter().map(|text| ("when", text.clone())));
                }
                let advice =
                    "complete the case, or write `undetermined: allowed` if it is about this";
                lines.push(("so", advice.to_owned()));
                lines
            }
        }
    }
}

/// Decides a case as the service would, and adds what it shows to `coverage`.
pub(super) async fn decide<'f>(
    bundle: &Bundle,
    resolvers: &FolderResolvers,
    case: &'f Case,
    coverage: &mut Coverage,
) -> Result<CaseResult<'f>, Invalid> {
    let sent = case.to_check(&bundle.users, &bundle.tenant)?;
    let plan = bundle.rulebook.plan(sent.resource);
    let facts = FolderFacts { rulebook: &bundle.rulebook, tuples: Some(case.tuples()) };
    let mut question = FolderQuestion::combined(&plan, &facts, sent);
    let decision = resolvers.decide(bundle, &mut question, case).await?;
    explained(&mut question, decision.rule_id(), |explanation| {
        coverage.add(&explanation);
        CaseResult { case, verdict: case.verdict(&bundle.rulebook, &decision, &explanation) }
    })
}
