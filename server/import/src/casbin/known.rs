//! The known parts of a matcher, and the values in it once they are filled in.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::condition::{Attribute, Condition, Field};
use super::expression::Value;
use super::functions;
use super::membership::{RoleScope, Roles};

/// The known parts of a matcher.
pub(super) struct Known<'k> {
    /// The attributes of the columns of a request.
    pub(super) request: &'k [(String, Attribute)],
    /// The values of the policy line, by column.
    pub(super) line: BTreeMap<&'k str, &'k str>,
    pub(super) definitions: &'k BTreeMap<String, RoleScope>,
    pub(super) roles: &'k Roles,
    /// The fields whose only value the conditions around an expression say.
    pub(super) fixed: BTreeMap<Field, String>,
}

/// A value after the known parts are filled in.
pub(super) enum Operandum {
    Attribute(Attribute),
    Literal(Json),
    List(Vec<Json>),
    Part(AttributePart),
}

/// `keyGet(attribute, pattern)` or `keyGet2(attribute, pattern, name)`: a part of an attribute.
pub(super) struct AttributePart {
    attribute: Attribute,
    pattern: String,
    /// The name of the segment, for `keyGet2`.
    name: Option<String>,
}

impl AttributePart {
    /// Returns the fault that the part is compared with something that is not known.
    pub(super) fn fault(&self) -> String {
        let name = if self.name.is_some() { "keyGet2" } else { "keyGet" };
        format!(
            "the part of a text that `{name}` takes is compared with known texts only; send the part as an attribute of the \
             request, and compare that"
        )
    }

    /// Returns the condition that the part is `text`.
    pub(super) fn is(&self, text: &str) -> Result<Condition, String> {
        let attribute = self.attribute.clone();
        match &self.name {
            None => functions::key_get(attribute, &self.pattern, text),
            Some(name) => functions::key_get2(attribute, &self.pattern, name, text),
        }
    }
}

impl Known<'_> {
    /// Fills in the known parts of a value.
    pub(super) fn value(&self, value: &Value) -> Result<Operandum, String> {
        match value {
            Value::Text(text) => Ok(Operandum::Literal(text.as_str().into())),
            Value::Number(number) => Ok(Operandum::Literal(number.clone().into())),
            Value::Bool(value) => Ok(Operandum::Literal((*value).into())),
            Value::Policy(column) => Ok(Operandum::Literal(self.column(column)?.into())),
            Value::Request { column, path } => self.attribute(column, path.as_deref()),
            Value::List(items) => {
                let items = items.iter().map(|item| match self.value(item)? {
                    Operandum::Literal(item) => Ok(item),
                    _ => Err("a list has texts and numbers only".to_owned()),
                });
                items.collect::<Result<_, _>>().map(Operandum::List)
            }
            Value::Call { name, arguments } => self.part(name, arguments),
        }
    }

    /// Reads a call that returns a part of an attribute.
    fn part(&self, name: &str, arguments: &[Value]) -> Result<Operandum, String> {
        let (attribute, others) = match (name, arguments) {
            ("keyGet", [attribute, pattern]) => (attribute, vec![pattern]),
            ("keyGet2", [attribute, pattern, segment]) => (attribute, vec![pattern, segment]),
            ("keyGet" | "keyGet2", _) => {
                return Err(format!("`{name}` has another number of arguments"));
            }
            _ => {
                // A function that Casbin does not have gets another fault than one that is not translated here.
                functions::known(name)?;
                return Err(format!(
                    "the function `{name}` in a comparison is not translated; use `keyGet`, `keyGet2`, or a pattern"
                ));
            }
        };
        let Operandum::Attribute(attribute) = self.value(attribute)? else {
            return Err(format!(
                "the first argument of `{name}` must be an attribute of the request"
            ));
        };
        let texts = others.into_iter().map(|value| match self.value(value)? {
            Operandum::Literal(Json::String(text)) => Ok(text),
            _ => Err(format!("the arguments of `{name}` after the first must be known texts")),
        });
        let mut texts = texts.collect::<Result<Vec<_>, String>>()?.into_iter();
        // Both forms have a pattern, and only `keyGet2` has a text behind it.
        let pattern = texts.next().unwrap_or_default();
        Ok(Operandum::Part(AttributePart { attribute, pattern, name: texts.next() }))
    }

    /// Returns the value of a column of the line.
    pub(super) fn column(&self, column: &str) -> Result<&str, String> {
        let value = self.line.get(column).copied();
        value.ok_or_else(|| format!("`[policy_definition]` has no column `{column}`"))
    }

    /// Returns the attribute that `r.column` or `r.column.path` reads.
    fn attribute(&self, column: &str, path: Option<&str>) -> Result<Operandum, String> {
        let own = self.request.iter().find(|(name, _)| name == column).map(|(_, own)| own);
        let own = own.ok_or_else(|| format!("`[request_definition]` has no column `{column}`"))?;
        let attribute = match (own, path) {
            (own, None) => own.clone(),
            (Attribute::Field(Field::Subject), Some(path)) => {
                Attribute::Path(format!("user.{path}"))
            }
            (Attribute::Field(Field::Object), Some(path)) => {
                Attribute::Path(format!("resource.{path}"))
            }
            (Attribute::Field(_), Some(path)) => {
                return Err(format!(
                    "`r.{column}.{path}`: only subjects and objects have attributes"
                ));
            }
            (Attribute::Path(own), Some(path)) => Attribute::Path(format!("{own}.{path}")),
        };
        Ok(Operandum::Attribute(attribute))
    }
}
