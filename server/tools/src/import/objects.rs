//! The objects of a policy file, and the attribute of a check that they become.

use std::collections::BTreeMap;

use super::expression::Value;
use super::fault::ImportFault;
use super::lines::Line;
use super::membership::Roles;
use super::model::Model;

/// The kinds of objects that a file has.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// There is an object without a verb, such as `data1`.
    alone: bool,
    /// There is an object with a verb, such as `chart:read`.
    named: bool,
}

/// The objects so far by the part before the verb: whether they have a verb, and the line of the first.
type Names<'n> = BTreeMap<&'n str, (bool, usize)>;

impl Objects {
    /// Reads the objects of the matcher, of the lines and of roles of objects. Notes those lines whose objects would
    /// become the same resource in Portcullis.
    pub(super) fn of(
        model: &Model,
        lines: &[Line],
        roles: &Roles,
        faults: &mut Vec<ImportFault>,
    ) -> Self {
        let (mut objects, mut names) = (Self::default(), Names::new());
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
                            faults.extend(objects.note_line(line, column, &mut names));
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
            _ if object.is_empty() || object == "*" => {}
            true => self.named = true,
            false => self.alone = true,
        }
    }

    fn note_line<'l>(
        &mut self,
        line: &'l Line,
        column: usize,
        names: &mut Names<'l>,
    ) -> Option<ImportFault> {
        let object = line.values.get(column)?;
        self.note(object);
        // A pattern is no object.
        if object.is_empty() || object.contains(['*', '/']) {
            return None;
        }
        let named = has_verb(object);
        let name = object.rsplit_once(':').map_or(&**object, |(name, _)| name);
        let (other, first) = *names.entry(name).or_insert((named, line.number));
        (other != named).then(|| {
            line.fault(format!(
                "`{name}` is used with a verb and without one; use one form, as in line {first}"
            ))
        })
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

/// Returns whether an object, or a pattern of objects, has a verb. A `:` after `/`, `?` or `^` belongs to a pattern.
fn has_verb(object: &str) -> bool {
    let before = object.match_indices(':').map(|(at, _)| object.get(..at).unwrap_or_default());
    before.into_iter().any(|before| !before.ends_with(['/', '?', '^']))
}
