//! Filters: one check decided for all rows of a list, whose attributes are unknown (`docs/semantics.md`, section 14).
//!
//! ```
//! use portcullis_engine::filter::RowAttributes;
//! use portcullis_engine::matrix::Outcome;
//! use portcullis_engine::{AttributeAnswers, Check, CheckBody, Effect, Plan, Policy, ResourcePattern, expression, json};
//!
//! let policy = Policy {
//!     id: uuid::Uuid::nil(),
//!     name: "own documents".to_owned(),
//!     resource: ResourcePattern::Exact("document:read".to_owned()),
//!     effect: Effect::Allow,
//!     priority: 0,
//!     condition: Ok(expression::parse("resource.owner == request.subject").map_err(|_| "a fault")?),
//! };
//! let plan = Plan::compile("document:read", 1, &[], [policy]);
//!
//! let body = json::parse(br#"{"subject": "dana", "resource": "document:read", "action": "read"}"#)?;
//! let check = Check::new(CheckBody::parse(&body)?, "acme", None, chrono::DateTime::UNIX_EPOCH);
//! let filter = plan.filter(&check, &AttributeAnswers::default(), &RowAttributes::resource());
//! let Outcome::Depends(residual) = &filter.outcome else { panic!("it depends on the owner") };
//! assert_eq!(residual.text(), Some(r#"resource.owner == "dana""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod inexact;
mod known;
mod rows;
mod substitute;

use std::sync::Arc;

use super::Plan;
use super::index::Rank;
use super::matrix::{OpenDecision, Outcome};
use super::program::Run;
use super::slots::{SlotValue, Symbol, Values};
use crate::condition::{AttributePath, RequestField};
use crate::rbac::Effect;
use crate::relation::RELATION;
use crate::request::Check;
use crate::resolution::{AttributeAnswers, AttributeRequest};
use crate::types::PropertySource;
use crate::value::AttributeValue;

pub use inexact::InexactPolicy;
pub use known::KnownValues;
pub use rows::RowAttributes;

/// The maximum size of all conditions of a filter, in bytes of memory: some thousand tests.
const MAX_BYTES: usize = 256 * 1024;

/// The decision on a check for all rows.
#[derive(Debug)]
pub struct Filter<'p> {
    /// The decision on every row, or the policies that decide each row. Their conditions have known values as literals
    /// where a condition can.
    pub outcome: Outcome<'p>,
    /// The known attributes that the conditions still name.
    pub known: KnownValues,
    /// The requests for attributes of resolvers on which the outcome depends.
    pub requests: Vec<AttributeRequest>,
    /// The unknown attributes that are taken from the directory alone.
    of_directory: Vec<AttributePath>,
}

impl Plan {
    /// Decides `check` for all rows: the attributes of `rows` that the request leaves out can have any value. So do the
    /// attributes of resolvers that `answers` does not have.
    pub fn filter(
        &self,
        check: &Check<'_>,
        answers: &AttributeAnswers,
        rows: &RowAttributes,
    ) -> Filter<'_> {
        let rule = self.rules.decide(check, &self.resource).map(|rule| rule.effect);
        // An RBAC deny beats every ABAC allow, and an ABAC deny would not change the effect.
        if rule == Some(Effect::Deny) {
            return Filter::settled(Effect::Deny);
        }
        let slots = &self.whole().slots;
        let texts = slots.made_texts(check);
        let mut values = Values::new();
        slots.read(check, answers, &texts, &mut values);
        let precedence = self.facts().and_then(|facts| facts.directory).unwrap_or_default();
        let mut of_directory = Vec::new();
        for (value, path) in values.iter_mut().zip(slots.paths()) {
            let of_rows = check.attributes.entity_attribute(path).filter(|_| rows.has(path));
            let Some((attributes, name)) = of_rows else { continue };
            let is_sent = attributes.place(name) == PropertySource::Request;
            let is_left_out = value.value.is_none() && !attributes.is_as_sent(name);
            let is_replaced = is_left_out || rows.replace(precedence) && !is_sent;
            if is_replaced && attributes.settled_by(name).is_none() {
                // A row can have any value: it is as open as what no resolver was asked for.
                let unknown = Some(AttributeValue::NotRequested);
                *value = SlotValue { value: unknown, symbol: Symbol::NO_TEXT };
                of_directory.extend(attributes.is_of_directory(name).then(|| path.clone()));
            }
        }
        let ranks: Vec<Rank> = (0..).take(self.whole().conditions.len()).collect();
        let run = Run::new(&self.whole().program, &values);
        let mut open = OpenDecision::new(self, &ranks, run, rule.unwrap_or(Effect::Deny));
        let mut residual = match open.residual(MAX_BYTES) {
            Ok(residual) => residual,
            Err(effect) => return Filter::settled(effect),
        };
        let all = KnownValues::new(slots.paths().zip(&values));
        residual.map_conditions(|condition| substitute::known(condition, &all));
        Filter {
            known: all.named_in(residual.conditions()),
            outcome: Outcome::Depends(Arc::new(residual)),
            requests: open.attribute_requests(),
            of_directory,
        }
    }
}

impl Plan {
    /// Returns whether decisions depend on the present or on resolvers, and so can change without a change of the rules.
    pub fn is_volatile(&self) -> bool {
        let slots = &self.whole().slots;
        !slots.namespaces().is_empty()
            || slots.paths().any(|path| matches!(path, AttributePath::Request(RequestField::Time)))
    }
}

impl Filter<'_> {
    fn settled(effect: Effect) -> Self {
        let outcome = effect.into();
        Self {
            outcome,
            known: KnownValues::default(),
            requests: Vec::new(),
            of_directory: Vec::new(),
        }
    }

    /// Returns the policies that read unknown attributes that no row has.
    pub fn unresolved(&self) -> Vec<InexactPolicy> {
        let Outcome::Depends(residual) = &self.outcome else { return Vec::new() };
        let open = residual.open_policies().into_iter().flatten();
        let policies = open.filter_map(|open| {
            let paths = known::paths(open.condition).into_iter();
            let missing = paths.filter(|path| self.known.get(path).is_none());
            let mut reasons: Vec<_> = missing.filter_map(|path| self.rowless(path)).collect();
            reasons.sort_unstable();
            reasons.dedup();
            (!reasons.is_empty()).then(|| InexactPolicy::new(open.policy, reasons))
        });
        policies.collect()
    }

    /// Returns the reason why no row has an unknown attribute; `None` if rows may have it.
    pub(crate) fn rowless(&self, path: &AttributePath) -> Option<String> {
        match path {
            AttributePath::Resolver(attribute) if &*attribute.namespace == RELATION => {
                Some(format!(
                    "`{path}` is a relation to each row; ask for SQL, search the directory, or check each row"
                ))
            }
            AttributePath::Resolver(_) => {
                Some(format!("`{path}` comes from a resolver that needs attributes of the rows"))
            }
            _ if self.of_directory.contains(path) => Some(format!(
                "`{path}` is taken from the directory alone, which rows do not name; search the directory, or check each row"
            )),
            _ => None,
        }
    }

    /// Returns the unknown attributes that the conditions read, sorted by path; empty if the outcome is settled.
    pub fn reads(&self) -> Vec<AttributePath> {
        let Outcome::Depends(residual) = &self.outcome else { return Vec::new() };
        let paths = residual.conditions().iter().flat_map(known::paths);
        let mut reads: Vec<_> =
            paths.filter(|path| self.known.get(path).is_none()).cloned().collect();
        reads.sort_by_cached_key(AttributePath::to_string);
        reads.dedup();
        reads
    }
}

#[cfg(test)]
mod tests;
