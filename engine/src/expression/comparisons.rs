//! The comparisons of expressions.

/// The symbols and words between two sides, each with the name of its operator in a condition tree.
pub(super) const COMPARISONS: [(&str, &str); 13] = [
    ("==", "eq"),
    ("!=", "ne"),
    ("<", "lt"),
    ("<=", "lte"),
    (">", "gt"),
    (">=", "gte"),
    ("in", "in"),
    ("not_in", "not_in"),
    ("contains", "contains"),
    ("starts_with", "starts_with"),
    ("ends_with", "ends_with"),
    ("before", "before"),
    ("after", "after"),
];
