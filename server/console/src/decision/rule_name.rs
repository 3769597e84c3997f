//! The name of the rule or policy that decided.

/// Returns the name of the rule with this id: the one that the reason of its decision has. Only `default-deny` is a name
/// itself.
pub(crate) fn rule_name<'r>(id: &'r str, reason: &'r str) -> &'r str {
    if id == "default-deny" {
        return "default deny";
    }
    // A reason begins with the kind and the name, such as "ABAC policy `own ward` denies".
    let quoted = reason.split_once('`').map(|(_, rest)| rest);
    let ends = ["` allows", "` denies"];
    let name = quoted.and_then(|rest| {
        let end = ends.iter().filter_map(|end| rest.find(end)).min()?;
        rest.get(..end)
    });
    name.unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_the_name_of_its_rule() {
        for (reason, expected) in [
            ("ABAC policy `own ward` denies: its condition is true", "own ward"),
            ("ABAC policy `a ` b` allows", "a ` b"),
            (
                "RBAC rule `nurse, er, chart:read, read, allow` allows",
                "nurse, er, chart:read, read, allow",
            ),
            ("something else", "id"),
        ] {
            assert_eq!(rule_name("id", reason), expected);
        }
        assert_eq!(rule_name("default-deny", "no RBAC rule `x` allows"), "default deny");
    }
}
