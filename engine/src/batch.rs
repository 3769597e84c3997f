//! The body of a batch: many checks with common defaults (`docs/semantics.md`, section 11.1).

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::fields::{self, Body, Fields, ReadBeside, list, text};
use crate::flat_attributes::FlatAttributes;
use crate::invalid::{Invalid, Place, Problems};
use crate::json::Json;
use crate::names::named;
use crate::plain_items::PlainItem;
pub use crate::plain_items::{MAX_ITEM_ID, MAX_ITEMS};
use crate::rbac::{Effect, MAX_ACTION, MAX_DOMAIN, MAX_SUBJECT};
use crate::request::{Attributes, CheckBody, CheckMembers, CheckText, EXPECTED, note_misplaced};

/// The item after which a batch ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum BatchSemantic {
    /// All items are decided.
    #[default]
    ExecuteAll,
    /// The first item that is denied is the last.
    DenyOnFirstDeny,
    /// The first item that is allowed is the last.
    PermitOnFirstPermit,
}

impl BatchSemantic {
    /// Returns whether the batch ends after an item with this decision.
    pub fn ends_after(self, allowed: bool) -> bool {
        match self {
            Self::ExecuteAll => false,
            Self::DenyOnFirstDeny => !allowed,
            Self::PermitOnFirstPermit => allowed,
        }
    }
}

/// The body of `POST /api/v1/checks`, valid by construction.
#[derive(Debug)]
pub struct BatchBody<'r> {
    pub semantic: BatchSemantic,
    items: Items<'r>,
}

/// A check with the id of its item.
type ListedItem<'r> = (CheckBody<'r>, Option<&'r str>);

#[derive(Debug)]
enum Items<'r> {
    Listed(Vec<ListedItem<'r>>),
    /// The attributes are in the buffer.
    Plain(Vec<PlainItem<'r>>, &'r FlatAttributes<'r>),
}

/// The members of a batch beside its checks.
#[derive(Debug)]
pub struct BatchBeside<T> {
    /// The member of the body, which the items without one of their own have.
    pub default: Option<T>,
    /// The members of the items. A batch without any may have none here.
    pub items: Vec<Option<T>>,
}

impl<T> Default for BatchBeside<T> {
    fn default() -> Self {
        Self { default: None, items: Vec::new() }
    }
}

impl<'r> Body<'r> for BatchBody<'r> {
    fn read(fields: &mut Fields<'r, '_>) -> Option<Self> {
        Some(Self::read_beside(fields, |_| None::<()>)?.0)
    }
}

impl<'r> BatchBody<'r> {
    /// Reads the body of a batch that may have more, and whose items may; `beside` reads it.
    ///
    /// # Errors
    /// Every missing, unknown or ill-typed field, by JSON pointer.
    pub(crate) fn parse_beside<T>(
        json: &'r Json<'r>,
        beside: ReadBeside<T>,
    ) -> Result<(Self, BatchBeside<T>), Invalid> {
        fields::parse(json, |fields| Self::read_beside(fields, beside))
    }

    fn read_beside<T>(
        fields: &mut Fields<'r, '_>,
        beside: ReadBeside<T>,
    ) -> Option<(Self, BatchBeside<T>)> {
        let defaults = Defaults::read(fields);
        let default = beside(fields);
        let semantic = fields.optional("semantic", named);
        let items = fields.required("checks", |json, at, problems| {
            let count = json.as_array().map_or(0, <[_]>::len);
            // A value that is not an array is a fault that `list` notes.
            if json.as_array().is_some() && !(1..=MAX_ITEMS).contains(&count) {
                problems.expected(at, format!("1 to {MAX_ITEMS} checks, not {count}"));
                return None;
            }
            list(|json, at, problems| defaults.item(json, at, problems, beside))(json, at, problems)
        });
        // Before the checks are unwrapped, so that each fault is noted.
        note_misplaced(fields);
        let (listed, items) = items?.into_iter().unzip();
        let semantic = semantic.unwrap_or_default();
        Some((Self { semantic, items: Items::Listed(listed) }, BatchBeside { default, items }))
    }

    /// Returns the batch of items that were read without a tree.
    pub(crate) fn from_plain(
        semantic: BatchSemantic,
        items: Vec<PlainItem<'r>>,
        flat: &'r FlatAttributes<'r>,
    ) -> Self {
        Self { semantic, items: Items::Plain(items, flat) }
    }

    /// Returns the number of items.
    pub fn count(&self) -> usize {
        match &self.items {
            Items::Listed(items) => items.len(),
            Items::Plain(items, _) => items.len(),
        }
    }

    /// Returns the check of an item, with the defaults of the batch.
    pub fn check(&self, index: usize) -> Option<CheckBody<'_>> {
        match &self.items {
            Items::Listed(items) => items.get(index).map(|(check, _)| *check),
            Items::Plain(items, flat) => items.get(index)?.check.body(flat),
        }
    }

    /// Returns the resource and the domain of the check of an item.
    pub fn scope(&self, index: usize) -> Option<(&str, Option<&str>)> {
        match &self.items {
            Items::Listed(items) => {
                items.get(index).map(|(check, _)| (check.resource, check.domain))
            }
            Items::Plain(items, _) => items.get(index)?.check.scope(),
        }
    }

    /// Returns the name by which the answer refers to an item.
    pub fn id(&self, index: usize) -> Option<&str> {
        match &self.items {
            Items::Listed(items) => items.get(index).and_then(|(_, id)| *id),
            Items::Plain(items, _) => items.get(index)?.id,
        }
    }
}

/// The members that an item takes whole where it lacks them.
#[derive(Clone, Copy, Debug, Default)]
struct Defaults<'r> {
    subject: Option<&'r str>,
    resource: Option<&'r str>,
    action: Option<&'r str>,
    domain: Option<&'r str>,
    attributes: Option<Attributes<'r>>,
    expected: Option<Effect>,
}

impl<'r> Defaults<'r> {
    fn read(fields: &mut Fields<'r, '_>) -> Self {
        Self {
            subject: CheckMembers::optional(fields, "subject", CheckText::UpTo(MAX_SUBJECT)),
            resource: CheckMembers::optional(fields, "resource", CheckText::Resource),
            action: CheckMembers::optional(fields, "action", CheckText::UpTo(MAX_ACTION)),
            domain: CheckMembers::optional(fields, "domain", CheckText::UpTo(MAX_DOMAIN)),
            attributes: CheckMembers::attributes(fields, "attributes"),
            expected: CheckMembers::effect(fields, EXPECTED),
        }
    }

    fn text(&self, name: &str) -> Option<&'r str> {
        match name {
            "subject" => self.subject,
            "resource" => self.resource,
            "action" => self.action,
            "domain" => self.domain,
            _ => None,
        }
    }

    /// Reads an item, its id and what it has beside.
    fn item<T>(
        &self,
        json: &'r Json<'r>,
        at: &Place<'_>,
        problems: &mut Problems,
        beside: ReadBeside<T>,
    ) -> Option<(ListedItem<'r>, Option<T>)> {
        fields::object(json, at, problems, |own| {
            let id = own.optional("id", text(MAX_ITEM_ID));
            let more = beside(own);
            let check = CheckBody::declare_compared(&mut ItemMembers { own, defaults: self });
            note_misplaced(own);
            Some(((check?, id), more))
        })
    }
}

/// The members of an item over the defaults of its batch.
struct ItemMembers<'i, 'r, 'p> {
    own: &'i mut Fields<'r, 'p>,
    defaults: &'i Defaults<'r>,
}

impl<'r> CheckMembers<'r> for ItemMembers<'_, 'r, '_> {
    fn required(&mut self, name: &'static str, text: CheckText) -> Option<&'r str> {
        match self.defaults.text(name) {
            None => CheckMembers::required(self.own, name, text),
            // A faulty member of the item is noted, and refuses the batch.
            default => CheckMembers::optional(self.own, name, text).or(default),
        }
    }

    fn optional(&mut self, name: &'static str, text: CheckText) -> Option<&'r str> {
        CheckMembers::optional(self.own, name, text).or(self.defaults.text(name))
    }

    fn attributes(&mut self, name: &'static str) -> Option<Attributes<'r>> {
        CheckMembers::attributes(self.own, name).or(self.defaults.attributes)
    }

    fn effect(&mut self, name: &'static str) -> Option<Effect> {
        CheckMembers::effect(self.own, name).or(self.defaults.expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn fault(text: &str) -> String {
        let json = json::parse(text.as_bytes()).expect("JSON");
        BatchBody::parse(&json).map(|_| String::new()).unwrap_or_else(|invalid| invalid.to_string())
    }

    #[test]
    fn an_item_takes_whole_defaults() {
        let text = br#"{
            "subject": "ann", "resource": "doc:read", "attributes": {"user": {"a": 1}, "context": {"b": 2}},
            "semantic": "deny_on_first_deny",
            "checks": [
                {"action": "read"},
                {"id": "x", "subject": "bob", "action": "list", "domain": "d", "attributes": {"user": {"c": 3}}},
                {"action": "read", "attributes": {}}
            ]}"#;
        let json = json::parse(text).expect("JSON");
        let batch = BatchBody::parse(&json).expect("a batch");
        assert_eq!(batch.semantic, BatchSemantic::DenyOnFirstDeny);
        let shown = |index| {
            let check = batch.check(index).expect("a check");
            let CheckBody { subject, resource, action, domain, attributes, .. } = check;
            let action = action.text();
            assert_eq!(batch.scope(index), Some((resource, domain)));
            let maps = (attributes.user, attributes.context);
            format!("{:?} {subject} {resource} {action} {domain:?} {maps:?}", batch.id(index))
        };
        let shown: Vec<_> = (0..batch.count()).map(shown).collect();
        let number = |n: u8| format!("Number({:?})", crate::number::Number::from(u64::from(n)));
        assert_eq!(
            shown,
            [
                format!(
                    "None ann doc:read read None ({{\"a\": {}}}, {{\"b\": {}}})",
                    number(1),
                    number(2)
                ),
                // The attributes of the item replace all of the default: the context is gone.
                format!(
                    "Some(\"x\") bob doc:read list Some(\"d\") ({{\"c\": {}}}, {{}})",
                    number(3)
                ),
                "None ann doc:read read None ({}, {})".to_owned(),
            ]
        );
    }

    #[test]
    fn a_fault_names_its_item() {
        for (text, expected) in [
            (r#"{}"#, "field `checks` is missing"),
            (r#"{"checks": {}}"#, "at `/checks`: expected an array, not an object"),
            (
                r#"{"subject": "a", "resource": "a:b", "action": "b", "checks": [{}, {"subject": 1}]}"#,
                "at `/checks/1/subject`: expected a string, not a number",
            ),
            (
                r#"{"resource": "a:b", "action": "b", "checks": [{"subject": "a"}, {}]}"#,
                "at `/checks/1`: field `subject` is missing",
            ),
            (
                r#"{"checks": [], "semantic": "some"}"#,
                "at `/semantic`: expected `execute_all`, `deny_on_first_deny` or `permit_on_first_permit`; at `/checks`: \
                 expected 1 to 10000 checks, not 0",
            ),
            (
                r#"{"checks": [{"subject": "a", "resource": "a:b", "action": "b", "roles": []}]}"#,
                "at `/checks/0`: field `roles` is unknown; did you mean `attributes.user.roles`?",
            ),
        ] {
            assert_eq!(fault(text), expected, "{text}");
        }
        let many = |count: usize| format!(r#"{{"checks": [{}]}}"#, vec!["{}"; count].join(","));
        let refused = "at `/checks`: expected 1 to 10000 checks, not 10001";
        assert_eq!(fault(&many(MAX_ITEMS + 1)), refused);
        assert!(fault(&many(MAX_ITEMS)).starts_with("at `/checks/0`: "));
    }
}
