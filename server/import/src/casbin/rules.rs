//! RBAC rules: what an alternative of a matcher becomes if it has equalities only.

use portcullis_engine::Effect;

use super::condition::{Condition, Field, MAX_RULES, OneOf};
use super::objects::Objects;
use crate::rule::{Rule, STAR, accepted};

/// Returns the rules that the parts mean; `None` if rules cannot mean the same.
pub(super) fn rules(
    parts: &[Condition],
    effect: Effect,
    known: &Objects,
    has_domain: bool,
) -> Result<Option<Vec<Rule>>, String> {
    let fields: Option<Vec<&OneOf>> = parts
        .iter()
        .map(|part| match part {
            Condition::OneOf(own) if own.fits_rule() => Some(own),
            _ => None,
        })
        .collect();
    let Some(fields) = fields else { return Ok(None) };
    let [subjects, objects, actions, domains] =
        [Field::Subject, Field::Object, Field::Action, Field::Domain]
            .map(|field| values_of(&fields, field));
    let lengths = [subjects.len(), objects.len(), actions.len(), domains.len()];
    let count = lengths.into_iter().fold(1, usize::saturating_mul);
    if count > MAX_RULES {
        return Err(format!("it becomes {count} rules; {MAX_RULES} are the most"));
    }
    let mut rules = Vec::with_capacity(count);
    for sub in &subjects {
        for dom in &domains {
            for object in &objects {
                for act in &actions {
                    let obj = match object.as_str() {
                        STAR => STAR.to_owned(),
                        object => known.resource(object, act)?,
                    };
                    // Without domains in the model, a rule is about the domain of the tenant.
                    let dom = has_domain.then(|| dom.clone());
                    let (sub, act) = (sub.clone(), act.clone());
                    rules.push(accepted(Rule { sub, dom, obj, act, effect })?);
                }
            }
        }
    }
    Ok(Some(rules))
}

/// Returns the texts of a field: `*` where no part asks for one.
fn values_of(fields: &[&OneOf], field: Field) -> Vec<String> {
    match fields.iter().find(|own| own.field == field) {
        None => vec![STAR.to_owned()],
        Some(own) => own.values.iter().cloned().collect(),
    }
}
