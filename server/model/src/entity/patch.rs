//! The body of `PATCH /api/v1/entities/{type}/{id}`: a change of one entity.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json, Number};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::entity_body::declare_names;
use super::new_entity::{
    DomainRoles, MAX_BYTES, MAX_DOMAINS, MAX_PROPERTIES, NewEntity, Properties, domain_roles,
    item_schema, json_bytes, properties, roles,
};
use super::record::EntityRecord;
use crate::document;
use crate::fields::{by_name, each_once, list, string};
use crate::input::{self, Field, Members, field, object};

/// A change of an entity. What it does not name stays.
#[derive(Debug)]
pub struct EntityPatch {
    set: Properties,
    unset: HashSet<String>,
    /// The changes of properties that are lists, by name.
    lists: BTreeMap<String, ItemChanges<ListItem>>,
    roles: ItemChanges<String>,
    /// By domain.
    domain_roles: BTreeMap<String, ItemChanges<String>>,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ListItem {
    Text(String),
    Number(Number),
}

/// The changes of a list whose items are a set.
#[derive(Debug)]
struct ItemChanges<T> {
    /// Each once.
    add: Vec<T>,
    remove: HashSet<T>,
}

/// A change as it was sent.
struct SentPatch {
    set: Properties,
    unset: Vec<String>,
    items: SentItems<BTreeMap<String, Vec<ListItem>>>,
    roles: SentItems<Vec<String>>,
    domain_roles: SentItems<DomainRoles>,
}

/// The members `add` and `remove`.
#[derive(Default)]
struct SentItems<T> {
    add: T,
    remove: T,
}

impl EntityPatch {
    /// Reads a request body for the entity that the path names.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, path: (&str, &str)) -> Result<Self, Invalid> {
        let (at, mut problems) = (Place::root(), Problems::default());
        let sent =
            input::read(json, &at, &mut problems, |members| SentPatch::declare(members, path));
        let patch = sent.map(|sent| sent.into_patch(&at, &mut problems));
        problems.finish(patch)
    }

    /// Returns `old` with the change.
    ///
    /// # Errors
    /// A property whose items change is not a list, or the entity would exceed a limit, by JSON pointer into the change.
    pub fn applied_to(&self, old: EntityRecord) -> Result<NewEntity, Invalid> {
        let EntityRecord { kind, id, mut roles, mut domain_roles, mut properties, .. } = old;
        let (at, mut problems) = (Place::root(), Problems::default());
        properties.extend(self.set.clone());
        // No name is in both: `into_patch` refuses that, so the order of these two does not matter.
        properties.retain(|name, _| !self.unset.contains(name));
        for (name, changes) in &self.lists {
            match properties.get_mut(name) {
                Some(Json::Array(items)) => changes.apply_to_json(items),
                // Nothing can be removed from a list that is absent, and the wanted state is reached already.
                None if changes.add.is_empty() => {}
                None => {
                    let items = changes.add.iter().map(Json::from).collect();
                    properties.insert(name.clone(), Json::Array(items));
                }
                // A property that `set` or `unset` names has no changes of its items, so this value is a stored one.
                Some(other) => {
                    let member = if changes.add.is_empty() { "remove" } else { "add" };
                    let what = format!("the name of a list; `{name}` is {}", other.kind());
                    problems.expected(&at.key(member).key(name), what);
                }
            }
        }
        self.roles.apply(&mut roles);
        for (domain, changes) in &self.domain_roles {
            // The list is taken out and put back only if it still has roles.
            let mut here = domain_roles.remove(domain).unwrap_or_default();
            changes.apply(&mut here);
            // A domain in which the entity has no role is not kept.
            if !here.is_empty() {
                domain_roles.insert(domain.clone(), here);
            }
        }
        // The faults so far have their places in the change; those of the whole entity get them below.
        problems.into_result()?;
        let (mut problems, entity) =
            (Problems::default(), NewEntity { kind, id, roles, domain_roles, properties });
        entity.check(&at, &mut problems);
        problems.into_result().map_err(|invalid| self.place(invalid))?;
        Ok(entity)
    }

    /// Returns `invalid`, which has places in the whole entity, with the places in the change that made it so.
    #[must_use]
    pub fn place(&self, invalid: Invalid) -> Invalid {
        let at = Place::root();
        let in_entity = at.key("properties");
        invalid.replace_paths(|path| {
            if let Some(name) = self.set.keys().find(|name| is_in(path, &in_entity.key(name))) {
                return at.key("set").key(name).to_string();
            }
            if let Some(name) = self.lists.keys().find(|name| is_in(path, &in_entity.key(name))) {
                return at.key("add").key(name).to_string();
            }
            // A change only makes roles too many by those that it adds.
            let of_roles = added(path, "roles").or_else(|| added(path, "domain_roles"));
            of_roles.unwrap_or_default()
        })
    }
}

/// Returns whether the JSON pointer `path` is the one of `place`, or of something in it.
fn is_in(path: &str, place: &Place<'_>) -> bool {
    let rest = path.strip_prefix(&place.to_string());
    // The name `ward` must not be taken for the beginning of the name `wards`.
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the JSON pointer into the additions of `member` for one into the member of an entity.
fn added(path: &str, member: &str) -> Option<String> {
    path.strip_prefix(&format!("/{member}")).map(|rest| format!("/{member}/add{rest}"))
}

document!(EntityPatch => {
    input::describe(|members| SentPatch::declare(members, ("", "")))
        .about("A change of an entity; what it does not name stays. The items of lists are a set: one that is there is not \
                added again, and one that is not there is not removed")
        .example(json!({
            "set": {"ward": "er"},
            "unset": ["pager"],
            "add": {"readers": ["u1"]},
            "remove": {"readers": ["u2"]},
            "roles": {"add": ["doctor"]},
            "domain_roles": {"add": {"ws-1": ["owner"]}},
        }))
});

impl SentPatch {
    fn declare(members: &mut Members<'_, '_>, path: (&str, &str)) -> Option<Self> {
        declare_names(members, path);
        let set = properties().about("Properties with their new values; `null` removes one");
        let unset = list(string()).about("The names of properties that go");
        let set = members.optional("set", set);
        let unset = members.optional("unset", unset);
        let add = list_changes()
            .about("Items for properties that are lists; an absent property becomes one");
        let add = members.optional("add", add);
        let remove = list_changes().about("Items that go from properties that are lists");
        let remove = members.optional("remove", remove);
        let of_roles =
            object(|members: &mut Members<'_, '_>| Some(SentItems::declare(members, roles)));
        let of_domains =
            object(|members: &mut Members<'_, '_>| Some(SentItems::declare(members, domain_roles)));
        let roles = members.optional("roles", of_roles.about("The roles in every domain"));
        let of_domains = of_domains.about("The roles in some domains, by domain");
        let domain_roles = members.optional("domain_roles", of_domains);
        Some(Self {
            set: set.unwrap_or_default(),
            unset: unset.unwrap_or_default(),
            items: SentItems { add: add.unwrap_or_default(), remove: remove.unwrap_or_default() },
            roles: roles.unwrap_or_default(),
            domain_roles: domain_roles.unwrap_or_default(),
        })
    }

    /// Notes what contradicts itself or is too much, and returns the change.
    fn into_patch(self, at: &Place<'_>, problems: &mut Problems) -> EntityPatch {
        // The sizes are checked as they were sent: repeated names and items count.
        self.check_size(at, problems);
        let Self { set, unset, items, roles, domain_roles } = self;
        for (index, name) in unset.iter().enumerate() {
            if set.contains_key(name) {
                let what = "a name that is not in `set`, too";
                problems.expected(&at.key("unset").index(index), what);
            }
        }
        let mut unset: HashSet<String> = unset.into_iter().collect();
        for (member, sent) in [("add", &items.add), ("remove", &items.remove)] {
            for name in sent.keys() {
                if set.contains_key(name) || unset.contains(name) {
                    let what = "a name that is neither in `set` nor in `unset`";
                    problems.expected(&at.key(member).key(name), what);
                }
            }
        }
        let lists = by_names(items, &at.key("remove"), problems);
        let at_roles = at.key("roles");
        let roles = ItemChanges::new(roles, &at_roles.key("remove"), problems);
        let at_domains = at.key("domain_roles");
        let domain_roles = by_names(domain_roles, &at_domains.key("remove"), problems);
        // A `null` in `set` removes the property just as its name in `unset` does.
        let (gone, set) =
            set.into_iter().partition::<Properties, _>(|(_, value)| *value == Json::Null);
        unset.extend(gone.into_keys());
        EntityPatch { set, unset, lists, roles, domain_roles }
    }

    /// Notes what no entity has room for. The rest takes little time with the database locked.
    fn check_size(&self, at: &Place<'_>, problems: &mut Problems) {
        let (at_domains, domains) = (at.key("domain_roles"), &self.domain_roles);
        for (count, limit, at) in [
            (self.unset.len(), MAX_PROPERTIES, at.key("unset")),
            (self.items.add.len(), MAX_PROPERTIES, at.key("add")),
            (self.items.remove.len(), MAX_PROPERTIES, at.key("remove")),
            (domains.add.len(), MAX_DOMAINS, at_domains.key("add")),
            (domains.remove.len(), MAX_DOMAINS, at_domains.key("remove")),
        ] {
            if count > limit {
                problems.expected(&at, format!("at most {limit} names, as an entity has"));
            }
        }
        let bytes = json_bytes(&self.set)
            + json_bytes(&self.items.add)
            + json_bytes(&self.roles.add)
            + json_bytes(&domains.add);
        if bytes > MAX_BYTES {
            let what = format!("additions of at most {MAX_BYTES} bytes, as an entity has");
            problems.expected(at, what);
        }
    }
}

impl<T: Default> SentItems<T> {
    fn declare<'j, F: Field<'j, Value = T>>(
        members: &mut Members<'j, '_>,
        items: impl Fn() -> F,
    ) -> Self {
        let add = members.optional("add", items());
        let remove = members.optional("remove", items());
        Self { add: add.unwrap_or_default(), remove: remove.unwrap_or_default() }
    }
}

/// Returns the changes of the list of each name. The items that go were sent at `at`.
fn by_names<T: Clone + Eq + Hash>(
    sent: SentItems<BTreeMap<String, Vec<T>>>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> BTreeMap<String, ItemChanges<T>> {
    let SentItems { mut add, mut remove } = sent;
    // A name with both additions and removals occurs twice here, but has one change.
    let names: Vec<String> = add.keys().chain(remove.keys()).cloned().collect();
    let changes = each_once(names).into_iter().map(|name| {
        let add = add.remove(&name).unwrap_or_default();
        let remove = remove.remove(&name).unwrap_or_default();
        let changes = ItemChanges::new(SentItems { add, remove }, &at.key(&name), problems);
        (name, changes)
    });
    changes.collect()
}

impl<T: Clone + Eq + Hash> ItemChanges<T> {
    /// Returns the changes of a list, and notes items that it would both add and remove. Those that go were sent at `at`.
    fn new(sent: SentItems<Vec<T>>, at: &Place<'_>, problems: &mut Problems) -> Self {
        // Without the set, comparing each removal with each addition would take quadratic time.
        let added: HashSet<&T> = sent.add.iter().collect();
        for (index, item) in sent.remove.iter().enumerate() {
            if added.contains(item) {
                problems.expected(&at.index(index), "an item that is not in `add`, too");
            }
        }
        Self { add: each_once(sent.add), remove: sent.remove.into_iter().collect() }
    }

    fn apply(&self, items: &mut Vec<T>) {
        // Items that stay keep their order, and added ones come after them.
        items.retain(|item| !self.remove.contains(item));
        // The set has copies, because the list that it is made from grows in the next line.
        let present: HashSet<T> = items.iter().cloned().collect();
        items.extend(self.add.iter().filter(|item| !present.contains(*item)).cloned());
    }
}

impl ItemChanges<ListItem> {
    fn apply_to_json(&self, json: &mut Vec<Json<'static>>) {
        // No item is lost here: a stored list has only strings and numbers.
        let mut items: Vec<ListItem> = json.iter().filter_map(ListItem::from_json).collect();
        self.apply(&mut items);
        *json = items.iter().map(Json::from).collect();
    }
}

impl ListItem {
    fn from_json(json: &Json<'_>) -> Option<Self> {
        match json {
            Json::String(text) => Some(Self::Text(text.to_string())),
            Json::Number(number) => Some(Self::Number(*number)),
            _ => None,
        }
    }
}

impl From<&ListItem> for Json<'static> {
    fn from(item: &ListItem) -> Self {
        match item {
            ListItem::Text(text) => Json::String(text.clone().into()),
            ListItem::Number(number) => Json::Number(*number),
        }
    }
}

impl Serialize for ListItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::from(self).serialize(serializer)
    }
}

/// Items by the name of the property whose list they change.
fn list_changes<'j>() -> impl Field<'j, Value = BTreeMap<String, Vec<ListItem>>> {
    by_name(list(list_item()))
}

fn list_item<'j>() -> impl Field<'j, Value = ListItem> {
    field(read_item, item_schema)
}

fn read_item(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<ListItem> {
    let item = ListItem::from_json(json);
    if item.is_none() {
        problems.expected(at, format!("a string or a number, not {}", json.kind()));
    }
    item
}

#[cfg(test)]
mod tests;
