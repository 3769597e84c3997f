//! Partial evaluation of a matcher for one policy line: what `p.…`, `g(…)` and `eval(…)` stand for is known, and a
//! condition over the request is left.

use serde_json::Value as Json;

use super::condition::{Attribute, Condition, Operand, Test, number};
use super::expression::{Comparator, Expression, Value};
use super::known::{Known, Operandum};
use super::membership::{Domain, RoleScope};
use super::{functions, parser};

type Expanded = Result<Condition, String>;

impl Known<'_> {
    /// Returns the condition that is left of `expression`.
    ///
    /// # Errors
    /// The part of the expression that no condition means.
    pub(super) fn expand(&self, expression: &Expression) -> Expanded {
        match expression {
            Expression::And(parts) => {
                let inner = self.within(parts);
                Ok(Condition::all(inner.as_ref().unwrap_or(self).until(parts, false)?))
            }
            Expression::Or(parts) => Ok(Condition::any(self.until(parts, true)?)),
            Expression::Not(part) => self.expand(part).map(Condition::not),
            Expression::Bare(value) => self.bare(value),
            Expression::Compare(left, comparator, right) => self.compare(left, *comparator, right),
            Expression::In(item, list) => self.membership(item, list),
        }
    }

    /// Returns what is known beside `parts`, which hold together: a field that one of them compares with a text has no other
    /// value there, so that a role in a domain needs the members in that domain alone. `None` if that is nothing new.
    fn within(&self, parts: &[Expression]) -> Option<Self> {
        if !self.definitions.values().any(|scope| *scope == RoleScope::ByDomain) {
            return None;
        }
        let flat = parts.iter().filter(|part| self.is_flat(part));
        let fixed = flat.filter_map(|part| match self.expand(part) {
            Ok(Condition::OneOf(own)) if own.values.len() == 1 && own.roles.is_empty() => {
                Some((own.field, own.values.into_iter().next()?))
            }
            // A fault is reported where the part itself is expanded.
            _ => None,
        });
        // If the text here is not the one that an outer part wants, the whole is never true.
        let fixed: Vec<_> = fixed.filter(|(field, _)| !self.fixed.contains_key(field)).collect();
        let fixed = (!fixed.is_empty()).then(|| self.fixed.clone().into_iter().chain(fixed))?;
        Some(Self { fixed: fixed.collect(), line: self.line.clone(), ..*self })
    }

    /// Returns whether the expression is a comparison, or an `||` of comparisons, without a role.
    fn is_flat(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Or(parts) => parts.iter().all(|part| self.is_flat(part)),
            Expression::Bare(Value::Call { name, .. }) => {
                name != "eval" && !self.definitions.contains_key(name)
            }
            Expression::Compare(..) => true,
            _ => false,
        }
    }

    /// Returns the conditions of `parts` up to the first that is always `decisive`: Casbin does not evaluate the rest.
    fn until(&self, parts: &[Expression], decisive: bool) -> Result<Vec<Condition>, String> {
        let mut conditions = Vec::new();
        for part in parts {
            conditions.push(self.expand(part)?);
            if conditions.last() == Some(&Condition::Constant(decisive)) {
                break;
            }
        }
        Ok(conditions)
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
            _ => Err(
                "a value without a comparison is not a condition; compare it with a text or a number"
                    .to_owned(),
            ),
        }
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Expanded {
        if name == "eval" {
            return self.eval(arguments);
        }
        if let Some(scope) = self.definitions.get(name) {
            return self.role(name, *scope, arguments);
        }
        functions::known(name)?;
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
        let expression = parser::parse(rule).map_err(|fault| format!("`{rule}`: {fault}"))?;
        // A rule that evaluates itself would have no end.
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
        let role = self.value(role)?;
        let domain = domain.map(|domain| self.value(domain)).transpose()?;
        let domain = match &domain {
            None => Domain::None,
            Some(Operandum::Literal(Json::String(text))) => Domain::Text(text),
            Some(Operandum::Attribute(Attribute::Field(field))) => match self.fixed.get(field) {
                Some(text) => Domain::Text(text),
                None => Domain::Field(*field),
            },
            Some(_) => return Err(domain_fault(name, arguments)),
        };
        match (self.value(member)?, role) {
            (
                Operandum::Attribute(Attribute::Field(field)),
                Operandum::Literal(Json::String(role)),
            ) => self.roles.condition(name, field, &role, domain),
            (
                Operandum::Literal(Json::String(member)),
                Operandum::Attribute(Attribute::Field(field)),
            ) => self.roles.reached(name, &member, field, domain),
            (Operandum::Literal(Json::String(member)), Operandum::Literal(Json::String(role))) => {
                let domain = match domain {
                    Domain::None => None,
                    Domain::Text(text) => Some(text),
                    Domain::Field(_) => {
                        return Err(format!(
                            "`{name}` asks about two known texts in the domain of the request; name the domain"
                        ));
                    }
                };
                self.roles.has(name, &member, &role, domain).map(Condition::Constant)
            }
            (Operandum::Attribute(_), Operandum::Attribute(_)) => Err(format!(
                "`{name}` asks about two values of the request, and no list of pairs is known; compare one of them with a column \
                 of the line, or write a policy"
            )),
            _ => Err(format!(
                "`{name}` needs a field of the request and a known text, such as `{name}(r.sub, p.sub)`"
            )),
        }
    }

    fn compare(&self, left: &Value, comparator: Comparator, right: &Value) -> Expanded {
        match (self.value(left)?, self.value(right)?) {
            (Operandum::Literal(left), Operandum::Literal(right)) => {
                constants(&left, comparator, &right)
            }
            (Operandum::Attribute(attribute), Operandum::Literal(literal)) => {
                literal_test(attribute, comparator, of_column(right, comparator, literal))
            }
            (Operandum::Literal(literal), Operandum::Attribute(attribute)) => {
                // A test has its attribute on the left side.
                literal_test(attribute, comparator.flipped(), of_column(left, comparator, literal))
            }
            (Operandum::Attribute(attribute), Operandum::Attribute(other)) => {
                let (operator, operand) = (comparator.operator(), Operand::Attribute(other));
                Ok(Condition::Test(Test { attribute, operator, operand }))
            }
            (Operandum::Part(part), Operandum::Literal(Json::String(text)))
            | (Operandum::Literal(Json::String(text)), Operandum::Part(part)) => match comparator {
                Comparator::Equal => part.is(&text),
                Comparator::Unequal => part.is(&text).map(Condition::not),
                _ => Err("`keyGet` has no order; compare it with `==`".to_owned()),
            },
            (Operandum::Part(part), _) | (_, Operandum::Part(part)) => Err(part.fault()),
            _ => Err("these values cannot be compared; compare an attribute of the request with a text or a number".to_owned()),
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
            (Operandum::Part(part), Operandum::List(list)) => {
                let each = list.iter().map(|item| {
                    part.is(item.as_str().ok_or("`keyGet` is compared with texts only")?)
                });
                Ok(Condition::any(each.collect::<Result<Vec<_>, String>>()?))
            }
            (Operandum::Part(part), _) | (_, Operandum::Part(part)) => Err(part.fault()),
            _ => Err("the right side of `in` must be a list, such as `(\"a\", \"b\")`".to_owned()),
        }
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

/// Returns the literal of a comparison by order. Columns hold texts, and a number in one compares as a number.
fn of_column(value: &Value, comparator: Comparator, literal: Json) -> Json {
    match (value, &literal) {
        (Value::Policy(_), Json::String(text)) if comparator.is_order() => {
            number(text).map_or(literal, Json::Number)
        }
        _ => literal,
    }
}

/// Compares an attribute with a literal.
fn literal_test(attribute: Attribute, comparator: Comparator, literal: Json) -> Expanded {
    match (attribute, comparator, &literal) {
        (Attribute::Field(field), Comparator::Equal, Json::String(text)) => {
            Ok(Condition::is(field, text))
        }
        (Attribute::Field(field), Comparator::Unequal, Json::String(text)) => {
            Ok(Condition::not(Condition::is(field, text)))
        }
        (Attribute::Field(_), _, Json::Number(_) | Json::Bool(_)) => {
            Err("subjects, domains, objects and actions are texts; compare an attribute instead"
                .to_owned())
        }
        (attribute, comparator, _) => {
            Ok(Condition::test(attribute, comparator.operator(), literal))
        }
    }
}

/// Compares two known values.
fn constants(left: &Json, comparator: Comparator, right: &Json) -> Expanded {
    match comparator {
        Comparator::Equal => Ok(Condition::Constant(left == right)),
        Comparator::Unequal => Ok(Condition::Constant(left != right)),
        _ => Err("an order of two known values is not translated; compare with an attribute of the request".to_owned()),
    }
}

/// Returns the fault of a domain of `name` that is not one.
fn domain_fault(name: &str, arguments: &[Value]) -> String {
    match arguments.last() {
        Some(Value::Request { column, path: None }) => format!(
            "`{name}` asks for the domain `r.{column}`, and `{column}` is not the name of a domain column; rename the column of \
             requests to `dom`, `domain`, `tenant` or `org`"
        ),
        _ => format!("the domain of `{name}` must be a text or a field"),
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
