//! Rules and policies: what an alternative of a matcher becomes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use portcullis_engine::{Effect, Json, ResourcePattern, json};
use portcullis_model::policy::NewPolicy;
use portcullis_model::rule::NewRule;
use serde::Serialize;
use serde_json::{Value, json};

use super::condition::{Attribute, Condition, Field, OneOf, Operand, Test};
use super::fault::ImportFault;
use super::objects::Objects;

const STAR: &str = "*";
/// The most rules that one alternative becomes.
const MAX_RULES: usize = 100_000;
/// The most lines that the name of a policy lists.
const MAX_LISTED: usize = 5;

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

/// A policy in the format of the API and of `policies.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ImportedPolicy {
    pub(super) name: String,
    pub(super) resource: String,
    pub(super) effect: Effect,
    pub(super) priority: i64,
    pub(super) rule_data: Value,
}

/// The result of a conversion.
#[derive(Debug, Default)]
pub(super) struct Converted {
    pub(super) rules: Vec<Rule>,
    pub(super) policies: Vec<ImportedPolicy>,
    /// The lines that Portcullis cannot express.
    pub(super) faults: Vec<ImportFault>,
    /// The number of lines that have no effect in this model.
    pub(super) without_effect: usize,
}

/// The line that an alternative comes from.
pub(super) struct Origin {
    pub(super) effect: Effect,
    /// 0 if the order of lines decides nothing.
    pub(super) priority: i64,
    pub(super) line: Option<usize>,
}

/// Policies that differ in their subjects only become one.
struct Draft {
    effect: Effect,
    priority: i64,
    resource: String,
    subjects: Option<OneOf>,
    others: Vec<Value>,
    lines: BTreeSet<usize>,
}

/// The rules and policies so far.
#[derive(Default)]
pub(super) struct Output {
    rules: Vec<Rule>,
    /// The position of each tuple in the rules. A tuple has one effect.
    tuples: HashMap<(String, Option<String>, String, String), usize>,
    drafts: Vec<Draft>,
    /// The position of the draft with these other parts, as JSON.
    known: BTreeMap<String, usize>,
}

impl Output {
    /// Adds conditions that hold together.
    ///
    /// # Errors
    /// The reason why Portcullis cannot express them.
    pub(super) fn add(
        &mut self,
        parts: &[Condition],
        origin: &Origin,
        objects: &Objects,
        has_domain: bool,
    ) -> Result<(), String> {
        if origin.priority == 0
            && let Some(rules) = rules(parts, origin.effect, has_domain)?
        {
            rules.into_iter().for_each(|rule| self.rule(rule));
            return Ok(());
        }
        for resource in resources(parts)? {
            self.policy(parts, resource, origin, objects)?;
        }
        Ok(())
    }

    /// Adds the rule that allows everything to everybody.
    pub(super) fn allow_everything(&mut self, has_domain: bool) -> Result<(), String> {
        let dom = has_domain.then(|| STAR.to_owned());
        let [sub, obj, act] = [STAR, STAR, STAR].map(str::to_owned);
        self.rule(accepted(Rule { sub, dom, obj, act, effect: Effect::Allow })?);
        Ok(())
    }

    /// Adds a rule. If its tuple already has a rule, a deny wins.
    fn rule(&mut self, rule: Rule) {
        let tuple = (rule.sub.clone(), rule.dom.clone(), rule.obj.clone(), rule.act.clone());
        match self.tuples.get(&tuple).and_then(|index| self.rules.get_mut(*index)) {
            Some(own) => own.effect = own.effect.min(rule.effect),
            None => {
                self.tuples.insert(tuple, self.rules.len());
                self.rules.push(rule);
            }
        }
    }

    fn policy(
        &mut self,
        parts: &[Condition],
        resource: String,
        origin: &Origin,
        objects: &Objects,
    ) -> Result<(), String> {
        let named = resource != STAR;
        let (mut subjects, mut others) = (None, Vec::new());
        for part in parts {
            match part {
                Condition::OneOf(own) if own.field == Field::Subject => {
                    subjects = Some(own.clone())
                }
                // The resource of the policy says it.
                Condition::OneOf(own) if own.field == Field::Object && named => {}
                part => others.push(tree(part, objects)?),
            }
        }
        let key = json!([origin.effect, origin.priority, resource, others, subjects.is_some()]);
        let lines = origin.line.into_iter().collect();
        let draft = Draft {
            effect: origin.effect,
            priority: origin.priority,
            resource,
            subjects,
            others,
            lines,
        };
        match self.known.get(&key.to_string()).and_then(|index| self.drafts.get_mut(*index)) {
            Some(own) => own.merge(draft),
            None => {
                self.known.insert(key.to_string(), self.drafts.len());
                self.drafts.push(draft);
            }
        }
        Ok(())
    }

    /// Returns everything that was added.
    pub(super) fn finish(self) -> Converted {
        let (mut policies, mut faults) = (Vec::<ImportedPolicy>::new(), Vec::new());
        let mut names = HashMap::<String, usize>::new();
        for draft in self.drafts {
            let line = draft.lines.first().copied();
            match draft.finish() {
                Ok(mut policy) => {
                    let count = names.entry(policy.name.clone()).or_default();
                    *count += 1;
                    if *count > 1 {
                        policy.name = format!("{} ({count})", policy.name);
                    }
                    policies.push(policy);
                }
                Err(reason) => faults.push(ImportFault { line, reason }),
            }
        }
        Converted { rules: self.rules, policies, faults, without_effect: 0 }
    }
}

impl Draft {
    fn merge(&mut self, other: Self) {
        if let (Some(own), Some(new)) = (&mut self.subjects, other.subjects) {
            own.values.extend(new.values);
            own.roles.extend(new.roles);
        }
        self.lines.extend(other.lines);
    }

    /// Returns the policy, if Portcullis accepts it.
    fn finish(self) -> Result<ImportedPolicy, String> {
        let name = self.name();
        let subjects = self.subjects.as_ref().map(subjects);
        let parts: Vec<Value> = subjects.into_iter().chain(self.others).collect();
        let always =
            json!({"type": "CONDITION", "attribute": "request.subject", "operator": "exists"});
        let rule_data = group("AND", parts).unwrap_or(always);
        let Self { effect, priority, resource, .. } = self;
        let policy = ImportedPolicy { name, resource, effect, priority, rule_data };
        let text = serde_json::to_string(&policy).map_err(|error| error.to_string())?;
        let read: Json<'_> = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        NewPolicy::parse(&read)
            .map_err(|invalid| format!("the policy `{}`: {invalid}", policy.name))?;
        Ok(policy)
    }

    /// Returns a name that says where the policy comes from.
    fn name(&self) -> String {
        let listed: Vec<_> = self.lines.iter().take(MAX_LISTED).map(usize::to_string).collect();
        let more = self.lines.len().saturating_sub(MAX_LISTED);
        let lines = match (listed.len(), more) {
            (0, _) => "the matcher".to_owned(),
            (1, _) => format!("line {}", listed.concat()),
            (_, 0) => format!("lines {}", listed.join(", ")),
            (_, more) => format!("lines {} and {more} more", listed.join(", ")),
        };
        format!("casbin {} {}: {lines}", self.effect, self.resource)
    }
}

/// Returns the rules that the parts mean; `None` if rules cannot mean the same.
fn rules(
    parts: &[Condition],
    effect: Effect,
    has_domain: bool,
) -> Result<Option<Vec<Rule>>, String> {
    let fields: Option<Vec<&OneOf>> = parts
        .iter()
        .map(|part| match part {
            // A `*` of a line is a plain character. In a rule it would match everything.
            Condition::OneOf(own) if !own.values.iter().any(|value| value.contains('*')) => {
                Some(own)
            }
            _ => None,
        })
        .collect();
    let Some(fields) = fields else { return Ok(None) };
    let find = |field: Field| fields.iter().find(|own| own.field == field);
    let subjects = find(Field::Subject);
    // A rule for a name also holds for the role of that name, so it must come from a model with roles.
    if subjects.is_some_and(|own| own.roles.is_empty()) {
        return Ok(None);
    }
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
                    let obj = if object == STAR { STAR.to_owned() } else { resource(object, act)? };
                    let dom = has_domain.then(|| dom.clone());
                    let (sub, act) = (sub.clone(), act.clone());
                    rules.push(accepted(Rule { sub, dom, obj, act, effect })?);
                }
            }
        }
    }
    Ok(Some(rules))
}

/// Returns the resource for Casbin's `object` and `act`, either of which may be `*`.
fn resource(object: &str, act: &str) -> Result<String, String> {
    if object.contains(':') {
        return Ok(object.to_owned());
    }
    if act.contains(':') {
        let reason = "the action would become the verb of the resource, which has no `:`";
        return Err(format!("`{act}`: {reason}"));
    }
    Ok(format!("{object}:{act}"))
}

/// Returns the resources of the policies that the parts become.
fn resources(parts: &[Condition]) -> Result<Vec<String>, String> {
    let find = |field: Field| {
        parts.iter().find_map(|part| match part {
            Condition::OneOf(own) if own.field == field => Some(own),
            _ => None,
        })
    };
    let star = BTreeSet::from([STAR.to_owned()]);
    let Some(objects) = find(Field::Object) else { return Ok(vec![STAR.to_owned()]) };
    // With a plain `*`, the condition says it all.
    if objects.values.iter().any(|object| object.contains('*')) {
        return Ok(vec![STAR.to_owned()]);
    }
    let actions = find(Field::Action).map_or(&star, |own| &own.values);
    let act = match actions.first() {
        Some(act) if actions.len() == 1 && !act.contains('*') => act.as_str(),
        _ => STAR,
    };
    objects
        .values
        .iter()
        .map(|object| {
            let resource = resource(object, act)?;
            match ResourcePattern::parse(&resource) {
                Some(_) => Ok(resource),
                None => Err(format!("`{resource}` is no name of a resource")),
            }
        })
        .collect()
}

/// Makes sure that Portcullis accepts the rule. The error is the reason why not.
fn accepted(rule: Rule) -> Result<Rule, String> {
    let text = serde_json::to_string(&rule).map_err(|error| error.to_string())?;
    let json: Json<'_> = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let Rule { sub, obj, act, .. } = &rule;
    let refused = |invalid| format!("the rule `{sub}, {obj}, {act}`: {invalid}");
    NewRule::parse(&json, STAR).map_err(refused)?;
    Ok(rule)
}

/// Returns the condition on the subject: it is one of the names, or has one of the roles.
fn subjects(own: &OneOf) -> Value {
    let names = one_of("request.subject", &own.values);
    let roles = own.roles.iter().map(|role| {
        json!({"type": "CONDITION", "attribute": "request.roles", "operator": "contains", "value": role})
    });
    let parts = [names].into_iter().chain(roles).collect();
    group("OR", parts).unwrap_or(Value::Null)
}

fn one_of(attribute: &str, values: &BTreeSet<String>) -> Value {
    match values.first() {
        Some(value) if values.len() == 1 => {
            json!({"type": "CONDITION", "attribute": attribute, "operator": "eq", "value": value})
        }
        _ => {
            json!({"type": "CONDITION", "attribute": attribute, "operator": "in", "value": values})
        }
    }
}

/// Returns the condition that Casbin's object is one of `values`. An object with a verb is the whole resource.
fn object_is(values: &BTreeSet<String>) -> Value {
    let (named, alone): (BTreeSet<String>, BTreeSet<String>) =
        values.iter().cloned().partition(|object| object.contains(':'));
    let parts = [("request.resource", named), ("request.object", alone)];
    let parts = parts.into_iter().filter(|(_, values)| !values.is_empty());
    let parts = parts.map(|(attribute, values)| one_of(attribute, &values)).collect();
    group("OR", parts).unwrap_or(Value::Null)
}

/// Returns the only part, or a node of them; `None` if there is none.
fn group(kind: &str, mut parts: Vec<Value>) -> Option<Value> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(json!({"type": kind, "children": parts})),
    }
}

/// Returns the condition tree of a part.
fn tree(condition: &Condition, objects: &Objects) -> Result<Value, String> {
    let each = |parts: &[Condition]| {
        parts.iter().map(|part| tree(part, objects)).collect::<Result<Vec<_>, _>>()
    };
    match condition {
        Condition::And(parts) => Ok(json!({"type": "AND", "children": each(parts)?})),
        Condition::Or(parts) => Ok(json!({"type": "OR", "children": each(parts)?})),
        Condition::Not(part) => Ok(json!({"type": "NOT", "child": tree(part, objects)?})),
        Condition::Constant(_) => Err("a constant is no condition".to_owned()),
        Condition::OneOf(own) if own.field == Field::Subject => Ok(subjects(own)),
        Condition::OneOf(own) if own.field == Field::Object => Ok(object_is(&own.values)),
        Condition::OneOf(own) => {
            Ok(one_of(&path(&Attribute::Field(own.field), objects)?, &own.values))
        }
        // A prefix of the object is one of the resource too, whether the object has a verb or not.
        Condition::Test(Test {
            attribute: Attribute::Field(Field::Object),
            operator: "starts_with",
            operand: Operand::Literal(prefix),
        }) => Ok(json!({
            "type": "CONDITION", "attribute": "request.resource", "operator": "starts_with",
            "value": prefix,
        })),
        Condition::Test(Test { attribute, operator, operand }) => {
            let value = match operand {
                Operand::Literal(value) => value.clone(),
                Operand::Attribute(other) => json!({"attribute": path(other, objects)?}),
            };
            let attribute = path(attribute, objects)?;
            Ok(
                json!({"type": "CONDITION", "attribute": attribute, "operator": operator, "value": value}),
            )
        }
    }
}

fn path(attribute: &Attribute, objects: &Objects) -> Result<String, String> {
    match attribute {
        Attribute::Path(path) => Ok(path.clone()),
        Attribute::Field(Field::Subject) => Ok("request.subject".to_owned()),
        Attribute::Field(Field::Domain) => Ok("request.domain".to_owned()),
        Attribute::Field(Field::Action) => Ok("request.action".to_owned()),
        Attribute::Field(Field::Object) => objects.attribute().map(str::to_owned),
    }
}
