//! The objects of a policy file, and the attribute of a check that they become.

use std::collections::BTreeMap;

use portcullis_engine::resource::{encoded_name, encoded_resource};

use super::expression::Value;
use super::lines::Line;
use super::membership::Roles;
use super::model::Model;
use crate::fault::ImportFault;

/// The kinds of objects that a file has.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    /// There is an object without a verb, such as `data1`.
    alone: bool,
    /// There is an object with a verb, such as `chart:read`.
    named: bool,
    /// The objects of the lines by the part before the verb: whether they have a verb, and the line of the first.
    names: BTreeMap<String, (bool, usize)>,
}

impl Objects {
    /// Reads the objects of the matcher, of the lines and of roles of objects. Notes those lines whose objects would
    /// become the same resource in Portcullis.
    pub(super) fn new(
        model: &Model,
        lines: &[Line],
        roles: &Roles,
        faults: &mut Vec<ImportFault>,
    ) -> Self {
        let mut objects = Self::default();
        for (function, values) in model.tests_of_object() {
            for value in values {
                match value {
                    Value::Text(text) => objects.note(text),
                    Value::List(items) => items.iter().for_each(|item| {
                        if let Value::Text(text) = item {
                            objects.note(text);
                        }
                    }),
                    Value::Policy(column) => {
                        let column = model.columns.iter().position(|own| own == column);
                        let Some(column) = column else { continue };
                        for line in lines {
                            faults.extend(objects.note_line(line, column));
                        }
                    }
                    _ => {}
                }
            }
            function.into_iter().flat_map(|kind| roles.names(kind)).for_each(|name| {
                objects.note(name);
            });
        }
        objects
    }

    /// Notes an object or a pattern of objects.
    fn note(&mut self, object: &str) {
        match has_verb(object) {
            // Neither tells whether objects have verbs.
            _ if object.is_empty() || object == "*" => {}
            true => self.named = true,
            false => self.alone = true,
        }
    }

    fn note_line(&mut self, line: &Line, column: usize) -> Option<ImportFault> {
        let object = line.values.get(column)?;
        self.note(object);
        let named = has_verb(object);
        // A pattern without a verb is not an object; `chart:*` is about objects with the name `chart`.
        if object.is_empty() || !named && object.contains(['*', '/']) {
            return None;
        }
        let conflict = self.conflict(object, named);
        // The first line of a name stays, since faults refer to it.
        self.names.entry(name(object).to_owned()).or_insert((named, line.number));
        conflict.map(|reason| line.fault(reason))
    }

    /// Returns the reason why `object` would become the resource of another object of the lines, which has a verb if this
    /// one has none.
    fn conflict(&self, object: &str, named: bool) -> Option<String> {
        let name = name(object);
        let (_, first) = self.names.get(name).filter(|(other, _)| *other != named)?;
        Some(format!(
            "`{name}` is used with a verb and without one; use one form, as in line {first}"
        ))
    }

    /// Returns whether `object` is a resource as it is. In a file without verbs a `:` is a plain character.
    pub(super) fn is_resource(&self, object: &str) -> bool {
        self.named && (!self.alone || has_verb(object))
    }

    /// Returns the resource of a check that asks about Casbin's `object` and `act`, either of which may be `*`.
    ///
    /// # Errors
    /// The resource would stand for another object or action.
    pub(super) fn resource(&self, object: &str, act: &str) -> Result<String, String> {
        let named = self.is_resource(object);
        if self.named
            && self.alone
            && let Some(reason) = self.conflict(object, named)
        {
            return Err(reason);
        }
        if named {
            return Self::whole(object).ok_or_else(|| {
                format!(
                    "`{object}` has no verb, which the objects of the lines have; use an object such as `{object}:{act}`"
                )
            });
        }
        Ok(encoded_resource(object, act))
    }

    /// Returns an object with a verb as the resource of a check; `None` if it has none.
    fn whole(object: &str) -> Option<String> {
        object.rsplit_once(':').map(|(name, verb)| encoded_resource(name, verb))
    }

    /// Returns an object as the attribute of a check that is Casbin's object has it.
    pub(super) fn as_attribute(&self, object: &str) -> String {
        let whole = self.is_resource(object).then(|| Self::whole(object)).flatten();
        whole.unwrap_or_else(|| encoded_name(object))
    }

    /// Returns the path of the attribute that is Casbin's object.
    ///
    /// # Errors
    /// The file has objects of both kinds, so that no attribute is the object of every request.
    pub(super) fn attribute(&self) -> Result<&'static str, String> {
        match (self.named, self.alone) {
            (true, true) => {
                Err("a pattern of objects needs objects that all have a verb, or none; import the two kinds as two files".to_owned())
            }
            (true, false) => Ok("request.resource"),
            (false, _) => Ok("request.object"),
        }
    }
}

/// Returns the object without its verb.
fn name(object: &str) -> &str {
    object.rsplit_once(':').map_or(object, |(name, _)| name)
}

/// Returns whether an object, or a pattern of objects, has a verb. A `:` after `/`, `?` or `^` belongs to a pattern.
fn has_verb(object: &str) -> bool {
    let before = object.match_indices(':').map(|(at, _)| object.get(..at).unwrap_or_default());
    // A colon behind one of these begins a parameter of a path, or a group of a regular expression.
    before.into_iter().any(|before| !before.ends_with(['/', '?', '^']))
}
