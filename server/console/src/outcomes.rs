//! The words of decisions.

/// Returns the word of a decision or an effect. One that attributes decide is an `If`.
pub(crate) fn word(decision: &str) -> &'static str {
    match decision {
        "allow" => "Allow",
        "deny" => "Deny",
        _ => "If",
    }
}
