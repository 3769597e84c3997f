//! The inputs of a resolver: the parts of a check that it gets.

use std::collections::BTreeSet;
use std::time::Duration;

use portcullis_engine::relation::RELATION;
use portcullis_engine::request::AttributeMap;
use portcullis_engine::value::{AttributeValue, List};
use portcullis_engine::{AttributeAnswer, Check, Number};

use crate::contract::{Input, Request, Value};

/// The attributes that a check asks a resolver for.
#[derive(Clone, Copy)]
pub struct WantedAttributes<'w> {
    /// The tenant of the check.
    pub tenant: &'w str,
    pub check: &'w Check<'w>,
    pub names: &'w [Box<str>],
}

/// The declared inputs of a resolver. It gets nothing else, so its answers can be cached by the inputs.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    subject: bool,
    domain: bool,
    resource: bool,
    action: bool,
    roles: bool,
    user: Names,
    resource_attributes: Names,
    action_attributes: Names,
    context: Names,
    relations: Names,
}

/// Attributes of one kind.
#[derive(Debug, Default)]
struct Names {
    all: bool,
    some: BTreeSet<Box<str>>,
}

impl Names {
    fn add(&mut self, name: &str) -> bool {
        match name {
            "" => return false,
            "*" => self.all = true,
            name => {
                self.some.insert(name.into());
            }
        }
        true
    }

    /// Selects the declared attributes. Sorts them by name, so that equal inputs are equal bytes in the cache.
    fn select(&self, attributes: AttributeMap<'_>) -> Vec<Input> {
        let mut inputs = Vec::new();
        for (name, value) in attributes.iter() {
            if (self.all || self.some.contains(name))
                && let Some(value) = shown(value)
            {
                inputs.push(Input { name: name.to_owned(), value });
            }
        }
        inputs.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        inputs
    }
}

impl Inputs {
    /// Reads the inputs that a descriptor declares.
    ///
    /// # Errors
    /// The first unknown input.
    pub(crate) fn parse(declared: &[String]) -> Result<Self, &str> {
        let mut inputs = Self::default();
        for input in declared {
            let known = match input.as_str() {
                "subject" => set(&mut inputs.subject),
                "domain" => set(&mut inputs.domain),
                "resource" => set(&mut inputs.resource),
                "action" => set(&mut inputs.action),
                "roles" => set(&mut inputs.roles),
                other => match other.split_once('.') {
                    Some(("user", name)) => inputs.user.add(name),
                    Some(("resource", name)) => inputs.resource_attributes.add(name),
                    Some(("action", name)) => inputs.action_attributes.add(name),
                    Some(("context", name)) => inputs.context.add(name),
                    Some((RELATION, name)) => inputs.relations.add(name),
                    _ => false,
                },
            };
            if !known {
                return Err(input);
            }
        }
        Ok(inputs)
    }

    /// Makes the request for attributes. The call may take up to `budget`.
    pub(crate) fn request(&self, wanted: WantedAttributes<'_>, budget: Duration) -> Request {
        let WantedAttributes { tenant, check, names } = wanted;
        let roles =
            if self.roles { check.roles.iter().map(str::to_owned).collect() } else { vec![] };
        Request {
            tenant: tenant.to_owned(),
            subject: if_declared(self.subject, check.subject),
            domain: if_declared(self.domain, check.domain),
            resource: if_declared(self.resource, check.resource),
            action: if_declared(self.action, &check.action.text()),
            roles,
            user: self.user.select(check.attributes.user),
            resource_attributes: self.resource_attributes.select(check.attributes.resource),
            wanted: names.iter().map(|name| (**name).to_owned()).collect(),
            // The contract has no instants before 1970.
            now_ms: u64::try_from(check.now.timestamp_millis()).unwrap_or(0),
            budget_ms: u32::try_from(budget.as_millis()).unwrap_or(u32::MAX),
            ext: self.ext(check),
        }
    }

    /// Selects the attributes of kinds that the contract has no field for: each has its path and its value as JSON text.
    fn ext(&self, check: &Check<'_>) -> Vec<(String, String)> {
        let kinds = [
            ("action", self.action_attributes.select(check.attributes.action)),
            ("context", self.context.select(check.attributes.context)),
        ];
        let members = kinds.into_iter().flat_map(|(kind, inputs)| {
            inputs.into_iter().map(move |it| (format!("{kind}.{}", it.name), as_json(&it.value)))
        });
        members.chain(self.relations(check)).collect()
    }

    /// Selects the declared relations that are known to hold or not to hold.
    fn relations<'c>(&'c self, check: &Check<'c>) -> impl Iterator<Item = (String, String)> + 'c {
        let known = check.relations.into_iter().flat_map(|known| known.for_namespace(RELATION));
        known.filter_map(|(name, answer)| {
            let AttributeAnswer::Value(value) = answer else { return None };
            let is_declared = self.relations.all || self.relations.some.contains(name);
            is_declared.then(|| (format!("{RELATION}.{name}"), value.to_string()))
        })
    }
}

/// Returns the text if the descriptor declares it, else an empty text.
fn if_declared(is_declared: bool, text: &str) -> String {
    if is_declared { text.to_owned() } else { String::new() }
}

/// Sets a flag; returns true, since the input is known.
fn set(flag: &mut bool) -> bool {
    *flag = true;
    true
}

/// Converts a value to the contract. `None` for a list of both strings and numbers, and for an integer that no double
/// equals: the contract has no type for them.
fn shown(value: AttributeValue<'_>) -> Option<Value> {
    match value {
        AttributeValue::Text(text) => Some(Value::Text(text.to_owned())),
        AttributeValue::Number(number) => double(number).map(Value::Number),
        AttributeValue::Bool(value) => Some(Value::Boolean(value)),
        AttributeValue::List(list) => shown_list(list),
        _ => None,
    }
}

fn shown_list(list: List<'_>) -> Option<Value> {
    let (mut texts, mut numbers, mut others) = (Vec::new(), Vec::new(), 0);
    list.for_each(|item| match item {
        AttributeValue::Text(text) => texts.push(text.to_owned()),
        AttributeValue::Number(number) => match double(number) {
            Some(number) => numbers.push(number),
            None => others += 1,
        },
        _ => others += 1,
    });
    match (texts.len(), numbers.len(), others) {
        // An empty list is one of texts.
        (_, 0, 0) => Some(Value::Texts(texts)),
        (0, _, 0) => Some(Value::Numbers(numbers)),
        _ => None,
    }
}

/// Writes a value as JSON.
fn as_json(value: &Value) -> String {
    match value {
        Value::Text(text) => serde_json::json!(text),
        Value::Number(number) => serde_json::json!(number),
        Value::Boolean(value) => serde_json::json!(value),
        Value::Texts(texts) => serde_json::json!(texts),
        Value::Numbers(numbers) => serde_json::json!(numbers),
    }
    .to_string()
}

/// Converts a number to a double, if that is exact.
fn double(number: Number) -> Option<f64> {
    let double = number.as_f64();
    (Number::from_f64(double) == Some(number)).then_some(double)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use portcullis_engine::{AttributeAnswers, CheckBody, Json};

    use super::*;

    const BODY: &str = r#"{"subject": "ann", "resource": "chart:read", "action": "read", "attributes": {
        "user": {"roles": ["nurse"], "ip": "10.0.0.1", "big": 9007199254740993, "mixed": ["a", 1], "age": 41},
        "resource": {"ward": "7"}, "action": {"soft": true}, "context": {"ip": "::1", "tags": ["a"], "n": 2}}}"#;

    fn request(declared: &[&str]) -> Request {
        let declared: Vec<_> = declared.iter().map(|&input| input.to_owned()).collect();
        let inputs = Inputs::parse(&declared).expect("known inputs");
        let json: Json<'_> = serde_json::from_str(BODY).expect("JSON");
        let body = CheckBody::parse(&json).expect("a check");
        let now = DateTime::from_timestamp_millis(1_000).expect("a time");
        let check = Check::new(body, "hospital", None, now);
        let names = &["open".into()];
        let wanted = WantedAttributes { tenant: "hospital", check: &check, names };
        inputs.request(wanted, Duration::from_millis(250))
    }

    #[test]
    fn shows_nothing_that_is_not_declared() {
        let request = request(&[]);
        assert_eq!(
            request,
            Request {
                tenant: "hospital".to_owned(),
                subject: String::new(),
                domain: String::new(),
                resource: String::new(),
                action: String::new(),
                roles: vec![],
                user: vec![],
                resource_attributes: vec![],
                wanted: vec!["open".to_owned()],
                now_ms: 1_000,
                budget_ms: 250,
                ext: vec![],
            }
        );
    }

    #[test]
    fn shows_what_is_declared() {
        let request = request(&["subject", "roles", "user.ip", "resource.*"]);
        assert_eq!((&request.subject[..], &request.action[..]), ("ann", ""));
        assert_eq!(request.roles, ["nurse"]);
        let input = |name: &str, text: &str| Input {
            name: name.to_owned(),
            value: Value::Text(text.to_owned()),
        };
        assert_eq!(request.user, [input("ip", "10.0.0.1")]);
        assert_eq!(request.resource_attributes, [input("ward", "7")]);
        assert!(request.ext.is_empty());
    }

    #[test]
    fn shows_newer_kinds_as_json() {
        let declared = ["context.tags", "action.*", "context.n", "context.gone"];
        let shown = [("action.soft", "true"), ("context.n", "2.0"), ("context.tags", r#"["a"]"#)];
        let shown = shown.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(request(&declared).ext, shown);
    }

    #[test]
    fn shows_declared_relations_that_are_known() {
        let mut relations = AttributeAnswers::default();
        let holds = |holds| AttributeAnswer::Value(Json::Bool(holds));
        relations.insert(RELATION, "viewer", holds(true));
        relations.insert(RELATION, "group:eng#member", holds(false));
        relations.insert(RELATION, "owner", AttributeAnswer::Failed("too many edges".into()));
        let json: Json<'_> = serde_json::from_str(BODY).expect("JSON");
        let body = CheckBody::parse(&json).expect("a check");
        let check = Check::new(body, "hospital", None, DateTime::UNIX_EPOCH);
        let check = Check { relations: Some(&relations), ..check };
        let shown = |declared: &[&str]| {
            let declared: Vec<_> = declared.iter().map(|&input| input.to_owned()).collect();
            let inputs = Inputs::parse(&declared).expect("known inputs");
            let wanted = WantedAttributes { tenant: "hospital", check: &check, names: &[] };
            inputs.request(wanted, Duration::ZERO).ext
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let [group, viewer] =
            [pair("relation.group:eng#member", "false"), pair("relation.viewer", "true")];
        assert_eq!(shown(&["relation.viewer", "relation.owner"]), std::slice::from_ref(&viewer));
        assert_eq!(shown(&["relation.*"]), [group, viewer]);
        assert!(shown(&["user.*"]).is_empty());
    }

    #[test]
    fn leaves_out_what_the_contract_cannot_hold() {
        let names: Vec<_> = request(&["user.*"]).user.into_iter().map(|input| input.name).collect();
        assert_eq!(names, ["age", "ip", "roles"]);
    }

    #[test]
    fn names_what_it_does_not_know() {
        for unknown in ["token", "user.", "context.", "users.ip", "Subject", "", "request.time"] {
            assert_eq!(Inputs::parse(&[unknown.to_owned()]).err(), Some(unknown));
        }
    }
}
