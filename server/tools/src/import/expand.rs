//! Partial evaluation of a matcher for one policy line: what `p.…`, `g(…)` and `eval(…)` stand for is known, and a
//! condition over the request is left.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::condition::{Attribute, Condition, Field, Operand, Test};
use super::expression::{self, Comparator, Expression, Value};
use super::functions;
use super::membership::{Domain, RoleScope, Roles};

/// The known parts of a matcher.
pub(super) struct Known<'k> {
    /// The attributes of the columns of a request.
    pub(super) request: &'k [(String, Attribute)],
    /// The values of the policy line, by column.
    pub(super) line: BTreeMap<&'k str, &'k str>,
    pub(super) definitions: &'k BTreeMap<String, RoleScope>,
    pub(super) roles: &'k Roles,
}

/// A value after the known parts are filled in.
enum Operandum {
    Attribute(Attribute),
    Literal(Json),
    List(Vec<Json>),
    /// `keyGet(attribute, pattern)`
    Part(Attribute, String),
}

type Expanded = Result<Condition, String>;

impl Known<'_> {
    /// Returns the condition that is left of `expression`.
    ///
    /// # Errors
    /// The part of the expression that no condition means.
    pub(super) fn expand(&self, expression: &Expression) -> Expanded {
        match expression {
            Expression::And(parts) => Ok(Condition::all(self.each(parts)?)),
            Expression::Or(parts) => Ok(Condition::any(self.each(parts)?)),
            Expression::Not(part) => self.expand(part).map(Condition::not),
            Expression::Bare(value) => self.bare(value),
            Expression::Compare(left, comparator, right) => self.compare(left, *comparator, right),
            Expression::In(item, list) => self.membership(item, list),
        }
    }

    fn each(&self, parts: &[Expression]) -> Result<Vec<Condition>, String> {
        parts.iter().map(|part| self.expand(part)).collect()
    }

    fn bare(&self, value: &Value) -> Expanded {
        if let Value::Call { name, arguments } = value {
            return self.call(name, arguments);
        }
        match self.value(value)? {
            Operandum::Literal(Json::Bool(value)) => Ok(Condition::Constant(value)),
            Operandum::Attribute(path @ Attribute::Path(_)) => {
                Ok(Condition::test(path, "eq", true))
            }
            _ => Err("a value without a comparison is no condition".to_owned()),
        }
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Expanded {
        if name == "eval" {
            return self.eval(arguments);
        }
        if let Some(scope) = self.definitions.get(name) {
            return self.role(name, *scope, arguments);
        }
        let [attribute, pattern] = arguments else {
            return Err(format!("`{name}` needs an attribute and a pattern"));
        };
        match (self.value(attribute)?, self.value(pattern)?) {
            (Operandum::Attribute(attribute), Operandum::Literal(Json::String(pattern))) => {
                functions::call(name, attribute, &pattern)
            }
            _ => Err(format!("`{name}` needs an attribute of the request, then a known pattern")),
        }
    }

    /// Reads the rule that a column of the line holds.
    fn eval(&self, arguments: &[Value]) -> Expanded {
        let [Value::Policy(column)] = arguments else {
            return Err("`eval` reads a column of the policy, such as `eval(p.rule)`".to_owned());
        };
        let rule = self.column(column)?;
        // Casbin evaluates no rule for a model without lines.
        if rule.is_empty() {
            return Ok(Condition::Constant(false));
        }
        let expression = expression::parse(rule).map_err(|fault| format!("`{rule}`: {fault}"))?;
        if has_eval(&expression) {
            return Err(format!("`{rule}`: a rule cannot evaluate another rule"));
        }
        self.expand(&expression)
    }

    fn role(&self, name: &str, scope: RoleScope, arguments: &[Value]) -> Expanded {
        let (member, role, domain) = match (scope, arguments) {
            (RoleScope::Everywhere, [member, role]) => (member, role, None),
            (RoleScope::ByDomain, [member, role, domain]) => (member, role, Some(domain)),
            _ => return Err(format!("`{name}(…)` does not fit `[role_definition]`")),
        };
        let Operandum::Literal(Json::String(role)) = self.value(role)? else {
            return Err(format!("the second argument of `{name}` must be a known role"));
        };
        let domain = domain.map(|domain| self.value(domain)).transpose()?;
        let domain = match &domain {
            None => Domain::None,
            Some(Operandum::Literal(Json::String(text))) => Domain::Text(text),
            Some(Operandum::Attribute(Attribute::Field(field))) => Domain::Field(*field),
            Some(_) => return Err(format!("the domain of `{name}` must be a text or a field")),
        };
        match self.value(member)? {
            Operandum::Attribute(Attribute::Field(field)) => {
                self.roles.condition(name, field, &role, domain)
            }
            _ => Err(format!("the first argument of `{name}` must be a field of the request")),
        }
    }

    fn compare(&self, left: &Value, comparator: Comparator, right: &Value) -> Expanded {
        match (self.value(left)?, self.value(right)?) {
            (Operandum::Literal(left), Operandum::Literal(right)) => {
                constants(&left, comparator, &right)
            }
            (Operandum::Attribute(attribute), Operandum::Literal(literal)) => {
                Ok(literal_test(attribute, comparator, literal))
            }
            (Operandum::Literal(literal), Operandum::Attribute(attribute)) => {
                Ok(literal_test(attribute, comparator.flipped(), literal))
            }
            (Operandum::Attribute(attribute), Operandum::Attribute(other)) => {
                let (operator, operand) = (comparator.operator(), Operand::Attribute(other));
                Ok(Condition::Test(Test { attribute, operator, operand }))
            }
            (Operandum::Part(attribute, pattern), Operandum::Literal(Json::String(text)))
            | (Operandum::Literal(Json::String(text)), Operandum::Part(attribute, pattern)) => {
                let equal = functions::key_get(attribute, &pattern, &text)?;
                match comparator {
                    Comparator::Equal => Ok(equal),
                    Comparator::Unequal => Ok(Condition::not(equal)),
                    _ => Err("`keyGet` has no order".to_owned()),
                }
            }
            _ => Err("these values cannot be compared".to_owned()),
        }
    }

    fn membership(&self, item: &Value, list: &Value) -> Expanded {
        match (self.value(item)?, self.value(list)?) {
            (Operandum::Literal(item), Operandum::List(list)) => {
                Ok(Condition::Constant(list.contains(&item)))
            }
            (Operandum::Attribute(Attribute::Field(field)), Operandum::List(list)) => {
                let texts: Option<Vec<_>> =
                    list.iter().map(|item| item.as_str().map(str::to_owned)).collect();
                let texts = texts.ok_or("a field of the request is compared with texts only")?;
                Ok(Condition::one_of(field, texts))
            }
            (Operandum::Attribute(attribute), Operandum::List(list)) => {
                Ok(Condition::test(attribute, "in", list))
            }
            (Operandum::Literal(item), Operandum::Attribute(list)) => {
                Ok(Condition::test(list, "contains", item))
            }
            (Operandum::Attribute(attribute), Operandum::Attribute(list)) => {
                let operand = Operand::Attribute(list);
                Ok(Condition::Test(Test { attribute, operator: "in", operand }))
            }
            (Operandum::Part(attribute, pattern), Operandum::List(list)) => {
                let each = list.iter().map(|item| {
                    let text = item.as_str().ok_or("`keyGet` is compared with texts only")?;
                    functions::key_get(attribute.clone(), &pattern, text)
                });
                Ok(Condition::any(each.collect::<Result<Vec<_>, String>>()?))
            }
            _ => Err("the right side of `in` must be a list".to_owned()),
        }
    }

    /// Fills in the known parts of a value.
    fn value(&self, value: &Value) -> Result<Operandum, String> {
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
            Value::Call { name, arguments } if name == "keyGet" => match &**arguments {
                [attribute, pattern] => match (self.value(attribute)?, self.value(pattern)?) {
                    (
                        Operandum::Attribute(attribute),
                        Operandum::Literal(Json::String(pattern)),
                    ) => Ok(Operandum::Part(attribute, pattern)),
                    _ => Err("`keyGet` needs an attribute, then a known pattern".to_owned()),
                },
                _ => Err("`keyGet` has two arguments".to_owned()),
            },
            Value::Call { name, .. } => {
                Err(format!("the function `{name}` is not known inside of a comparison"))
            }
        }
    }

    fn column(&self, column: &str) -> Result<&str, String> {
        let value = self.line.get(column).copied();
        value.ok_or_else(|| format!("`[policy_definition]` has no column `{column}`"))
    }

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

impl Comparator {
    /// Returns the operator of condition trees.
    fn operator(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::Unequal => "ne",
            Self::Less => "lt",
            Self::AtMost => "lte",
            Self::Greater => "gt",
            Self::AtLeast => "gte",
        }
    }

    /// Returns the comparison with its sides swapped.
    fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
            same => same,
        }
    }
}

/// Compares an attribute with a literal.
fn literal_test(attribute: Attribute, comparator: Comparator, literal: Json) -> Condition {
    match (attribute, comparator, &literal) {
        (Attribute::Field(field), Comparator::Equal, Json::String(text)) => {
            Condition::is(field, text)
        }
        (Attribute::Field(field), Comparator::Unequal, Json::String(text)) => {
            Condition::not(Condition::is(field, text))
        }
        (attribute, comparator, _) => Condition::test(attribute, comparator.operator(), literal),
    }
}

/// Compares two known values.
fn constants(left: &Json, comparator: Comparator, right: &Json) -> Expanded {
    match comparator {
        Comparator::Equal => Ok(Condition::Constant(left == right)),
        Comparator::Unequal => Ok(Condition::Constant(left != right)),
        _ => Err("an order of two known values is not translated".to_owned()),
    }
}

fn has_eval(expression: &Expression) -> bool {
    match expression {
        Expression::And(parts) | Expression::Or(parts) => parts.iter().any(has_eval),
        Expression::Not(part) => has_eval(part),
        Expression::Bare(Value::Call { name, .. }) => name == "eval",
        _ => false,
    }
}
