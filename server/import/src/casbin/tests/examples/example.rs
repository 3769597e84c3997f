//! An example, and the decision about a request.

use chrono::DateTime;

use super::super::super::condition::{Attribute, Field};
use super::super::super::model::Model;
use super::super::super::requests::{Decider, Request};
use super::super::support::model;

/// A model, its lines, and the decisions about requests.
pub(super) struct Example {
    pub(super) name: &'static str,
    /// The request, the policy, the definitions of roles, the effect and the matcher.
    pub(super) model: [&'static str; 5],
    pub(super) policy: &'static str,
    /// Requests, separated by `, `: the values of the columns, then attributes.
    pub(super) allowed: &'static str,
    pub(super) denied: &'static str,
}

impl Example {
    /// Reads the model. The error is the first fault.
    pub(super) fn parse(&self) -> Result<Model, String> {
        let [request, policy, roles, effect, matcher] = self.model;
        let text = model(request, policy, roles, effect, matcher);
        Model::parse(&text).map_err(|faults| faults[0].reason.clone())
    }

    /// Decides a request such as `alice data1 read user.Age=16`: the values of the columns, then attributes.
    pub(super) fn allows(&self, model: &Model, decider: &Decider, request: &str) -> bool {
        let (attributes, values): (Vec<&str>, Vec<&str>) =
            request.split(' ').partition(|value| value.contains('='));
        assert_eq!(values.len(), model.request.len(), "{}: {request}", self.name);
        let literal = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
        let mut asked = Request::default();
        for attribute in attributes {
            let (path, value) = attribute.split_once('=').expect("a value");
            asked.attributes.push((path, literal(value)));
        }
        for ((_, attribute), value) in model.request.iter().zip(values) {
            match attribute {
                Attribute::Field(Field::Subject) => asked.subject = value,
                Attribute::Field(Field::Domain) => asked.domain = Some(value),
                Attribute::Field(Field::Object) => asked.object = value,
                Attribute::Field(Field::Action) => asked.action = value,
                Attribute::Path(path) => asked.attributes.push((path, literal(value))),
            }
        }
        decider.allows(&asked, DateTime::UNIX_EPOCH).expect("a decision")
    }
}
