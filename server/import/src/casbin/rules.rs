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
    let find = |field: Field| fields.iter().find(|own| own.field == field);
    let subjects = find(Field::Subject);
    let values = |own: Option<&&OneOf>| match own {
        None => vec![STAR.to_owned()],
        Some(own) => own.values.iter().cloned().collect::<Vec<_>>(),
    };
    let [subjects, objects, actions] =
        [subjects, find(Field::Object), find(Field::Action)].map(values);
    let domains = values(find(Field::Domain));
    let count = subjects.len() * objects.len() * actions.len() * domains.len();
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
                    let dom = has_domain.then(|| dom.clone());
                    let (sub, act) = (sub.clone(), act.clone());
                    rules.push(accepted(Rule { sub, dom, obj, act, effect })?);
                }
            }
        }
    }
    Ok(Some(rules))
}
