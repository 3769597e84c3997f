//! Compares the decisions of an import with those that a Casbin application expects.

use chrono::{DateTime, Utc};
use portcullis_bundle::Rulebook;
use portcullis_engine::request::CheckBody;
use portcullis_engine::{
    Check, Effect, Policy, ResourcePattern, Rule as PlanRule, RuleTuple, json,
};
use portcullis_model::policy::NewPolicy;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::condition::{Attribute, Field, number};
use super::lines;
use super::model::Model;
use super::objects::Objects;
use super::output::Converted;
use crate::fault::ImportFault;

/// The domain of checks whose model has none.
const DOMAIN: &str = "tenant";
/// The subject, object or action of checks whose model has none.
const ANY: &str = "any";

/// A request of a Casbin application.
#[derive(Debug)]
pub(super) struct Request<'r> {
    pub(super) subject: &'r str,
    pub(super) domain: Option<&'r str>,
    pub(super) object: &'r str,
    pub(super) action: &'r str,
    /// Attributes of the user and of the resource, by path.
    pub(super) attributes: Vec<(&'r str, Value)>,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Self { subject: ANY, domain: None, object: ANY, action: ANY, attributes: Vec::new() }
    }
}

impl<'r> Request<'r> {
    /// Returns the request with these values, which are in the order of the model.
    pub(super) fn new(model: &'r Model, values: &[&'r str]) -> Self {
        let mut request = Self::default();
        for ((column, attribute), value) in model.request.iter().zip(values) {
            match attribute {
                Attribute::Field(Field::Subject) => request.subject = value,
                Attribute::Field(Field::Domain) => request.domain = Some(value),
                Attribute::Field(Field::Object) => request.object = value,
                Attribute::Field(Field::Action) => request.action = value,
                Attribute::Path(path) => {
                    // Casbin compares texts unless an operator orders them, so `1` and `1.0` stay different elsewhere.
                    let number = if model.orders_request(column) { number(value) } else { None };
                    let value = number.map_or_else(|| (*value).into(), Value::Number);
                    request.attributes.push((path, value));
                }
            }
        }
        request
    }
}

/// The imported rules and policies, ready to decide.
pub(super) struct Decider {
    objects: Objects,
    rulebook: Rulebook,
}

impl Decider {
    /// Compiles what was imported.
    ///
    /// # Errors
    /// A rule or a policy that Portcullis does not accept.
    pub(super) fn new(converted: &Converted) -> anyhow::Result<Self> {
        let rules = converted.rules.iter().map(|rule| {
            let obj = ResourcePattern::parse(&rule.obj);
            let obj = obj.ok_or_else(|| anyhow::anyhow!("`{}` is not a resource", rule.obj))?;
            let (sub, act) = (rule.sub.clone(), rule.act.clone());
            let dom = rule.dom.clone().unwrap_or_else(|| DOMAIN.to_owned());
            Ok(PlanRule {
                // Only the effect of a decision is looked at, so that the ids need not differ.
                id: Uuid::nil(),
                tuple: RuleTuple { sub, dom, obj, act },
                effect: rule.effect,
            })
        });
        let policies = converted.policies.iter().map(|policy| {
            let text = serde_json::to_string(policy)?;
            let read = json::parse(text.as_bytes())?;
            let read = NewPolicy::parse(&read)?;
            Ok(Policy {
                id: Uuid::nil(),
                name: read.name,
                resource: read.resource,
                effect: read.effect,
                priority: read.priority,
                condition: Ok(read.rule_data.condition),
            })
        });
        let rules = rules.collect::<anyhow::Result<_>>()?;
        let policies = policies.collect::<anyhow::Result<_>>()?;
        let rulebook = Rulebook::from_stored(rules, policies);
        Ok(Self { objects: converted.objects.clone(), rulebook })
    }

    /// Returns whether the request is allowed at `now`.
    ///
    /// # Errors
    /// Portcullis cannot be asked this request.
    pub(super) fn allows(&self, request: &Request<'_>, now: DateTime<Utc>) -> anyhow::Result<bool> {
        let resource = self.objects.resource(request.object, request.action);
        let resource = resource.map_err(anyhow::Error::msg)?;
        let mut attributes = Map::new();
        for (path, value) in &request.attributes {
            // Every attribute of a column has a namespace, and the default is never used.
            let (kind, name) = path.split_once('.').unwrap_or(("user", path));
            let kind = attributes.entry(kind).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(members) = kind {
                members.insert(name.to_owned(), value.clone());
            }
        }
        let body = serde_json::json!({
            "subject": request.subject, "resource": resource, "action": request.action,
            "attributes": attributes,
        });
        let text = body.to_string();
        let read = json::parse(text.as_bytes())?;
        let body = CheckBody::parse(&read)?;
        let check = Check::new(body, request.domain.unwrap_or(DOMAIN), None, now);
        Ok(self.rulebook.plan(&resource).evaluate(&check).effect() == Effect::Allow)
    }
}

/// Decides the requests of a file. Each line has the columns of a request and the expected decision, `true` or `false`.
/// Returns the number of requests, and the lines that are decided otherwise or cannot be asked.
///
/// # Errors
/// A rule or a policy cannot be compiled.
pub(super) fn differences(
    model: &Model,
    converted: &Converted,
    text: &str,
    now: DateTime<Utc>,
) -> anyhow::Result<(usize, Vec<ImportFault>)> {
    let decider = Decider::new(converted)?;
    let (mut asked, mut faults) = (0, Vec::new());
    for line in lines::read(text) {
        // A line with a fault counts as asked, so that the message says how many of all lines differ.
        asked += 1;
        let outcome = line.and_then(|line| {
            let line = line.without_padding(model.request.len());
            // Requests have no kind: the first column of the line is their first value.
            let values: Vec<&str> =
                [&line.kind].into_iter().chain(&line.values).map(String::as_str).collect();
            difference(model, &decider, &values, now).map_err(|reason| line.fault(reason))
        });
        faults.extend(outcome.err());
    }
    Ok((asked, faults))
}

/// Decides one request. The error says what differs.
fn difference(
    model: &Model,
    decider: &Decider,
    values: &[&str],
    now: DateTime<Utc>,
) -> Result<(), String> {
    let columns = model.request.len();
    let Some((expected, values)) =
        values.split_last().filter(|(_, values)| values.len() == columns)
    else {
        return Err(format!("expected {columns} values, then `true` or `false`"));
    };
    let expected = match *expected {
        "true" => true,
        "false" => false,
        other => return Err(format!("expected `true` or `false` at the end, not `{other}`")),
    };
    let decided =
        decider.allows(&Request::new(model, values), now).map_err(|error| error.to_string())?;
    match (expected, decided) {
        (true, false) => Err("Casbin decides allow, Portcullis deny".to_owned()),
        (false, true) => Err("Casbin decides deny, Portcullis allow".to_owned()),
        _ => Ok(()),
    }
}
