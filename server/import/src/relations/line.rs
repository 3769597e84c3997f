//! Rewrites in the syntax of types.

use super::model::{Restriction, Rewrite, Users};

/// Returns a rewrite as the line of a relation.
pub(crate) fn text(rewrite: &Rewrite) -> String {
    match rewrite {
        Rewrite::Nobody => direct(&[]),
        Rewrite::Direct(restrictions) => direct(restrictions),
        Rewrite::Computed(relation) => relation.clone(),
        Rewrite::From { relation, parents } => format!("{parents}.{relation}"),
        Rewrite::Any(parts) => parts.iter().map(operand).collect::<Vec<_>>().join(" || "),
        Rewrite::All(parts) => parts.iter().map(operand).collect::<Vec<_>>().join(" && "),
        Rewrite::Except(base, subtracted) => {
            format!("{} && !{}", operand(base), operand(subtracted))
        }
    }
}

/// Returns a part, in parentheses if it has an operator.
fn operand(part: &Rewrite) -> String {
    match part {
        Rewrite::Any(_) | Rewrite::All(_) | Rewrite::Except(..) => format!("({})", text(part)),
        part => text(part),
    }
}

/// Returns who can be stored, each once: with and without an expiry is the same.
fn direct(restrictions: &[Restriction]) -> String {
    let mut listed = Vec::new();
    for Restriction { user_type, which, .. } in restrictions {
        let one = match which {
            Users::One => user_type.clone(),
            Users::Everyone => format!("{user_type}:*"),
            Users::Related(relation) => format!("{user_type}#{relation}"),
        };
        if !listed.contains(&one) {
            listed.push(one);
        }
    }
    format!("[{}]", listed.join(", "))
}
