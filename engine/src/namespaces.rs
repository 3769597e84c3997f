//! The namespaces of resolvers, against which policies are checked when they are saved.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::condition::{
    AttributePath, Condition, Operand, Predicate, RequestField, ResolverAttribute, Test,
};
use crate::excerpt::quoted;
use crate::invalid::{Invalid, Place, Problems};
use crate::operator::ComparedKind;
use crate::policy::Format;

/// The type of a resolver's attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AttributeKind {
    Text,
    Number,
    Boolean,
    Texts,
    Numbers,
}

impl fmt::Display for AttributeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Texts => "a list of strings",
            Self::Numbers => "a list of numbers",
        })
    }
}

/// The namespaces that the policies of a tenant may read, and the attributes of each.
#[derive(Clone, Debug, Default)]
pub struct Namespaces(HashMap<String, BTreeMap<String, AttributeKind>>);

impl Namespaces {
    /// Adds a namespace. An existing namespace of that name stays unchanged.
    pub fn insert(
        &mut self,
        name: &str,
        attributes: impl IntoIterator<Item = (String, AttributeKind)>,
    ) {
        self.0.entry(name.to_owned()).or_insert_with(|| attributes.into_iter().collect());
    }

    /// Returns the kind of an attribute, or the words that complete "expected …" if it does not exist.
    fn kind(&self, attribute: &ResolverAttribute) -> Result<AttributeKind, String> {
        let ResolverAttribute { namespace, name } = attribute;
        let Some(attributes) = self.0.get(&**namespace) else {
            return Err(format!(
                "an attribute of `user`, `resource`, `action`, `context`, `request` or `token`; there is no \
                 resolver {}",
                quoted(namespace)
            ));
        };
        attributes.get(&**name).copied().ok_or_else(|| {
            let known: Vec<_> =
                attributes.keys().map(|known| format!("`{namespace}.{known}`")).collect();
            format!("{}; resolver `{namespace}` has no {}", known.join(", "), quoted(name))
        })
    }
}

impl Condition {
    /// Checks every resolver attribute in the tree: its namespace and name exist, and the operator compares its kind
    /// with the other side. `at` is the place of the tree.
    pub fn check(&self, namespaces: &Namespaces, at: &Place<'_>, problems: &mut Problems) {
        match self {
            Self::And(children) | Self::Or(children) => {
                let list = at.key("children");
                for (index, child) in children.iter().enumerate() {
                    child.check(namespaces, &list.index(index), problems);
                }
            }
            Self::Not(child) => child.check(namespaces, &at.key("child"), problems),
            Self::Test(test) => check_test(test, namespaces, at, problems),
        }
    }

    /// Checks the condition of a `rule_data` in this format at `at`, as [`Condition::check`] does.
    pub fn check_rule_data(
        &self,
        format: Format,
        namespaces: &Namespaces,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        let member = match format {
            Format::Json => return self.check(namespaces, at, problems),
            Format::Casbin => "matcher",
            Format::Expression => "expression",
        };
        self.check_text(namespaces, &at.key(member), problems);
    }

    /// Checks the condition of a text at `at`, as [`Condition::check`] does. A text has no places inside: each fault is
    /// noted at the text, and names the attribute.
    pub fn check_text(&self, namespaces: &Namespaces, at: &Place<'_>, problems: &mut Problems) {
        let mut inside = Problems::default();
        self.check(namespaces, &Place::root(), &mut inside);
        let faults = inside.into_result().err();
        for problem in faults.iter().flat_map(Invalid::problems) {
            problems.push(at, problem.fault.clone());
        }
    }

    /// Returns every resolver attribute that the tree reads, with repetitions.
    pub fn resolved_attributes(&self) -> Vec<&ResolverAttribute> {
        let mut found = Vec::new();
        self.collect_resolved(&mut found);
        found
    }

    fn collect_resolved<'c>(&'c self, found: &mut Vec<&'c ResolverAttribute>) {
        match self {
            Self::And(children) | Self::Or(children) => {
                children.iter().for_each(|child| child.collect_resolved(found));
            }
            Self::Not(child) => child.collect_resolved(found),
            Self::Test(test) => {
                let right = match &test.predicate {
                    Predicate::Compare(_, Operand::Attribute(path)) => Some(path),
                    _ => None,
                };
                for path in [Some(&test.attribute), right].into_iter().flatten() {
                    if let AttributePath::Resolver(attribute) = path {
                        found.push(attribute);
                    }
                }
            }
        }
    }
}

/// The set of types that one side of a test may have, one bit per type.
#[derive(Clone, Copy)]
struct Types(u8);

impl Types {
    const TEXT: u8 = 1;
    const NUMBER: u8 = 2;
    const BOOLEAN: u8 = 4;
    const TEXTS: u8 = 8;
    const NUMBERS: u8 = 16;
    const ANY: Self = Self(0b1_1111);

    fn of_kind(kind: AttributeKind) -> Self {
        Self(match kind {
            AttributeKind::Text => Self::TEXT,
            AttributeKind::Number => Self::NUMBER,
            AttributeKind::Boolean => Self::BOOLEAN,
            AttributeKind::Texts => Self::TEXTS,
            AttributeKind::Numbers => Self::NUMBERS,
        })
    }

    fn of_literal(operand: &Operand) -> Self {
        Self(match operand {
            Operand::Attribute(_) => return Self::ANY,
            Operand::Text(_) | Operand::Instant(_) => Self::TEXT,
            Operand::Number(_) => Self::NUMBER,
            Operand::Bool(_) => Self::BOOLEAN,
            Operand::List(list) => {
                let (texts, numbers) = (list.texts().next(), list.numbers().next());
                match (texts.is_some(), numbers.is_some()) {
                    (true, false) => Self::TEXTS,
                    (false, true) => Self::NUMBERS,
                    _ => Self::TEXTS | Self::NUMBERS,
                }
            }
        })
    }

    /// Returns the types of a side of this kind whose value, or an item of it, may equal the other side.
    fn beside(kind: ComparedKind, other: ComparedKind) -> u8 {
        match (kind, other) {
            (ComparedKind::Text, _) => Self::TEXT,
            (ComparedKind::Number, _) => Self::NUMBER,
            (ComparedKind::Bool, _) => Self::BOOLEAN,
            (ComparedKind::List, ComparedKind::Text) => Self::TEXTS,
            (ComparedKind::List, ComparedKind::Number) => Self::NUMBERS,
            // No resolver answers a list of booleans.
            (ComparedKind::List, ComparedKind::Bool) => 0,
            (ComparedKind::List, ComparedKind::List) => Self::TEXTS | Self::NUMBERS,
        }
    }

    fn has(self, types: u8) -> bool {
        self.0 & types != 0
    }
}

impl Namespaces {
    /// Returns the types that an attribute may have. Notes a problem if a resolver attribute does not exist.
    fn types(
        &self,
        path: &AttributePath,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Types> {
        match path {
            AttributePath::Resolver(attribute) => self
                .kind(attribute)
                .map(Types::of_kind)
                .map_err(|expected| problems.expected(at, expected))
                .ok(),
            AttributePath::Request(RequestField::Roles) => Some(Types(Types::TEXTS)),
            AttributePath::Request(_) => Some(Types(Types::TEXT)),
            // The request or the token decides the type.
            AttributePath::User(_)
            | AttributePath::Resource(_)
            | AttributePath::Action(_)
            | AttributePath::Context(_)
            | AttributePath::Token(_) => Some(Types::ANY),
        }
    }

    /// Returns the kind of an existing resolver attribute; `None` for any other attribute.
    fn resolver_kind(&self, path: &AttributePath) -> Option<AttributeKind> {
        match path {
            AttributePath::Resolver(attribute) => self.kind(attribute).ok(),
            _ => None,
        }
    }
}

/// Returns whether a predicate can hold between these types.
fn fits(predicate: &Predicate, left: Types, right: Types) -> bool {
    match predicate {
        Predicate::Exists => true,
        Predicate::Matches(_) | Predicate::IpIn(_) | Predicate::During(_) => left.has(Types::TEXT),
        Predicate::Compare(operator, _) => {
            let may_hold = |(x, y): &(ComparedKind, ComparedKind)| {
                left.has(Types::beside(*x, *y)) && right.has(Types::beside(*y, *x))
            };
            operator.row().compares.iter().any(may_hold)
        }
    }
}

/// Checks one test. Notes a problem at each side that does not exist, or at the side whose kind does not fit.
fn check_test(test: &Test, namespaces: &Namespaces, at: &Place<'_>, problems: &mut Problems) {
    let value = at.key("value");
    let left = namespaces.types(&test.attribute, &at.key("attribute"), problems);
    let right = match &test.predicate {
        Predicate::Compare(_, Operand::Attribute(path)) => {
            namespaces.types(path, &value.key("attribute"), problems)
        }
        Predicate::Compare(_, literal) => Some(Types::of_literal(literal)),
        Predicate::Exists | Predicate::Matches(_) | Predicate::IpIn(_) | Predicate::During(_) => {
            Some(Types::ANY)
        }
    };
    let (Some(left), Some(right)) = (left, right) else { return };
    if fits(&test.predicate, left, right) {
        return;
    }
    let operator = test.predicate.operator_name();
    if let Some(kind) = namespaces.resolver_kind(&test.attribute) {
        let path = &test.attribute;
        let what =
            format!("an attribute that `{operator}` compares with this value; `{path}` is {kind}");
        problems.expected(&at.key("attribute"), what);
    } else if let Predicate::Compare(_, Operand::Attribute(path)) = &test.predicate
        && let Some(kind) = namespaces.resolver_kind(path)
    {
        let what = format!(
            "an attribute that `{operator}` compares {} with; `{path}` is {kind}",
            quoted(&test.attribute)
        );
        problems.expected(&value.key("attribute"), what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn faults(tree: &str) -> String {
        let mut namespaces = Namespaces::default();
        let kinds = AttributeKind::VARIANTS.iter().map(|kind| (kind.into_str().to_owned(), *kind));
        namespaces.insert("geo", kinds);
        let tree = json::parse(tree.as_bytes()).expect("JSON");
        let condition = Condition::parse(&tree).expect("a condition");
        check(&condition, Format::Json, &namespaces)
    }

    fn check(condition: &Condition, format: Format, namespaces: &Namespaces) -> String {
        let mut problems = Problems::default();
        let root = Place::root();
        condition.check_rule_data(format, namespaces, &root.key("rule_data"), &mut problems);
        problems.into_result().err().map(|invalid| invalid.to_string()).unwrap_or_default()
    }

    #[test]
    fn faults_of_a_text_are_noted_at_the_text() {
        let text = "exists(user.a) && (weather.rain == true || geo.wind > 3)";
        let condition = crate::expression::parse(text).expect("an expression");
        let mut namespaces = Namespaces::default();
        namespaces.insert("geo", [("text".to_owned(), AttributeKind::Text)]);
        assert_eq!(
            check(&condition, Format::Expression, &namespaces),
            "at `/rule_data/expression`: expected an attribute of `user`, `resource`, `action`, `context`, \
             `request` or `token`; there is no resolver `weather`; at `/rule_data/expression`: expected `geo.text`; resolver `geo` has no `wind`"
        );
    }

    fn test(attribute: &str, operator: &str, value: &str) -> String {
        format!(
            r#"{{"type": "CONDITION", "attribute": "{attribute}", "operator": "{operator}", "value": {value}}}"#
        )
    }

    #[test]
    fn knows_namespaces_and_attributes() {
        let tree = format!(
            r#"{{"type": "AND", "children": [{}, {{"type": "NOT", "child": {}}}, {}]}}"#,
            test("geo.text", "eq", r#""DE""#),
            test("weather.rain", "eq", "true"),
            test("user.country", "eq", r#"{"attribute": "geo.region"}"#),
        );
        assert_eq!(
            faults(&tree),
            "at `/rule_data/children/1/child/attribute`: expected an attribute of `user`, `resource`, `action`, \
             `context`, `request` or `token`; there is no resolver `weather`; at `/rule_data/children/2/value/attribute`: expected \
             `geo.boolean`, `geo.number`, `geo.numbers`, `geo.text`, `geo.texts`; resolver `geo` has no `region`"
        );
    }

    #[test]
    fn compares_kinds_with_literals() {
        for (attribute, operator, value, fits) in [
            ("geo.text", "eq", r#""DE""#, true),
            ("geo.text", "eq", "1", false),
            ("geo.number", "eq", "1", true),
            ("geo.number", "ne", "true", false),
            ("geo.boolean", "eq", "true", true),
            ("geo.boolean", "eq", r#""true""#, false),
            ("geo.texts", "eq", r#""DE""#, false),
            ("geo.number", "gte", "1", true),
            ("geo.number", "gte", r#""1""#, false),
            ("geo.text", "in", r#"["DE", 1]"#, true),
            ("geo.text", "in", "[]", true),
            ("geo.text", "not_in", "[1]", false),
            ("geo.boolean", "in", r#"["true"]"#, false),
            ("geo.texts", "in", r#"["DE"]"#, false),
            ("geo.texts", "contains", r#""DE""#, true),
            ("geo.texts", "contains", "1", false),
            ("geo.numbers", "contains", "1", true),
            ("geo.text", "contains", r#""D""#, true),
            ("geo.number", "starts_with", r#""D""#, false),
            ("geo.text", "matches", r#""D.""#, true),
            ("geo.texts", "matches", r#""D.""#, false),
            ("geo.text", "ip_in", r#""10.0.0.0/8""#, true),
            ("geo.number", "ip_in", r#""10.0.0.0/8""#, false),
            ("geo.text", "before", r#""2026-03-01T08:00:00Z""#, true),
            ("geo.number", "after", r#""2026-03-01T08:00:00Z""#, false),
            ("geo.text", "during", r#"{"zone": "UTC"}"#, true),
            ("geo.texts", "during", r#"{"zone": "UTC"}"#, false),
        ] {
            let tree = test(attribute, operator, value);
            assert_eq!(faults(&tree).is_empty(), fits, "{tree}: {}", faults(&tree));
        }
        assert_eq!(
            faults(&test("geo.number", "eq", r#""1""#)),
            "at `/rule_data/attribute`: expected an attribute that `eq` compares with this value; `geo.number` is a number"
        );
    }

    #[test]
    fn compares_kinds_with_attributes() {
        for (left, operator, right, fits) in [
            ("geo.text", "eq", "user.country", true),
            ("geo.text", "eq", "request.subject", true),
            ("geo.number", "eq", "request.subject", false),
            ("request.subject", "in", "geo.texts", true),
            ("request.subject", "in", "geo.numbers", false),
            ("user.country", "in", "geo.text", false),
            ("user.country", "eq", "geo.texts", false),
            ("request.roles", "contains", "geo.text", true),
            ("request.roles", "contains", "geo.number", false),
            ("geo.text", "eq", "geo.number", false),
            // Without a resolver attribute, only a check finds out.
            ("request.roles", "eq", "request.subject", true),
        ] {
            let tree = test(left, operator, &format!(r#"{{"attribute": "{right}"}}"#));
            assert_eq!(faults(&tree).is_empty(), fits, "{tree}: {}", faults(&tree));
        }
        assert_eq!(
            faults(&test("user.country", "in", r#"{"attribute": "geo.text"}"#)),
            "at `/rule_data/value/attribute`: expected an attribute that `in` compares `user.country` with; \
             `geo.text` is a string"
        );
    }

    #[test]
    fn exists_takes_every_kind() {
        for name in crate::names::names::<AttributeKind>() {
            let tree = format!(
                r#"{{"type": "CONDITION", "attribute": "geo.{name}", "operator": "exists"}}"#
            );
            assert_eq!(faults(&tree), "");
        }
    }
}
