//! From the lines of a policy file to rules.
//!
//! A Casbin request for object `data1` and action `read` becomes a check of the resource `data1:read` with
//! the action `read`: a Portcullis resource ends in a verb. An object that has a verb already, such as
//! `chart:read`, stays as it is.

use std::collections::{HashMap, HashSet};

use portcullis_engine::{Effect, Json, ResourcePattern, json};
use serde::Serialize;

use super::Fault;
use super::lines::Line;
use super::model::{Column, Compare, Model, PolicyEffect, Roles};
use super::objects::Objects;
use super::roles::Members;
use portcullis_model::rule::NewRule;

const STAR: &str = "*";

/// A rule as the API and `rules.yaml` have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Rule {
    pub(super) sub: String,
    /// Left out where the model has no domains: the tenant's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dom: Option<String>,
    pub(super) obj: String,
    pub(super) act: String,
    pub(super) effect: Effect,
}

/// What a policy file became.
#[derive(Debug, Default)]
pub(super) struct Converted {
    pub(super) rules: Vec<Rule>,
    /// Lines that no rule expresses.
    pub(super) faults: Vec<Fault>,
    /// Deny lines that this model gives no effect.
    pub(super) without_effect: usize,
}

/// Converts the lines of a policy file.
pub(super) fn convert(
    model: &Model,
    lines: impl Iterator<Item = Result<Line, Fault>>,
) -> Converted {
    let mut conversion = Conversion {
        model,
        members: Members::default(),
        objects: Objects::default(),
        index: HashMap::new(),
        seen: HashSet::new(),
        converted: Converted::default(),
    };
    // Role lines hold for every policy line, wherever they stand.
    let mut policies = Vec::new();
    for line in lines {
        let outcome = match line {
            Ok(line) if line.kind == "p" => {
                policies.push(line);
                continue;
            }
            Ok(line) if line.kind == "g" => conversion.role(&line),
            Ok(line) => Err(line.fault(format!("lines of kind `{}` are not supported", line.kind))),
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
    /// Where in the rules each tuple is: one tuple has one effect.
    index: HashMap<(String, Option<String>, String, String), usize>,
    /// The `p` lines so far, where their order decides.
    seen: HashSet<Vec<String>>,
    converted: Converted,
}

impl Line {
    fn fault(&self, reason: String) -> Fault {
        Fault::at(self.number, reason)
    }

    fn has_values(&self, count: usize) -> Result<(), Fault> {
        match self.values.len() {
            found if found == count => Ok(()),
            found => {
                Err(self
                    .fault(format!("expected {count} values behind `{}`, not {found}", self.kind)))
            }
        }
    }
}

impl Conversion<'_> {
    /// `g, member, role` or `g, member, role, domain`.
    fn role(&mut self, line: &Line) -> Result<(), Fault> {
        let Some(roles) = self.model.roles else {
            return Err(line.fault("the matcher asks for no role".to_owned()));
        };
        line.has_values(if roles == Roles::ByDomain { 3 } else { 2 })?;
        if let Some(value) = line.values.iter().find(|value| value.contains('*')) {
            return Err(line.fault(format!("`{value}`: {PLAIN_STAR}")));
        }
        if let [member, role, domain @ ..] = &*line.values {
            self.members.add(member, role, domain.first().map(String::as_str));
        }
        Ok(())
    }

    /// A `p` line: one rule for the subject, and one for each member of the role that it may be.
    fn policy(&mut self, line: &Line) -> Result<(), Fault> {
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
            acceptable(rule).map_err(|reason| line.fault(reason))?;
        }
        if self.model.effect == PolicyEffect::Priority {
            if !self.seen.insert(line.values.clone()) {
                let reason =
                    "it is there twice, and Casbin's implementations differ in which is first";
                return Err(line.fault(reason.to_owned()));
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

    /// The value of a column, which is `*` or without one.
    fn checked<'l>(&self, line: &'l Line, column: Column) -> Result<Option<&'l str>, Fault> {
        let Some(value) = self.value(line, column) else { return Ok(None) };
        let reason = match self.model.compare(column) {
            Compare::OrStar | Compare::KeyMatch if value == STAR => return Ok(Some(value)),
            _ if !value.contains('*') => return Ok(Some(value)),
            Compare::KeyMatch => "Portcullis has no patterns here but `*`",
            Compare::Equal | Compare::OrStar | Compare::Role => PLAIN_STAR,
        };
        Err(line.fault(format!("`{value}`: {reason}")))
    }

    /// The resources that a line's object stands for.
    fn object(&mut self, line: &Line, act: &str) -> Result<String, Fault> {
        let obj = self.value(line, Column::Obj).unwrap_or_default();
        let compare = self.model.compare(Column::Obj);
        let name = obj.strip_suffix(":*").filter(|name| !name.contains('*'));
        let resource = match (compare, name) {
            (Compare::OrStar | Compare::KeyMatch, _) if obj == STAR => return Ok(STAR.to_owned()),
            (Compare::KeyMatch, Some(_)) => obj.to_owned(),
            (Compare::KeyMatch, None) if obj.contains('*') => {
                let reason = "Portcullis has no patterns of objects but `*` and `<name>:*`";
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

    /// Who has the role `sub` where the line holds, each with the domain of the rule.
    fn members(
        &self,
        line: &Line,
        sub: &str,
        dom: Option<&str>,
    ) -> Result<Vec<(String, Option<String>)>, Fault> {
        let everywhere = self.model.roles == Some(Roles::Everywhere);
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

    /// Where the first line decides, a deny behind an allow that matches the same is of no effect there;
    /// in Portcullis it would deny.
    fn in_order(&self, line: &Line, rules: &[Rule]) -> Result<(), Fault> {
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

    /// Adds a rule; where its tuple has one, a deny stays or becomes a deny.
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

    /// The rules of the model itself: its superusers, and that everything is allowed which is not denied.
    fn everybody(&mut self) {
        let by_default = (self.model.effect == PolicyEffect::DenyOverride).then(|| STAR.to_owned());
        for sub in self.model.superusers.iter().cloned().chain(by_default) {
            let dom = self.model.has_domain().then(|| STAR.to_owned());
            let [obj, act] = [STAR, STAR].map(str::to_owned);
            let rule = Rule { sub, dom, obj, act, effect: Effect::Allow };
            match acceptable(&rule) {
                Ok(()) => self.add(rule),
                Err(reason) => self.converted.faults.push(Fault::of_file(reason)),
            }
        }
    }
}

const PLAIN_STAR: &str = "a `*` is a plain character to this matcher, and a wildcard to Portcullis";

/// Why Portcullis would refuse the rule.
fn acceptable(rule: &Rule) -> Result<(), String> {
    let text = serde_json::to_string(rule).map_err(|error| error.to_string())?;
    let json: Json<'_> = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let Rule { sub, obj, act, .. } = rule;
    let refused = |invalid| format!("the rule `{sub}, {obj}, {act}`: {invalid}");
    NewRule::parse(&json, STAR).map(drop).map_err(refused)
}

/// Whether one request can match both rules.
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
