//! Texts to copy: a question as a call of the API, as a command and as a question of AuthZEN.

use std::fmt;

use portcullis_engine::resource::object_of;
use portcullis_model::decision::DecisionRecord;
use serde_json::{Value, json};

use crate::address::Address;

/// The body of a check, for those who have no question yet.
pub(crate) const EXAMPLE: &str =
    r#"{"subject": "ann", "action": "read", "resource": "document:read"}"#;

/// A call of the API that has the content of a page.
pub(crate) struct AsApi {
    pub(crate) method: &'static str,
    pub(crate) route: &'static str,
    pub(crate) curl: String,
}

impl AsApi {
    /// Returns a call that reads.
    pub(crate) fn get(address: &Address, route: &'static str, query: &str) -> Self {
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        let url = quoted(&format!("{}{route}{query}", root(address)));
        let curl = format!("curl -s {url} -H \"Authorization: Bearer $TOKEN\"");
        Self { method: "GET", route, curl }
    }

    /// Returns the call with these values in the path of its route.
    pub(crate) fn at<V: fmt::Display>(self, names: &[(&str, V)]) -> Self {
        let curl = names
            .iter()
            .fold(self.curl, |curl, (name, value)| curl.replacen(name, &value.to_string(), 1));
        Self { curl, ..self }
    }

    /// Returns a call with a body.
    pub(crate) fn post(address: &Address, route: &'static str, body: &str) -> Self {
        let url = quoted(&format!("{}{route}", root(address)));
        let body = quoted(body);
        let curl = format!(
            "curl -s {url} -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d {body}"
        );
        Self { method: "POST", route, curl }
    }
}

/// A text that a button copies.
pub(crate) struct Copy {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

/// A question that was decided.
pub(crate) struct Question<'q> {
    pub(crate) subject: &'q str,
    pub(crate) action: &'q str,
    pub(crate) resource: &'q str,
    pub(crate) domain: &'q str,
    /// The attributes by namespace.
    pub(crate) attributes: &'q Value,
}

impl<'q> Question<'q> {
    /// Returns the question of a record, which has `attributes` of it.
    pub(crate) fn of(record: &'q DecisionRecord, attributes: &'q Value) -> Self {
        Self {
            subject: &record.subject,
            action: &record.action,
            resource: &record.resource,
            domain: &record.domain,
            attributes,
        }
    }

    /// Returns the question with its answer, an effect, as a title.
    pub(crate) fn title(&self, decision: &str) -> String {
        let may = if decision == "allow" { "may" } else { "may not" };
        format!("{} {may} {} {}", self.subject, self.action, self.object())
    }

    /// Returns `type:id` if the attributes have an id, else the resource.
    fn object(&self) -> String {
        match self.object_id() {
            Some(id) => format!("{}:{id}", self.object_type()),
            None => self.resource.to_owned(),
        }
    }

    /// Returns the type of the object: the one that the attributes name, or else the name in the resource.
    fn object_type(&self) -> &str {
        let sent = self.attributes["resource"]["type"].as_str();
        sent.unwrap_or_else(|| object_of(self.resource))
    }

    fn object_id(&self) -> Option<&str> {
        self.attributes["resource"]["id"].as_str()
    }

    /// Returns the ways to ask the question again.
    pub(crate) fn copies(&self, address: &Address) -> [Copy; 3] {
        let body = self.body().to_string();
        [
            Copy {
                id: "copy-curl",
                name: "Copy as curl",
                text: AsApi::post(address, "/api/v1/check", &body).curl,
            },
            Copy { id: "copy-command", name: "Copy as command", text: self.command(address) },
            Copy { id: "copy-authzen", name: "Copy as AuthZEN", text: self.authzen() },
        ]
    }

    /// Returns the body of a check.
    pub(crate) fn body(&self) -> Value {
        let Self { subject, action, resource, domain, attributes } = self;
        json!({
            "subject": subject, "action": action, "resource": resource, "domain": domain,
            "attributes": attributes,
        })
    }

    fn command(&self, address: &Address) -> String {
        let Self { subject, action, resource, domain, attributes } = self;
        let mut command =
            ["portcullis check", &quoted(subject), &quoted(action), &quoted(resource)].join(" ");
        command += &format!(" --url {} --domain {}", quoted(&root(address)), quoted(domain));
        for (kind, members) in attributes.as_object().into_iter().flatten() {
            for (name, value) in members.as_object().into_iter().flatten() {
                command += &format!(" --attr {}", quoted(&format!("{kind}.{name}={value}")));
            }
        }
        command
    }

    /// Returns the body of an evaluation, whose resource has an id if the attributes have one.
    fn authzen(&self) -> String {
        let Self { subject, action, .. } = self;
        let mut body = json!({
            "subject": {"type": "user", "id": subject},
            "action": {"name": action},
            "resource": {"type": self.object_type(), "id": self.object_id().unwrap_or_default()},
        });
        for (member, kind) in [("subject", "user"), ("resource", "resource"), ("action", "action")]
        {
            let mut properties = self.attributes[kind].clone();
            if let Some(members) = properties.as_object_mut() {
                // AuthZEN has them as members of the resource itself.
                members.retain(|name, _| kind != "resource" || (name != "type" && name != "id"));
                if !members.is_empty() {
                    body[member]["properties"] = properties;
                }
            }
        }
        let context = &self.attributes["context"];
        if context.as_object().is_some_and(|members| !members.is_empty()) {
            body["context"] = context.clone();
        }
        body.to_string()
    }
}

/// Returns the attributes that a record has of the request, by namespace.
pub(crate) fn attributes_of(record: &DecisionRecord) -> Value {
    serde_json::from_str(record.attributes.get()).unwrap_or_default()
}

fn root(address: &Address) -> String {
    address.public().unwrap_or("http://127.0.0.1:8080").to_owned()
}

/// Returns a text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_asked_again_in_three_ways() {
        let attributes =
            json!({"user": {"ward": "er's"}, "resource": {"type": "doc", "id": "plan", "n": 1}});
        let question = Question {
            subject: "dana",
            action: "read",
            resource: "doc:read",
            domain: "acme",
            attributes: &attributes,
        };
        let [curl, command, authzen] = question.copies(&Address::local());
        assert!(curl.text.contains(r#""ward":"er'\''s""#), "{}", curl.text);
        let expected = r#"portcullis check 'dana' 'read' 'doc:read' --url 'http://127.0.0.1:8080' --domain 'acme'"#;
        assert!(command.text.starts_with(expected), "{}", command.text);
        assert!(command.text.contains(r#"--attr 'user.ward="er'\''s"'"#), "{}", command.text);
        let body: Value = serde_json::from_str(&authzen.text).unwrap_or_default();
        let resource = json!({"type": "doc", "id": "plan", "properties": {"n": 1}});
        assert_eq!(body["resource"], resource);
        assert_eq!(body["subject"]["properties"], json!({"ward": "er's"}));
    }
}
