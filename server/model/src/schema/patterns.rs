//! The patterns of schemas, in the syntax of ECMA-262.

/// Any text: U+0000 is refused everywhere.
pub(super) const NO_NUL: &str = r"^[^\x00]*$";
/// `<name>:<verb>`
pub(super) const RESOURCE: &str = r"^[^\s\x00-\x1f\x7f-\x9f]+:[^\s\x00-\x1f\x7f-\x9f:]+$";
/// `<name>:<verb>` without `*`.
pub(super) const REGISTERED_RESOURCE: &str =
    r"^[^*\s\x00-\x1f\x7f-\x9f]+:[^*\s\x00-\x1f\x7f-\x9f:]+$";
/// `*`, `<name>:*` or `<name>:<verb>`.
pub(super) const RESOURCE_PATTERN: &str =
    r"^(\*|[^*\s\x00-\x1f\x7f-\x9f]+:(\*|[^*\s\x00-\x1f\x7f-\x9f:]+))$";
/// `*`, or a text without any `*`.
pub(super) const RULE_FIELD: &str = r"^(\*|[^*\x00]+)$";
/// An `https` URL whose host is a name. Which literal addresses are allowed depends on the settings.
pub(super) const URL: &str = concat!(
    r"^https://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?",
    r"(:[0-9]{1,4})?(/[!-~]*)?$"
);
/// A URL with `http` or `https`, with any host: browsers read the scheme in any case, and skip spaces around a URL.
pub(super) const ANY_URL: &str = r"^[\x01-\x20]*[Hh][Tt][Tt][Pp][Ss]?:[^\x00]+$";
