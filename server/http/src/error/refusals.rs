//! The answers to writes that a rule of the tenant's owners forbids (`docs/semantics.md`, section 10).

use http::StatusCode;
use portcullis_model::apply::OwnerConflict;
use portcullis_runtime::write_refusal::{
    BrokenObject, BrokenObjects, DeletingWrite, ShadowShortfall, WriteRefusal,
};
use serde_json::{Value, json};

/// Most bytes of the conflicts of an error, which has at most 64 KiB in all.
const MAX_CONFLICTS: usize = 48 * 1_024;

/// The person who can approve a proposal.
const APPROVER: &str = "a manager with a bearer token, other than the one who proposes";

/// Returns status and code.
pub(super) fn status(refusal: &WriteRefusal) -> (StatusCode, &'static str) {
    match refusal {
        WriteRefusal::Managed(_) => (StatusCode::CONFLICT, "MANAGED"),
        WriteRefusal::OwnedByAnother(_) => (StatusCode::CONFLICT, "OWNED_BY_ANOTHER"),
        WriteRefusal::DeleteLimit { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "DELETE_LIMIT"),
        WriteRefusal::PlanStale => (StatusCode::CONFLICT, "PLAN_STALE"),
        WriteRefusal::RevisionChanged { .. } => (StatusCode::CONFLICT, "REVISION_CHANGED"),
        WriteRefusal::Breaks(_) => (StatusCode::CONFLICT, "CONFLICT"),
        WriteRefusal::ShadowRequired(_) => (StatusCode::CONFLICT, "SHADOW_REQUIRED"),
        WriteRefusal::ApprovalImpossible => (StatusCode::CONFLICT, "APPROVAL_IMPOSSIBLE"),
    }
}

/// Returns the text for the client.
pub(super) fn message(refusal: &WriteRefusal) -> String {
    match refusal {
        WriteRefusal::Managed(owner) => format!(
            "`{owner}` manages this record; change it there, or send `force=true`, which needs the permission \
             `policies:force`"
        ),
        WriteRefusal::OwnedByAnother(conflicts) => {
            let first = conflicts.first().map(|first| {
                format!(
                    ", such as the {} `{}` of `{}`",
                    first.kind.into_str(),
                    first.name,
                    first.managed_by
                )
            });
            format!(
                "the bundle names objects of other owners{}; remove them from it, or send `force`",
                first.unwrap_or_default()
            )
        }
        WriteRefusal::DeleteLimit { by, deletions, owned, limit } => {
            let (write, records, check) = match by {
                DeletingWrite::Apply => ("apply", "objects", "the bundle"),
                DeletingWrite::EntitySync => ("sync", "entities of its source", "what it sent"),
                DeletingWrite::RelationSync => ("sync", "tuples of its source", "what it sent"),
                DeletingWrite::Types => (
                    "apply of these types",
                    "tuples of the source in `delete_tuples_of`, which the types do not allow any more",
                    "the types",
                ),
            };
            format!(
                "the {write} would delete {deletions} of {owned} {records}, and the tenant allows {limit}; check {check}, \
                 or send `allow_deletes`"
            )
        }
        WriteRefusal::PlanStale => {
            "what the plan read has changed since; make a new plan".to_owned()
        }
        WriteRefusal::RevisionChanged { expected, current } => {
            format!("the tenant has the revision {current}, not {expected}; make a new plan")
        }
        WriteRefusal::Breaks(broken) => format!(
            "{} stored objects have, read or name what this change does not allow any more{}; change them first",
            broken.count,
            example(broken)
        ),
        WriteRefusal::ShadowRequired(shortfall) => shadow_message(shortfall),
        WriteRefusal::ApprovalImpossible => format!(
            "with `gates.approval` no change could be made any more: nobody could approve one. It needs {APPROVER}; let \
             bearer tokens of managers be accepted first"
        ),
    }
}

/// Returns the first broken object, as the end of a part of a sentence.
fn example(broken: &BrokenObjects) -> String {
    let Some(BrokenObject { kind, name, message }) = broken.first.first() else {
        return String::new();
    };
    format!(", such as the {kind} `{name}`: {message}")
}

/// Returns the facts for a program.
pub(super) fn details(refusal: &WriteRefusal) -> Value {
    match refusal {
        WriteRefusal::Managed(owner) => json!({"managed_by": owner}),
        WriteRefusal::OwnedByAnother(conflicts) => json!({"conflicts": fitting(conflicts)}),
        WriteRefusal::DeleteLimit { deletions, owned, limit, .. } => {
            json!({"deletions": deletions, "owned": owned, "limit": limit})
        }
        WriteRefusal::PlanStale => json!({}),
        WriteRefusal::ApprovalImpossible => json!({"needs": APPROVER}),
        WriteRefusal::RevisionChanged { expected, current } => {
            json!({"expected": expected, "revision": current})
        }
        WriteRefusal::Breaks(BrokenObjects { first, count }) => {
            let broken = first
                .iter()
                .map(|one| json!({"kind": one.kind, "name": one.name, "message": one.message}));
            json!({"broken": broken.collect::<Vec<_>>(), "count": count})
        }
        WriteRefusal::ShadowRequired(ShadowShortfall { required, seen, .. }) => json!({
            "required": required,
            "since": seen.map(|seen| seen.since),
            "seconds": seen.map(|seen| seen.seconds),
            "flips": seen.map(|seen| seen.flips),
            "not_compared": seen.map(|seen| seen.not_compared),
        }),
    }
}

/// Says what the gates want of a draft in shadow, and what is there.
fn shadow_message(ShadowShortfall { draft, required, seen }: &ShadowShortfall) -> String {
    let time = required.time.map(|time| format!("`{time}` in shadow (`shadow_time`)"));
    let flips =
        required.flips.map(|most| format!("at most {most} flips in shadow (`shadow_flips`)"));
    let wanted: Vec<String> = time.into_iter().chain(flips).collect();
    // The rest of the sentence about the draft.
    let there = match seen {
        None => "is not in shadow; store it with `shadow: true`".to_owned(),
        Some(seen) => {
            let (hours, minutes) = (seen.seconds / 3_600, seen.seconds / 60 % 60);
            let time = format!("has been in shadow for {hours} h {minutes} min");
            let left_out = match seen.not_compared {
                0 => String::new(),
                count => {
                    format!(" and {count} checks that were not compared, which count as flips")
                }
            };
            format!("{time} with {} flips{left_out}; wait, or mend it", seen.flips)
        }
    };
    format!(
        "the gates of the tenant want {} before a draft is published, and `{draft}` {there}; or send `force=true`, which \
         needs the permission `policies:force`",
        wanted.join(" and ")
    )
}

/// Returns the first conflicts, as many as fit into an error.
fn fitting(conflicts: &[OwnerConflict]) -> Vec<Value> {
    let mut bytes = 0;
    let values = conflicts.iter().map(|conflict| json!(conflict));
    let fitting = values.take_while(|value| {
        bytes += value.to_string().len();
        bytes <= MAX_CONFLICTS
    });
    fitting.collect()
}
