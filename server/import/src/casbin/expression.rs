//! Casbin expressions: matchers, and the rules that `eval` reads.

/// A condition of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    And(Vec<Expression>),
    Or(Vec<Expression>),
    Not(Box<Expression>),
    Compare(Value, Comparator, Value),
    In(Value, Value),
    /// A value that is a condition by itself, such as a call.
    Bare(Value),
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// `r.<column>` or `r.<column>.<path>`.
    Request {
        column: String,
        path: Option<String>,
    },
    /// `p.<column>`
    Policy(String),
    Text(String),
    Number(serde_json::Number),
    Bool(bool),
    List(Vec<Value>),
    Call {
        name: String,
        arguments: Vec<Value>,
    },
}

impl Comparator {
    /// Returns whether it compares by order.
    pub(super) fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::Unequal)
    }
}

impl Expression {
    /// Returns whether the expression mentions the policy line.
    pub(super) fn reads_policy(&self) -> bool {
        self.any_value(&mut |value| matches!(value, Value::Policy(_)))
    }

    /// Returns whether the expression compares a value by order for which `is_meant` is true.
    pub(super) fn orders(&self, is_meant: &dyn Fn(&Value) -> bool) -> bool {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().any(|part| part.orders(is_meant)),
            Self::Not(part) => part.orders(is_meant),
            Self::Compare(left, comparator, right) => {
                comparator.is_order() && [left, right].into_iter().any(is_meant)
            }
            Self::In(..) | Self::Bare(_) => false,
        }
    }

    /// Returns the tests of the column `request` of requests: the called function, if any, and all values.
    pub(super) fn tests_of(&self, request: &str) -> Vec<(Option<&str>, Vec<&Value>)> {
        let mut found = Vec::new();
        self.tests(&mut |function, values| {
            if values.iter().any(|value| value.is_request_column(request)) {
                found.push((function, values));
            }
        });
        found
    }

    /// Calls `visit` with each test: the called function, if any, and the values.
    fn tests<'e>(&'e self, visit: &mut dyn FnMut(Option<&'e str>, Vec<&'e Value>)) {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.tests(visit)),
            Self::Not(part) => part.tests(visit),
            Self::Compare(left, _, right) | Self::In(left, right) => {
                visit(None, vec![left, right]);
                // The arguments of a call such as `keyGet` are a test of their own.
                for side in [left, right] {
                    if let Value::Call { name, arguments } = side {
                        visit(Some(name), arguments.iter().collect());
                    }
                }
            }
            Self::Bare(Value::Call { name, arguments }) => {
                visit(Some(name), arguments.iter().collect());
            }
            Self::Bare(value) => visit(None, vec![value]),
        }
    }

    /// Returns whether `found` is true for any value.
    fn any_value(&self, found: &mut dyn FnMut(&Value) -> bool) -> bool {
        let mut any = false;
        self.tests(&mut |_, values| any |= values.iter().any(|value| value.any(found)));
        any
    }
}

impl Value {
    /// Returns whether it is the column `name` of requests itself, and not an attribute of it.
    pub(super) fn is_request_column(&self, name: &str) -> bool {
        matches!(self, Self::Request { column, path: None } if column == name)
    }

    fn any(&self, found: &mut dyn FnMut(&Self) -> bool) -> bool {
        let inner = match self {
            Self::List(values) | Self::Call { arguments: values, .. } => values.as_slice(),
            _ => &[],
        };
        // Lists and calls may contain others.
        found(self) || inner.iter().any(|value| value.any(found))
    }
}
