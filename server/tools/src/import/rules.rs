//! Converts the lines of a policy file to rules.
//!
//! A Casbin request for object `data1` and action `read` becomes a check of the resource `data1:read` with
//! the action `read`, because a Portcullis resource ends in a verb. An object that already has a verb, such as
//! `chart:read`, stays as it is.

use std::collections::{HashMap, HashSet};

use portcullis_engine::{Effect, Json, ResourcePattern, json};
use portcullis_model::rule::NewRule;
use serde::Serialize;

use super::columns::{Column, Comparison, RoleScope};
use super::fault::ImportFault;
use super::lines::Line;
use super::model::{Model, PolicyEffect};
use super::objects::Objects;
use super::roles::Members;

const STAR: &str = "*";
const PLAIN_STAR: &str = "a `*` is a plain character to this matcher, and a wildcard to Portcullis";

/// A rule in the format of the API and of `rules.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Rule {
    pub(super) sub: String,
    /// Absent if the model has no domains. The rule is then in the domain of the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dom: Option<String>,
    pub(super) obj: String,
    pub(super) act: String,
    pub(super) effect: Effect,
}

/// The result of a conversion.
#[derive(Debug, Default)]
pub(super) struct Converted {
    pub(super) rules: Vec<Rule>,
    /// The lines that no rule expresses.
    pub(super) faults: Vec<ImportFault>,
    /// The number of deny lines that have no effect in this model.
    pub(super) without_effect: usize,
}

/// Converts the lines of a policy file.
pub(super) fn convert(
    model: &Model,
    lines: impl Iterator<Item = Result<Line, ImportFault>>,
) -> Converted {
    let mut conversion = Conversion {
        model,
        members: Members::default(),
        objects: Objects::default(),
        index: HashMap::new(),
        seen: HashSet::new(),
        converted: Converted::default(),
    };
    // A role line can stand after a policy line that needs it, so all role lines are read first.
    let mut policies = Vec::new();
    for line in lines {
        let outcome = match line {
            Ok(line) if line.kind == "p" => {
                policies.push(line);
                continue;
            }
            Ok(line) if line.kind == "g" => conversion.role(&line),
            Ok(line) => Err(line.fault(format!(
                "expected a line that starts with `p` or `g`, not `{}`",
                line.kind
            ))),
            Err(fault) => Err(fault),
        };
        conversion.converted.faults.extend(outcome.err());
    }
    for line in &policies {
        let outcome = conversion.policy(line);
        conversion.converted.faults.extend(outcome.err());
    }
    conversion.everybody();
    conversion.converted.faults.sort_by_key(|fault| fault.line);
    conversion.converted
}

struct Conversion<'m> {
    model: &'m Model,
    members: Members,
    objects: Objects,
    /// The position of each tuple in the rules. A tuple has one effect.
    index: HashMap<(String, Option<String>, String, String), usize>,
    /// The `p` lines so far, if their order decides.
    seen: HashSet<Vec<String>>,
    converted: Converted,
}

impl Conversion<'_> {
    /// Notes a line `g, member, role` or `g, member, role, domain`.
    fn role(&mut self, line: &Line) -> Result<(), ImportFault> {
        let Some(roles) = self.model.roles else {
            let reason = "the file has roles (`g`), but the matcher does not use them";
            return Err(line.fault(reason));
        };
        line.has_values(if roles == RoleScope::ByDomain { 3 } else { 2 })?;
        if let Some(value) = line.values.iter().find(|value| value.contains('*')) {
            return Err(line.fault(format!("`{value}`: {PLAIN_STAR}")));
        }
        if let [member, role, domain @ ..] = &*line.values {
            self.members.add(member, role, domain.first().map(String::as_str));
        }
        Ok(())
    }

    /// Converts a `p` line: one rule for the subject, and one for each member if the subject is a role.
    fn policy(&mut self, line: &Line) -> Result<(), ImportFault> {
        line.has_values(self.model.columns.len())?;
        let effect = match self.value(line, Column::Eft) {
            None => Effect::Allow,
            Some(text) => Effect::parse(text)
                .ok_or_else(|| line.fault(format!("expected `allow` or `deny`, not `{text}`")))?,
        };
        if effect == Effect::Deny && self.model.effect == PolicyEffect::AllowOverride {
            self.converted.without_effect += 1;
            return Ok(());
        }
        let sub = self.checked(line, Column::Sub)?.unwrap_or_default();
        let dom = self.checked(line, Column::Dom)?;
        let act = self.checked(line, Column::Act)?.unwrap_or_default();
        let obj = self.object(line, act)?;
        let mut rules = vec![Rule {
            sub: sub.to_owned(),
            dom: dom.map(str::to_owned),
            obj,
            act: act.to_owned(),
            effect,
        }];
        for (member, domain) in self.members(line, sub, dom)? {
            rules.push(Rule { sub: member, dom: domain, ..rules[0].clone() });
        }
        for rule in &rules {
            accepted(rule).map_err(|reason| line.fault(reason))?;
        }
        if self.model.effect == PolicyEffect::Priority {
            if !self.seen.insert(line.values.clone()) {
                let reason = "the line occurs twice, and Casbin's implementations differ in which one counts";
                return Err(line.fault(reason));
            }
            self.in_order(line, &rules)?;
        }
        rules.into_iter().for_each(|rule| self.add(rule));
        Ok(())
    }

    fn value<'l>(&self, line: &'l Line, column: Column) -> Option<&'l str> {
        let index = self.model.columns.iter().position(|own| *own == column)?;
        line.values.get(index).map(String::as_str)
    }

    /// Returns the value of a column.
    ///
    /// # Errors
    /// The value has a `*` that does not mean the same in a rule.
    fn checked<'l>(&self, line: &'l Line, column: Column) -> Result<Option<&'l str>, ImportFault> {
        let Some(value) = self.value(line, column) else { return Ok(None) };
        let reason = match self.model.comparison(column) {
            Comparison::OrStar | Comparison::KeyMatch if value == STAR => return Ok(Some(value)),
            _ if !value.contains('*') => return Ok(Some(value)),
            Comparison::KeyMatch => "the only pattern that Portcullis supports here is `*`",
            Comparison::Equal | Comparison::OrStar | Comparison::Role(_) => PLAIN_STAR,
        };
        Err(line.fault(format!("`{value}`: {reason}")))
    }

    /// Returns the resource or pattern for the object of a line.
    fn object(&mut self, line: &Line, act: &str) -> Result<String, ImportFault> {
        let obj = self.value(line, Column::Obj).unwrap_or_default();
        let comparison = self.model.comparison(Column::Obj);
        let name = obj.strip_suffix(":*").filter(|name| !name.contains('*'));
        let resource = match (comparison, name) {
            (Comparison::OrStar | Comparison::KeyMatch, _) if obj == STAR => {
                return Ok(STAR.to_owned());
            }
            (Comparison::KeyMatch, Some(_)) => obj.to_owned(),
            (Comparison::KeyMatch, None) if obj.contains('*') => {
                let reason =
                    "the only object patterns that Portcullis supports are `*` and `<name>:*`";
                return Err(line.fault(format!("`{obj}`: {reason}")));
            }
            _ if obj.contains('*') => return Err(line.fault(format!("`{obj}`: {PLAIN_STAR}"))),
            _ if obj.contains(':') => obj.to_owned(),
            _ if act.contains(':') => {
                let reason = "the action would become the verb of the resource, which has no `:`";
                return Err(line.fault(format!("`{act}`: {reason}")));
            }
            _ => format!("{obj}:{act}"),
        };
        self.objects.note(obj, line.number).map_err(|reason| line.fault(reason))?;
        Ok(resource)
    }

    /// Returns everybody who has the role `sub` in the domain of the line, each with the domain of their rule.
    fn members(
        &self,
        line: &Line,
        sub: &str,
        dom: Option<&str>,
    ) -> Result<Vec<(String, Option<String>)>, ImportFault> {
        let everywhere = self.model.roles == Some(RoleScope::Everywhere);
        let mut found = Vec::new();
        for domain in self.members.domains() {
            if !everywhere && dom != Some(STAR) && dom != domain {
                continue;
            }
            let members = self.members.of(sub, domain).ok_or_else(|| {
                line.fault(format!("`{sub}` has members through more than 9 other roles"))
            })?;
            let domain = if everywhere { dom } else { domain };
            let owned = |member: &str| (member.to_owned(), domain.map(str::to_owned));
            found.extend(members.into_iter().map(owned));
        }
        Ok(found)
    }

    /// Refuses a deny after an allow that matches the same request. In Casbin the first line decides, so the deny has no
    /// effect; in Portcullis it would deny.
    fn in_order(&self, line: &Line, rules: &[Rule]) -> Result<(), ImportFault> {
        let denies = rules.iter().filter(|rule| rule.effect == Effect::Deny);
        let overlaps = |deny: &Rule| {
            self.converted
                .rules
                .iter()
                .find(|own| own.effect == Effect::Allow && overlap(own, deny))
        };
        match denies.into_iter().find_map(overlaps) {
            None => Ok(()),
            Some(allow) => {
                let Rule { sub, obj, act, .. } = allow;
                let what = format!("`{sub}, {obj}, {act}`, which an earlier line allows");
                Err(line.fault(format!("it denies {what}; in Portcullis every deny counts")))
            }
        }
    }

    /// Adds a rule. If its tuple already has a rule, a deny wins.
    fn add(&mut self, rule: Rule) {
        let tuple = (rule.sub.clone(), rule.dom.clone(), rule.obj.clone(), rule.act.clone());
        let rules = &mut self.converted.rules;
        match self.index.get(&tuple) {
            Some(index) => rules[*index].effect = rules[*index].effect.min(rule.effect),
            None => {
                self.index.insert(tuple, rules.len());
                rules.push(rule);
            }
        }
    }

    /// Adds the rules of the model itself: for its superusers, and for everybody if everything is allowed by default.
    fn everybody(&mut self) {
        let by_default = (self.model.effect == PolicyEffect::DenyOverride).then(|| STAR.to_owned());
        for sub in self.model.superusers.iter().cloned().chain(by_default) {
            let dom = self.model.has_domain().then(|| STAR.to_owned());
            let [obj, act] = [STAR, STAR].map(str::to_owned);
            let rule = Rule { sub, dom, obj, act, effect: Effect::Allow };
            match accepted(&rule) {
                Ok(()) => self.add(rule),
                Err(reason) => self.converted.faults.push(ImportFault::of_file(reason)),
            }
        }
    }
}

/// Makes sure that Portcullis accepts the rule. The error is the reason why not.
fn accepted(rule: &Rule) -> Result<(), String> {
    let text = serde_json::to_string(rule).map_err(|error| error.to_string())?;
    let json: Json<'_> = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let Rule { sub, obj, act, .. } = rule;
    let refused = |invalid| format!("the rule `{sub}, {obj}, {act}`: {invalid}");
    NewRule::parse(&json, STAR).map(drop).map_err(refused)
}

/// Returns whether one request can match both rules.
fn overlap(one: &Rule, other: &Rule) -> bool {
    let field = |one: &str, other: &str| one == other || one == STAR || other == STAR;
    let covers = |one: &Rule, other: &Rule| {
        ResourcePattern::parse(&one.obj).is_some_and(|pattern| pattern.matches(&other.obj))
    };
    field(&one.sub, &other.sub)
        && field(one.dom.as_deref().unwrap_or(STAR), other.dom.as_deref().unwrap_or(STAR))
        && field(&one.act, &other.act)
        && (one.obj == other.obj || other.obj == STAR || covers(one, other) || covers(other, one))
}
