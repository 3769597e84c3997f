//! Rules that a wider rule makes superfluous (`docs/semantics.md`, section 2.4).

use std::collections::HashMap;

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::resource::object_of;
use portcullis_engine::{Effect, ResourcePattern, RuleTuple};

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// A tuple as text: subject, domain, resources and action.
type Key<'r> = (&'r str, &'r str, String, &'r str);

/// Returns the findings about rules: those that never decide, and those that another rule with the same effect covers.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let effects: HashMap<Key<'_>, Effect> =
        // A tuple is in a folder once, so no rule replaces another one here.
        bundle.rules.iter().map(|rule| (key(&rule.tuple), rule.effect)).collect();
    let mut doubts = Vec::new();
    for (index, rule) in bundle.rules.iter().enumerate() {
        // A tuple has few wider ones, so looking up each one is faster than comparing all pairs of rules.
        let wider = wider(&rule.tuple);
        let subject = LintSubject::Item(ItemKind::Rule, index, "");
        let (rule, effect) = (&rule.tuple, rule.effect);
        if effect == Effect::Allow
            && let Some(wider) = first_with(Effect::Deny, &wider, &effects)
        {
            doubts.push(Doubt {
                code: LintCode::OverruledRule,
                subject,
                message: format!(
                    "the rule `{rule}` never allows: the rule `{}` denies all of it, and a deny wins",
                    shown(wider)
                ),
                advice: "delete it, or narrow the deny".to_owned(),
            });
        } else if let Some(wider) = first_with(effect, &wider, &effects) {
            doubts.push(Doubt {
                code: LintCode::RedundantRule,
                subject,
                message: format!(
                    "the rule `{rule}` changes nothing: the rule `{}` covers it with the same effect",
                    shown(wider)
                ),
                advice: "delete it, or narrow the other one".to_owned(),
            });
        }
    }
    doubts
}

/// Returns the first of the tuples that has a rule of this effect.
fn first_with<'k, 'r>(
    effect: Effect,
    tuples: &'k [Key<'r>],
    effects: &HashMap<Key<'r>, Effect>,
) -> Option<&'k Key<'r>> {
    tuples.iter().find(|key| effects.get(*key) == Some(&effect))
}

fn key(tuple: &RuleTuple) -> Key<'_> {
    (&tuple.sub, &tuple.dom, tuple.obj.to_string(), &tuple.act)
}

fn shown((sub, dom, obj, act): &Key<'_>) -> String {
    format!("{sub}, {dom}, {obj}, {act}")
}

/// Returns every other tuple that matches all that this one matches, the widest first.
fn wider(tuple: &RuleTuple) -> Vec<Key<'_>> {
    let mut found = Vec::new();
    for sub in or_wildcard(&tuple.sub) {
        for dom in or_wildcard(&tuple.dom) {
            for obj in covering(&tuple.obj) {
                for act in or_wildcard(&tuple.act) {
                    found.push((sub, dom, obj.clone(), act));
                }
            }
        }
    }
    let own = key(tuple);
    // The product of all parts includes the rule itself.
    found.retain(|other| *other != own);
    found
}

/// Returns the wildcard, and the text if it is another one.
fn or_wildcard(text: &str) -> impl Iterator<Item = &str> {
    [WILDCARD].into_iter().chain(Some(text).filter(|text| *text != WILDCARD))
}

/// Returns the patterns that cover `pattern`, the widest first.
pub(super) fn covering(pattern: &ResourcePattern) -> Vec<String> {
    let mut patterns = vec![ResourcePattern::Any.to_string()];
    if let ResourcePattern::Exact(resource) = pattern {
        patterns.push(ResourcePattern::Name(object_of(resource).to_owned()).to_string());
    }
    if *pattern != ResourcePattern::Any {
        patterns.push(pattern.to_string());
    }
    patterns
}
