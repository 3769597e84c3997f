//! Roles that include other roles (`docs/semantics.md`, section 12.8).

use std::collections::{BTreeMap, HashMap};

use portcullis_engine::Json;
use portcullis_engine::fields::within;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::MAX_SUBJECT;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::authorship::managed_record;
use crate::fields::{one_or_more, text};
use crate::input::{self, DeclaredBody, Field, Members};
use crate::{Authorship, SignedRecord, document};

/// Most roles that a role names as included.
const MAX_INCLUDES: usize = 100;
/// Most roles of a tenant that include others: each plan of the tenant has them.
const MAX_ROLES: usize = 1_000;
/// Most roles that the roles of a tenant name together: a check may have to walk through all of them.
const MAX_NAMED: usize = 5_000;

managed_record! {
    /// A role as the store keeps it and the API shows it.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
    #[schema(examples(json!({
        "name": "head-nurse",
        "includes": ["nurse"],
        "created_by": "ines-admin",
        "created_at": "2026-05-16T09:30:00.000Z",
        "updated_by": null,
        "updated_at": null,
        "managed_by": null,
    })))]
    pub struct RoleRecord {
        pub name: String,
        /// The roles that who has this role has too.
        pub includes: Vec<String>,
    }
}

impl RoleRecord {
    /// Returns the role with other included roles.
    #[must_use]
    pub fn with_includes(self, includes: Vec<String>, by: &Authorship) -> Self {
        Self { includes, ..self.signed(by) }
    }
}

/// The body of `PUT /api/v1/roles/{name}`.
#[derive(Clone, Debug)]
pub struct RoleBody {
    /// At least one role, each once.
    pub includes: Vec<String>,
}

impl DeclaredBody<'_> for RoleBody {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        Some(Self { includes: declare_includes(members)? })
    }
}

document!(RoleBody => {
    input::describe(RoleBody::declare)
        .about("The included roles; they replace those from before")
        .example(json!({"includes": ["nurse"]}))
});

/// A role that a bundle or the file `roles.yaml` names, with the roles that it includes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewRole {
    pub name: String,
    /// At least one role, each once.
    pub includes: Vec<String>,
}

impl NewRole {
    /// Reads the role at `at`.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        input::read(json, at, problems, Self::declare)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let name = members.required("name", text(MAX_SUBJECT).about("The role; unique"));
        let includes = declare_includes(members);
        Some(Self { name: name?, includes: includes? })
    }

    /// Returns the record of a new role.
    pub fn into_record(self, by: &Authorship) -> RoleRecord {
        RoleRecord {
            name: self.name,
            includes: self.includes,
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_by: None,
            updated_at: None,
            managed_by: None,
        }
    }
}

document!(NewRole => {
    input::describe(NewRole::declare)
        .about("A role that includes other roles")
        .example(json!({"name": "head-nurse", "includes": ["nurse"]}))
});

fn declare_includes(members: &mut Members<'_, '_>) -> Option<Vec<String>> {
    let about = "The roles that who has this role has too";
    let includes = one_or_more(text(MAX_SUBJECT), "role").about(about);
    let includes = members.required("includes", includes)?;
    if includes.len() > MAX_INCLUDES {
        members.expected_at("includes", format!("at most {MAX_INCLUDES} roles"));
    }
    Some(includes)
}

/// The roles of a tenant that include others, with the roles that each names.
#[derive(Debug)]
pub struct RoleGraph<'r>(BTreeMap<&'r str, &'r [String]>);

impl<'r> RoleGraph<'r> {
    /// Makes the graph of pairs of a role and the roles that it names.
    pub fn new(roles: impl IntoIterator<Item = (&'r str, &'r [String])>) -> Self {
        Self(roles.into_iter().collect())
    }

    /// Returns the limit that the roles exceed, as "at most …".
    pub fn exceeded_limit(&self) -> Option<String> {
        if self.0.len() > MAX_ROLES {
            return Some(format!("at most {MAX_ROLES} roles that include others"));
        }
        // The number of edges bounds the time of every search through the graph.
        let named: usize = self.0.values().map(|includes| includes.len()).sum();
        (named > MAX_NAMED).then(|| format!("at most {MAX_NAMED} roles that others include"))
    }

    /// Returns what is expected in place of `includes`, the roles that `name` names, if it includes itself by one of them.
    pub fn circle(&self, name: &str, includes: &[String]) -> Option<String> {
        self.groups().circle(name, includes)
    }

    /// Notes each of `roles`, the list at `at`, that includes itself.
    pub fn note_circles(&self, roles: &[NewRole], at: &Place<'_>, problems: &mut Problems) {
        let groups = self.groups();
        for (index, role) in roles.iter().enumerate() {
            if let Some(what) = groups.circle(&role.name, &role.includes) {
                problems.expected(&at.index(index).key("includes"), what);
            }
        }
    }

    /// Groups the roles by one depth-first search (Gabow, "Path-based depth-first search for strong and biconnected
    /// components", 2000), in time proportional to the roles and the names. It keeps its path itself: a path can be long.
    fn groups(&self) -> RoleGroups<'r> {
        let mut groups = RoleGroups::default();
        for first in self.0.keys().copied() {
            if groups.marks.contains_key(first) {
                continue;
            }
            // The path is a vector, because recursion over a long chain of roles would exhaust the stack.
            let mut path = vec![(first, groups.enter(self, first))];
            while let Some((role, included)) = path.last_mut() {
                let Some(next) = included.next() else {
                    groups.leave(role);
                    path.pop();
                    continue;
                };
                // The copy ends the borrow of the marks, which each branch may change.
                match groups.marks.get(&**next).copied() {
                    None => path.push((next, groups.enter(self, next))),
                    Some(Mark::Open(place)) => groups.join_from(place),
                    // A complete group does not lead back to the path, or it would still be open.
                    Some(Mark::Grouped(_)) => {}
                }
            }
        }
        groups
    }
}

/// Groups of roles: two roles are in one group if each includes the other, directly or by others.
#[derive(Debug, Default)]
struct RoleGroups<'r> {
    /// The roles that the search has met.
    marks: HashMap<&'r str, Mark>,
    /// The roles whose groups are not complete, in the order in which they were met.
    open: Vec<&'r str>,
    /// The places in `open` at which groups begin.
    begins: Vec<usize>,
    /// The number of complete groups.
    complete: usize,
}

/// The progress of the search with a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// The role has this place in `open`.
    Open(usize),
    /// The role belongs to this group.
    Grouped(usize),
}

impl<'r> RoleGroups<'r> {
    /// Opens a role as its own group, and returns the roles that it names.
    fn enter(&mut self, graph: &RoleGraph<'r>, role: &'r str) -> std::slice::Iter<'r, String> {
        let place = self.open.len();
        self.marks.insert(role, Mark::Open(place));
        self.open.push(role);
        self.begins.push(place);
        graph.0.get(role).copied().unwrap_or_default().iter()
    }

    /// Joins the group at `place` and those after it: the path leads back there.
    fn join_from(&mut self, place: usize) {
        while self.begins.last().is_some_and(|begin| *begin > place) {
            self.begins.pop();
        }
    }

    /// Completes the group that begins with `role`, if one does.
    fn leave(&mut self, role: &str) {
        // A role inside a larger group stays open until the role that begins the group is left.
        let begin = self.begins.last().copied();
        let Some(begin) = begin.filter(|at| self.marks.get(role) == Some(&Mark::Open(*at))) else {
            return;
        };
        self.begins.pop();
        let group = Mark::Grouped(self.complete);
        self.complete += 1;
        self.marks.extend(self.open.drain(begin..).map(|role| (role, group)));
    }

    /// See [`RoleGraph::circle`].
    fn circle(&self, name: &str, includes: &[String]) -> Option<String> {
        // Different roles of one group include each other, and a role that names itself finds its own group.
        let group = self.marks.get(name)?;
        let included = includes.iter().find(|role| self.marks.get(&***role) == Some(group))?;
        Some(match included == name {
            true => format!("other roles than `{name}`: a role cannot include itself"),
            false => format!(
                "no role that includes `{name}`, as `{included}` does: a role cannot include itself"
            ),
        })
    }
}

/// Returns whether a role can have this name.
pub fn is_role(name: &str) -> bool {
    within(name, MAX_SUBJECT) && !name.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs<'p> = &'p [(&'p str, &'p [&'p str])];

    #[test]
    fn a_role_that_includes_itself_is_found() {
        let owned = |names: &[&str]| names.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let cases: [(Pairs<'_>, Option<&str>); 4] = [
            (&[("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"])], None),
            (&[("a", &["a"])], Some("other roles than `a`")),
            (&[("a", &["x", "b"]), ("b", &["c"]), ("c", &["a"])], Some("as `b` does")),
            // A circle of others, which no write lets in, is passed through once.
            (&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])], None),
        ];
        for (pairs, expected) in cases {
            let pairs: Vec<_> = pairs.iter().map(|(name, all)| (*name, owned(all))).collect();
            let graph = RoleGraph::new(pairs.iter().map(|(name, all)| (*name, all.as_slice())));
            let found = graph.circle("a", &pairs[0].1);
            let fits =
                expected.is_none_or(|part| found.as_ref().is_some_and(|it| it.contains(part)));
            assert!(fits && found.is_some() == expected.is_some(), "{pairs:?}: {found:?}");
        }
    }

    #[test]
    fn each_role_on_a_circle_is_noted_with_the_role_by_which_it_comes_back() {
        let names = ["a", "b", "c"];
        // Every graph of three roles, against the roles that each one reaches.
        for graph in 0..1_u32 << 9 {
            let names_of =
                |from: usize| (0..3).filter(move |to| (graph >> (3 * from + to)) & 1 == 1);
            let owned = |from: usize| names_of(from).map(|to| names[to].to_owned()).collect();
            let pairs: Vec<(&str, Vec<String>)> = (0..3).map(|it| (names[it], owned(it))).collect();
            let roles = RoleGraph::new(pairs.iter().map(|(name, all)| (*name, all.as_slice())));
            for (from, (name, includes)) in pairs.iter().enumerate() {
                let leads_back = |first: &usize| {
                    let two: Vec<usize> = names_of(*first).chain([*first]).collect();
                    two.iter().any(|it| *it == from || names_of(*it).any(|to| to == from))
                };
                let expected = names_of(from).find(leads_back).map(|it| names[it]);
                let found = roles.circle(name, includes);
                let part = expected.map(|it| match it == *name {
                    true => format!("other roles than `{it}`"),
                    false => format!("as `{it}` does"),
                });
                let fits =
                    found.as_deref().zip(part.as_deref()).is_some_and(|(a, b)| a.contains(b));
                assert_eq!((fits, found.is_some()), (part.is_some(), part.is_some()), "{pairs:?}");
            }
        }
    }

    /// A search for each role would take many minutes, and a recursive one more than the stack.
    #[test]
    fn one_search_finds_every_circle() {
        let count = 50_000;
        let role = |number: usize| NewRole {
            name: format!("r{number}"),
            includes: (1..=5).map(|step| format!("r{}", (number + step) % count)).collect(),
        };
        let roles: Vec<_> = (0..count).map(role).collect();
        let graph = RoleGraph::new(roles.iter().map(|role| (&*role.name, &*role.includes)));
        let mut problems = Problems::default();
        graph.note_circles(&roles, &Place::root(), &mut problems);
        assert_eq!(graph.groups().complete, 1);
        assert!(problems.into_result().is_err());
    }

    #[test]
    fn the_roles_of_a_tenant_are_bounded() {
        let names: Vec<String> = (0..=MAX_ROLES).map(|number| number.to_string()).collect();
        let limit = |roles: usize, included: usize| {
            let includes = &names[..included];
            RoleGraph::new(names[..roles].iter().map(|name| (&**name, includes))).exceeded_limit()
        };
        assert_eq!(limit(MAX_ROLES, 5), None);
        let of_roles = "at most 1000 roles that include others".to_owned();
        assert_eq!(limit(MAX_ROLES + 1, 1), Some(of_roles));
        let of_named = "at most 5000 roles that others include".to_owned();
        assert_eq!(limit(834, 6), Some(of_named));
    }
}
