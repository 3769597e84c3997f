//! Named conditions: conditions that a tenant writes once and uses by name (`docs/semantics.md`, section 4.11).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::items::NESTED;
use super::{Condition, MAX_DEPTH, MAX_NODES, Named, Predicate, Test};
use crate::excerpt::quoted;
use crate::nearest;

/// The named conditions of a tenant, with all names in them resolved. Equal parts exist once, whoever uses them.
#[derive(Clone, Debug, Default)]
pub struct NamedConditions {
    all: BTreeMap<Box<str>, Definition>,
}

/// The meaning of a name.
#[derive(Clone, Debug)]
struct Definition {
    size: Size,
    meaning: Result<Arc<Condition>, NameFault>,
}

/// The size of a tree in which each name is replaced by its condition. Both numbers saturate.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    nodes: usize,
    depth: usize,
}

impl Size {
    const LEAF: Self = Self { nodes: 1, depth: 1 };

    /// Returns the size with one more node above the tree.
    fn with_parent(self) -> Self {
        Self { nodes: self.nodes.saturating_add(1), depth: self.depth.saturating_add(1) }
    }
}

/// A cause why a name stands for nothing that a condition can use; as text it completes "expected …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// No condition has the name.
    Unknown {
        /// The name.
        name: Box<str>,
        /// The condition that uses it; `None` if the faulty one does itself.
        within: Option<Box<str>>,
        /// The names that may be meant, as they follow "a known condition".
        hint: Box<str>,
    },
    /// Each of these conditions uses the next one; the last is the first again.
    Circle(Arc<[Box<str>]>),
    /// The tree has more nodes than a tree may have, once each name is replaced.
    TooManyNodes,
    /// The tree is deeper than a tree may be, once each name is replaced.
    TooDeep,
    /// The name stands within a condition on items, and has one itself.
    Nested(Box<str>),
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, within, hint } => {
                write!(f, "a condition that exists{hint}; there is no condition {}", quoted(name))?;
                match within {
                    Some(user) => write!(f, ", which {} uses", quoted(user)),
                    None => Ok(()),
                }
            }
            Self::Circle(names) => {
                f.write_str("conditions that use each other without a circle, but ")?;
                for (index, pair) in names.windows(2).enumerate() {
                    let joint = if index == 0 { "" } else { ", and " };
                    write!(f, "{joint}`{}` uses `{}`", pair[0], pair[1])?;
                }
                Ok(())
            }
            Self::TooManyNodes => {
                write!(
                    f,
                    "at most {MAX_NODES} nodes in the whole tree, each name replaced by its condition"
                )
            }
            Self::TooDeep => {
                write!(
                    f,
                    "a tree at most {MAX_DEPTH} nodes deep, each name replaced by its condition"
                )
            }
            Self::Nested(name) => write!(f, "{NESTED}: `{}.{name}` has one", Named::NAMESPACE),
        }
    }
}

impl NamedConditions {
    /// Resolves the names in these conditions, which come as they are written, each with its name. Takes time in proportion
    /// to their written size, however large they become.
    pub fn new(written: impl IntoIterator<Item = (Box<str>, Condition)>) -> Self {
        let mut left: BTreeMap<Box<str>, Condition> = written.into_iter().collect();
        // How many names each condition waits for, and who waits for each.
        let mut waiting: BTreeMap<Box<str>, usize> = BTreeMap::new();
        let mut users: BTreeMap<Box<str>, Vec<Box<str>>> = BTreeMap::new();
        for (name, condition) in &left {
            let mut known = condition.names();
            // A name that does not exist is not waited for: `definition` finds the fault.
            known.retain(|used| left.contains_key(*used));
            waiting.insert(name.clone(), known.len());
            for used in known {
                users.entry(used.into()).or_default().push(name.clone());
            }
        }
        let mut ready: Vec<Box<str>> = waiting
            .iter()
            .filter(|(_, count)| **count == 0)
            .map(|(name, _)| name.clone())
            .collect();
        let mut resolved = Self::default();
        while let Some(name) = ready.pop() {
            let Some(condition) = left.remove(&name) else { continue };
            let definition = resolved.definition(&name, &condition);
            for user in users.remove(&name).unwrap_or_default() {
                if let Some(count) = waiting.get_mut(&user) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(user);
                    }
                }
            }
            resolved.all.insert(name, definition);
        }
        resolved.add_circles(&left);
        resolved
    }

    /// Returns what `name` stands for. All names that the condition uses are resolved, or do not exist.
    fn definition(&self, name: &str, condition: &Condition) -> Definition {
        let size = self.size(condition);
        let fault = self.faults(condition).into_iter().next().map(|(_, fault)| match fault {
            NameFault::Unknown { name: unknown, within: None, hint } => {
                NameFault::Unknown { name: unknown, within: Some(name.into()), hint }
            }
            other => other,
        });
        let meaning = match fault {
            Some(fault) => Err(fault),
            None => Ok(Arc::new(self.replaced(condition))),
        };
        Definition { size, meaning }
    }

    /// Adds the conditions that are left because they use each other in a circle, or use such ones.
    fn add_circles(&mut self, left: &BTreeMap<Box<str>, Condition>) {
        let mut circles: BTreeMap<&str, Arc<[Box<str>]>> = BTreeMap::new();
        for name in left.keys() {
            let mut way: Vec<&str> = Vec::new();
            let mut at = Some(&**name);
            let circle = loop {
                let Some(present) = at else { break None };
                if let Some(known) = circles.get(present) {
                    break Some(known.clone());
                }
                if let Some(start) = way.iter().position(|before| *before == present) {
                    let names = way[start..].iter().chain([&present]);
                    break Some(names.map(|name| Box::from(*name)).collect());
                }
                way.push(present);
                at = first_used(left, present);
            };
            // A name that only leads into a circle has the fault of the circle.
            if let Some(circle) = circle {
                circles.extend(way.into_iter().map(|name| (name, circle.clone())));
            }
        }
        let size = Size { nodes: usize::MAX, depth: usize::MAX };
        self.all.extend(circles.into_iter().map(|(name, circle)| {
            (name.into(), Definition { size, meaning: Err(NameFault::Circle(circle)) })
        }));
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the condition that a name stands for.
    ///
    /// # Errors
    /// Nothing can use it.
    pub fn get(&self, name: &str) -> Result<&Arc<Condition>, NameFault> {
        match self.all.get(name) {
            Some(definition) => definition.meaning.as_ref().map_err(Clone::clone),
            None => Err(self.unknown(name)),
        }
    }

    fn unknown(&self, name: &str) -> NameFault {
        let known = self.all.keys();
        let hint = nearest::hint(name, known, |name| format!("{}.{name}", Named::NAMESPACE));
        NameFault::Unknown { name: name.into(), within: None, hint: hint.into() }
    }

    /// Returns the condition with what its names stand for.
    ///
    /// # Errors
    /// The first fault of a name.
    pub fn resolve(&self, condition: Condition) -> Result<Condition, NameFault> {
        if !condition.has_names() {
            return Ok(condition);
        }
        match self.faults(&condition).into_iter().next() {
            Some((_, fault)) => Err(fault),
            None => Ok(self.replaced(&condition)),
        }
    }

    /// Returns the faults of the names in a condition as it is written, each with the number of the name among all in the
    /// tree; a fault of the whole tree has none.
    pub(crate) fn faults(&self, condition: &Condition) -> Vec<(Option<usize>, NameFault)> {
        let mut faults = Vec::new();
        let mut index = 0;
        condition.visit_names(false, &mut |named, is_of_item| {
            match self.get(&named.name) {
                // The size of the whole tree says it.
                Err(NameFault::TooManyNodes | NameFault::TooDeep) => {}
                Err(fault) => faults.push((Some(index), fault)),
                Ok(meaning) if is_of_item && meaning.has_items() => {
                    faults.push((Some(index), NameFault::Nested(named.name.clone())));
                }
                Ok(_) => {}
            }
            index += 1;
        });
        // A tree without names was measured when it was read.
        if !faults.is_empty() || index == 0 {
            return faults;
        }
        let size = self.size(condition);
        if size.nodes > MAX_NODES {
            faults.push((None, NameFault::TooManyNodes));
        } else if size.depth > MAX_DEPTH {
            faults.push((None, NameFault::TooDeep));
        }
        faults
    }

    /// Returns the size that the tree has once each name is replaced.
    fn size(&self, condition: &Condition) -> Size {
        match condition {
            Condition::And(children) | Condition::Or(children) => {
                let mut all = Size::default();
                for child in children {
                    let size = self.size(child);
                    all.nodes = all.nodes.saturating_add(size.nodes);
                    all.depth = all.depth.max(size.depth);
                }
                all.with_parent()
            }
            Condition::Not(child) => self.size(child).with_parent(),
            Condition::Test(Test { predicate: Predicate::Items(items), .. }) => {
                self.size(items.child()).with_parent()
            }
            Condition::Test(_) => Size::LEAF,
            Condition::Named(named) => {
                // An unknown name is a fault by itself, so its size does not matter.
                self.all.get(&named.name).map_or(Size::LEAF, |known| known.size)
            }
        }
    }

    /// Returns the condition with what its names stand for.
    fn replaced(&self, condition: &Condition) -> Condition {
        condition.clone().replace_names(&mut |named| {
            let meaning = self.get(&named.name).ok().cloned();
            Condition::Named(named.with_meaning(meaning))
        })
    }
}

/// Returns the first name that the condition of `name` uses, among those that are left.
fn first_used<'l>(left: &'l BTreeMap<Box<str>, Condition>, name: &str) -> Option<&'l str> {
    let names = left.get(name)?.names();
    names.into_iter().find(|used| left.contains_key(*used))
}

impl Condition {
    /// Returns whether the tree as it is written uses a named condition.
    pub fn has_names(&self) -> bool {
        let mut has_names = false;
        self.visit_names(false, &mut |_, _| has_names = true);
        has_names
    }

    /// Returns the names that the tree as it is written uses, each once, in its order.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.visit_names(false, &mut |named, _| {
            if !names.contains(&named.name()) {
                names.push(named.name());
            }
        });
        names
    }

    /// Returns the uses of names in the tree as it is written, in its order.
    pub fn uses_of_names(&self) -> impl Iterator<Item = &Named> {
        let mut uses = Vec::new();
        self.visit_names(false, &mut |named, _| uses.push(named));
        uses.into_iter()
    }

    /// Returns the condition without names: each is replaced by what it stands for.
    #[must_use]
    pub(crate) fn expanded(self) -> Self {
        self.replace_names(&mut |named| match named.meaning() {
            // It ends, because a condition in a circle has no meaning.
            Some(meaning) => meaning.as_ref().clone().expanded(),
            None => Self::Named(named),
        })
    }

    /// Passes each use of a name to `visit`, with whether it is within a condition on items. Does not look into what names
    /// stand for.
    fn visit_names<'c>(&'c self, is_of_item: bool, visit: &mut impl FnMut(&'c Named, bool)) {
        match self {
            Self::And(children) | Self::Or(children) => {
                children.iter().for_each(|child| child.visit_names(is_of_item, visit));
            }
            Self::Not(child) => child.visit_names(is_of_item, visit),
            Self::Test(Test { predicate: Predicate::Items(items), .. }) => {
                items.child().visit_names(true, visit);
            }
            Self::Test(_) => {}
            Self::Named(named) => visit(named, is_of_item),
        }
    }

    /// Replaces each use of a name by the result of `replace`.
    #[must_use]
    pub(crate) fn replace_names(self, replace: &mut impl FnMut(Named) -> Self) -> Self {
        match self {
            Self::And(children) => {
                Self::And(children.into_iter().map(|child| child.replace_names(replace)).collect())
            }
            Self::Or(children) => {
                Self::Or(children.into_iter().map(|child| child.replace_names(replace)).collect())
            }
            Self::Not(child) => Self::Not(Box::new(child.replace_names(replace))),
            Self::Test(test) => Self::Test(test.replace_names(replace)),
            Self::Named(named) => replace(named),
        }
    }

    /// Returns whether a test is a condition on items, also one that a name stands for.
    fn has_items(&self) -> bool {
        self.tests().iter().any(|test| matches!(test.predicate, Predicate::Items(_)))
    }
}

impl Test {
    fn replace_names(self, replace: &mut impl FnMut(Named) -> Condition) -> Self {
        match self.predicate {
            Predicate::Items(items) if items.child().has_names() => {
                let child = items.child().clone().replace_names(replace);
                Self { predicate: Predicate::Items(Box::new(items.with_child(child))), ..self }
            }
            predicate => Self { predicate, ..self },
        }
    }
}
