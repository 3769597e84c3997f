//! Tests of `request.roles`, which is a list (`docs/semantics.md`, section 4.6).

use strum::VariantArray;

use crate::condition::{AttributePath, Condition, Operand, Predicate, RequestField, Test};
use crate::invalid::{Invalid, Place, Problems};
use crate::nearest::any_of;
use crate::operator::Operator;
use crate::policy::Format;

const ROLES: AttributePath = AttributePath::Request(RequestField::Roles);

impl Condition {
    /// Notes each test that compares `request.roles` as if it were not a list, in the condition of a `rule_data` of this
    /// format at `at`. Such a test is undetermined in every check.
    pub fn check_roles(&self, format: Format, at: &Place<'_>, problems: &mut Problems) {
        match format {
            Format::Json => self.check_roles_of_tree(at, problems),
            Format::Casbin => self.check_roles_of_text(&at.key("matcher"), problems),
            Format::Expression => self.check_roles_of_text(&at.key("expression"), problems),
        }
    }

    /// Notes the faults of a text at the text, as [`Condition::check_roles`] does.
    pub fn check_roles_of_text(&self, at: &Place<'_>, problems: &mut Problems) {
        let mut inside = Problems::default();
        self.check_roles_of_tree(&Place::root(), &mut inside);
        let faults = inside.into_result().err();
        for problem in faults.iter().flat_map(Invalid::problems) {
            // The place inside is left out: it leads into a tree that the author of the text never saw.
            problems.push(at, problem.fault.clone());
        }
    }

    fn check_roles_of_tree(&self, at: &Place<'_>, problems: &mut Problems) {
        self.visit_tests(at, &mut |test, at| check_test(test, at, problems));
    }
}

fn check_test(test: &Test, at: &Place<'_>, problems: &mut Problems) {
    let name = test.predicate.operator_name();
    let (on_left, on_right) = match &test.predicate {
        Predicate::Exists | Predicate::Items(_) => return,
        // A list has a length, but `request.roles` on the right is not a number.
        Predicate::Length(_, operand) => (true, *operand != Operand::Attribute(ROLES)),
        Predicate::Matches(_) | Predicate::IpIn(_) | Predicate::During(_) => (false, true),
        Predicate::Compare(operator, operand) | Predicate::Unordered(operator, operand) => {
            let is_other = *operand != Operand::Attribute(ROLES);
            (operator.compares_list_on_left(), is_other || operator.compares_list_on_right())
        }
    };
    if test.attribute == ROLES && !on_left {
        let expected = format!(
            "{}: `request.roles` is a list, which `{name}` never compares",
            operators(Operator::compares_list_on_left)
        );
        problems.expected(&at.key("operator"), expected);
    } else if !on_right {
        let expected = format!(
            "{}: `request.roles` is a list, which `{name}` never has on the right side; or write \
             `request.roles` on the left, with {}",
            operators(Operator::compares_list_on_right),
            operators(Operator::compares_list_on_left)
        );
        problems.expected(&at.key("operator"), expected);
    }
}

/// Returns the names of the operators for which `compares` holds.
fn operators(compares: fn(&Operator) -> bool) -> String {
    any_of(Operator::VARIANTS.iter().filter(|operator| compares(operator)).map(|it| it.into_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression;
    use crate::policy::Policy;

    fn fault(text: &str) -> String {
        let condition = expression::parse(text).expect(text);
        let mut problems = Problems::default();
        condition.check_roles(Format::Json, &Place::root(), &mut problems);
        problems.into_result().err().map(|invalid| invalid.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_test_of_roles_is_one_of_a_list() {
        for text in [
            "request.roles contains \"a\"",
            "request.roles contains user.role",
            "exists(request.roles)",
            "user.role in request.roles",
            "user.role not_in request.roles",
            "request.roles contains_any [\"a\"]",
            "request.roles contains_all user.roles",
            "user.roles contains_any request.roles",
            "user.roles == \"a\"",
            "request.subject == user.roles",
        ] {
            assert_eq!(fault(text), "");
        }
        for operator in ["==", "!=", "<", ">=", "starts_with", "matches", "ends_with"] {
            let text = format!("exists(user.a) && !(request.roles {operator} \"a\")");
            assert!(
                fault(&text).starts_with("at `/children/1/child/operator`: expected `contains`")
            );
        }
        for text in [
            "request.roles in [\"a\"]",
            "request.roles not_in user.roles",
            "request.roles before \"2026-01-01T00:00:00Z\"",
            "ip_in(request.roles, \"::1\")",
            "during(request.roles, \"UTC\")",
            "request.roles within \"P1D\"",
            "(request.roles == \"a\") ?? true",
        ] {
            assert!(fault(text).starts_with("at `/operator`: expected `contains`"), "{text}");
        }
        for text in ["user.role == request.roles", "user.roles contains request.roles"] {
            assert!(fault(text).starts_with("at `/operator`: expected `in`"), "{text}");
        }
    }

    #[test]
    fn a_stored_condition_keeps_loading() {
        for (format, stored) in [
            (Format::Expression, r#"{"expression": "request.roles == 'a'"}"#),
            (
                Format::Json,
                r#"{"type": "CONDITION", "attribute": "request.roles", "operator": "eq", "value": "a"}"#,
            ),
        ] {
            assert!(Policy::stored_condition(format, stored).is_ok(), "{stored}");
        }
    }

    #[test]
    fn a_fault_of_a_text_is_noted_at_the_text() {
        let condition = expression::parse("request.roles in [\"a\"]").expect("an expression");
        let mut problems = Problems::default();
        condition.check_roles(Format::Expression, &Place::root().key("rule_data"), &mut problems);
        let invalid = problems.into_result().expect_err("refused");
        assert_eq!(
            invalid.to_string(),
            "at `/rule_data/expression`: expected `contains`, `contains_any` or `contains_all`: `request.roles` is a list, which \
             `in` never compares"
        );
    }
}
