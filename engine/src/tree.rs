//! Condition trees as JSON (`docs/semantics.md`, section 4.2).

use std::borrow::Cow;

use crate::condition::{AttributePath, Condition, Operand, Predicate, Test};
use crate::json::{Json, Member};
use crate::value::date_time;

impl Condition {
    /// Returns the condition tree as JSON. [`Condition::parse`] reads it into the same condition. `None` if the condition
    /// has a search, for which a tree has no operator.
    pub fn to_json(&self) -> Option<Json<'_>> {
        Some(Json::Object(match self {
            Self::And(children) => joined("AND", children)?,
            Self::Or(children) => joined("OR", children)?,
            Self::Not(child) => {
                vec![member("type", text("NOT")), member("child", child.to_json()?)]
            }
            Self::Test(test) => test_members(test)?,
            Self::Named(named) => {
                vec![member("type", text("NAMED")), member("name", text(named.name()))]
            }
        }))
    }

    /// Replaces each search by a pattern of the whole text that matches the same texts.
    #[must_use]
    pub fn without_searches(self) -> Self {
        self.map_predicates(&|test| match &test.predicate {
            Predicate::Matches(pattern) => Some(Predicate::Matches(pattern.whole())),
            _ => None,
        })
    }

    /// Replaces the predicate of each test for which `replace` returns another one, of the tests of items, too.
    #[must_use]
    pub(crate) fn map_predicates(self, replace: &impl Fn(&Test) -> Option<Predicate>) -> Self {
        match self {
            Self::And(children) => {
                Self::And(children.into_iter().map(|child| child.map_predicates(replace)).collect())
            }
            Self::Or(children) => {
                Self::Or(children.into_iter().map(|child| child.map_predicates(replace)).collect())
            }
            Self::Not(child) => Self::Not(Box::new(child.map_predicates(replace))),
            Self::Test(test) => {
                let predicate = match &test.predicate {
                    Predicate::Items(items) => {
                        let child = items.child().clone().map_predicates(replace);
                        Some(Predicate::Items(Box::new(items.with_child(child))))
                    }
                    _ => replace(&test),
                };
                Self::Test(match predicate {
                    Some(predicate) => Test { predicate, ..test },
                    None => test,
                })
            }
            named @ Self::Named(_) => named,
        }
    }

    /// Returns whether the condition has a search, which only Casbin's functions make.
    pub fn has_search(&self) -> bool {
        let mut tests = self.tests().into_iter();
        tests.any(|test| matches!(&test.predicate, Predicate::Matches(own) if own.is_search()))
    }
}

impl<A> Predicate<A> {
    /// Returns the right side of the operator as a tree has it; `None` for `exists`. `name` names an attribute.
    pub(crate) fn right_side<'c>(&'c self, name: impl Fn(&A) -> String) -> Option<Json<'c>> {
        Some(match self {
            Self::Exists | Self::Items(_) => return None,
            Self::Matches(pattern) => text(pattern.source()),
            Self::During(window) => window.to_json(),
            Self::IpIn(networks) => {
                Json::Array(networks.iter().map(|network| text(network.to_string())).collect())
            }
            Self::Compare(_, operand) | Self::Length(_, operand) | Self::Unordered(_, operand) => {
                match operand {
                    Operand::Attribute(attribute) => {
                        Json::Object(vec![member("attribute", text(name(attribute)))])
                    }
                    Operand::Text(literal) => text(&**literal),
                    Operand::Number(number) => Json::Number(*number),
                    Operand::Bool(value) => Json::Bool(*value),
                    Operand::List(list) => Json::Array(
                        list.texts().map(text).chain(list.numbers().map(Json::Number)).collect(),
                    ),
                    Operand::Instant(instant) => text(date_time(*instant)),
                    Operand::Duration { length, .. } => text(length.to_string()),
                }
            }
        })
    }
}

fn test_members(test: &Test) -> Option<Vec<Member<'_>>> {
    if matches!(&test.predicate, Predicate::Matches(pattern) if pattern.is_search()) {
        return None;
    }
    let attribute = member("attribute", text(test.attribute.to_string()));
    let mut members = match &test.predicate {
        Predicate::Items(items) => {
            let child = member("child", items.child().to_json()?);
            vec![member("type", text(items.quantifier().node())), attribute, child]
        }
        Predicate::Length(operator, _) => {
            let operator = member("operator", text(operator.into_str()));
            vec![member("type", text("LENGTH")), attribute, operator]
        }
        other => {
            let operator = member("operator", text(other.operator_name()));
            vec![member("type", text("CONDITION")), attribute, operator]
        }
    };
    members
        .extend(test.predicate.right_side(AttributePath::to_string).map(|it| member("value", it)));
    members.extend(test.if_missing.map(|truth| member("if_missing", Json::Bool(truth))));
    Some(members)
}

fn joined<'c>(kind: &'static str, children: &'c [Condition]) -> Option<Vec<Member<'c>>> {
    let children = children.iter().map(Condition::to_json).collect::<Option<Vec<_>>>()?;
    Some(vec![member("type", text(kind)), member("children", Json::Array(children))])
}

fn member<'c>(name: &'static str, value: Json<'c>) -> Member<'c> {
    (name.into(), value)
}

fn text<'c>(text: impl Into<Cow<'c, str>>) -> Json<'c> {
    Json::String(text.into())
}
