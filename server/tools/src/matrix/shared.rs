//! Denies that every line about some object has: they are said once.

use std::collections::BTreeMap;

use portcullis_engine::resource::object_of;
use portcullis_engine::{Condition, expression};

/// The denies of lines, as far as all lines have them, or all about an object.
#[derive(Debug, Default)]
pub(super) struct SharedDenies<'r> {
    everywhere: Vec<Condition>,
    /// The denies that the lines about an object have besides; empty for an object with one line.
    by_object: BTreeMap<&'r str, Vec<Condition>>,
}

impl<'r> SharedDenies<'r> {
    /// Finds what lines share. Each has its resource and its denies.
    pub(super) fn new(lines: &[(&'r str, Vec<Condition>)]) -> Self {
        let mut by_object: BTreeMap<&str, Vec<&[Condition]>> = BTreeMap::new();
        for (resource, denies) in lines {
            by_object.entry(object_of(resource)).or_default().push(denies);
        }
        let all: Vec<&[Condition]> = lines.iter().map(|(_, denies)| &**denies).collect();
        let everywhere = in_each(&all);
        let by_object = by_object.into_iter().map(|(object, lines)| {
            let mut shared = in_each(&lines);
            shared.retain(|deny| !everywhere.contains(deny));
            (object, shared)
        });
        Self { by_object: by_object.collect(), everywhere }
    }

    /// Returns what a line about `resource` shares with others.
    pub(super) fn about(&self, resource: &str) -> Vec<Condition> {
        let own = self.by_object.get(object_of(resource)).into_iter().flatten();
        self.everywhere.iter().chain(own).cloned().collect()
    }

    /// Returns the notes about what is shared. `scope` stands before the lines that share it.
    pub(super) fn notes(&self, scope: &str) -> Vec<String> {
        let by_object = self
            .by_object
            .iter()
            .filter_map(|(object, denies)| note(scope, &format!(" about `{object}`"), denies));
        note(scope, "", &self.everywhere).into_iter().chain(by_object).collect()
    }
}

fn note(scope: &str, about: &str, denies: &[Condition]) -> Option<String> {
    let condition = match denies {
        [] => return None,
        [single] => expression::print(single),
        several => expression::print(&Condition::Or(several.into())),
    };
    Some(format!("{scope}each line{about}: unless {condition}"))
}

/// Returns the conditions that each of two or more lines has.
fn in_each(lines: &[&[Condition]]) -> Vec<Condition> {
    let Some((first, others @ [_, ..])) = lines.split_first() else { return Vec::new() };
    let shared = first.iter().filter(|deny| others.iter().all(|line| line.contains(deny)));
    shared.cloned().collect()
}
