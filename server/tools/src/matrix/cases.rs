//! The cases of two folders that are decided otherwise in the second.

use portcullis_bundle::{Bundle, Case, Expected, FolderFacts, FolderQuestion, SkipCause};
use portcullis_engine::Invalid;
use portcullis_model::apply::SkippedCase;
use serde::Serialize;

/// The comparison of the cases' decisions.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct CaseChanges {
    /// The cases with another decision.
    pub changed: Vec<CaseChange>,
    /// The cases that cannot be compared without calling a resolver.
    pub skipped: Vec<SkippedCase>,
}

/// A case with another decision.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct CaseChange {
    /// The name of the case.
    pub case: String,
    /// The decision by the first folder.
    pub before: Expected,
    /// The decision by the second folder.
    pub after: Expected,
}

/// Decides the cases of the second folder, and the cases of the first that the second does not have, by both folders.
///
/// # Errors
/// The check of a case is not valid. Folders that were read have valid ones only.
pub(super) fn changes(before: &Bundle, after: &Bundle) -> Result<CaseChanges, Invalid> {
    let kept = after.cases.iter().map(|case| (after, case));
    let dropped = before.cases.iter().map(|case| (before, case));
    let dropped =
        dropped.filter(|(_, case)| !after.cases.iter().any(|kept| kept.name == case.name));
    let mut changes = CaseChanges::default();
    for (owner, case) in kept.chain(dropped) {
        let name = case.name.clone();
        match (decide(owner, case, before)?, decide(owner, case, after)?) {
            (Ok(was), Ok(is)) if was.decision == is.decision => {}
            (Ok(before), Ok(after)) => {
                changes.changed.push(CaseChange { case: name, before, after });
            }
            (Err(reason), _) | (_, Err(reason)) => {
                changes.skipped.push(SkippedCase { case: name, reason });
            }
        }
    }
    Ok(changes)
}

/// Decides a case of `owner` by the rules and policies of `folder`. The inner error says which resolver would be called.
fn decide(
    owner: &Bundle,
    case: &Case,
    folder: &Bundle,
) -> Result<Result<Expected, String>, Invalid> {
    let sent = case.to_check(&owner.users, &owner.tenant)?;
    let plan = folder.rulebook.plan(sent.resource);
    let facts = FolderFacts { rulebook: &folder.rulebook, tuples: Some(case.tuples()) };
    let decided = case.decide(&mut FolderQuestion::combined(&plan, &facts, sent))?;
    Ok(match decided {
        Ok(decision) => Ok(Expected::of(&folder.rulebook, &decision)),
        Err(SkipCause::Resolver(namespace)) => Err(format!("it calls the resolver `{namespace}`")),
        Err(cause) => Err(cause.reason()),
    })
}
