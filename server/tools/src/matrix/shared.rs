//! Denies that every line about some object has: they are said once.

use std::collections::BTreeMap;

use portcullis_engine::resource::object_of;
use portcullis_engine::{Condition, expression};

/// The denies of lines, as far as all lines have them, or all about an object.
#[derive(Debug, Default)]
pub(super) struct Shared<'r> {
    everywhere: Vec<Condition>,
    /// The denies that the lines about an object have besides; empty for an object with one line.
    by_object: BTreeMap<&'r str, Vec<Condition>>,
}

impl<'r> Shared<'r> {
    /// Finds what lines share. Each has its resource and its denies.
    pub(super) fn new(lines: &[(&'r str, Vec<Condition>)]) -> Self {
        let mut by_object: BTreeMap<&str, Vec<&[Condition]>> = BTreeMap::new();
        for (resource, denies) in lines {
            by_object.entry(object_of(resource)).or_default().push(denies);
        }
        let all: Vec<&[Condition]> = lines.iter().map(|(_, denies)| &**denies).collect();
        let everywhere = in_each(&all);
        let own = |(object, lines): (&'r str, Vec<&[Condition]>)| {
            let mut shared = in_each(&lines);
            shared.retain(|deny| !everywhere.contains(deny));
            (object, shared)
        };
        let by_object = by_object.into_iter().map(own).collect();
        Self { everywhere, by_object }
    }

    /// Returns what a line about `resource` shares with others.
    pub(super) fn about(&self, resource: &str) -> Vec<Condition> {
        let own = self.by_object.get(object_of(resource)).into_iter().flatten();
        self.everywhere.iter().chain(own).cloned().collect()
    }

    /// Returns the notes about what is shared. `scope` stands before the lines that share it.
    pub(super) fn notes(&self, scope: &str) -> Vec<String> {
        let note = |about: &str, denies: &[Condition]| {
            let condition = match denies {
                [] => return None,
                [single] => expression::print(single),
                several => expression::print(&Condition::Or(several.into())),
            };
            Some(format!("{scope}each line{about}: unless {condition}"))
        };
        let by_object = self.by_object.iter();
        let by_object =
            by_object.filter_map(|(object, denies)| note(&format!(" about `{object}`"), denies));
        note("", &self.everywhere).into_iter().chain(by_object).collect()
    }
}

/// Returns the conditions that each of two or more lines has.
fn in_each(lines: &[&[Condition]]) -> Vec<Condition> {
    let Some((first, others @ [_, ..])) = lines.split_first() else { return Vec::new() };
    let is_shared = |deny: &&Condition| others.iter().all(|line| line.contains(*deny));
    first.iter().filter(is_shared).cloned().collect()
}
