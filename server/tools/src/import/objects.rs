//! The objects of a policy file, and the resources that they become.

use std::collections::BTreeMap;

use super::fault::ImportFault;
use super::lines::Line;
use super::model::Model;

/// The forms of the objects of the file.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// There is an object without a verb, such as `data1`.
    alone: bool,
    /// There is an object with a verb, such as `chart:read`.
    named: bool,
}

impl Objects {
    /// Reads the objects of the lines. Notes those that would become the same resource in Portcullis.
    pub(super) fn of(model: &Model, lines: &[Line], faults: &mut Vec<ImportFault>) -> Self {
        let mut objects = Self::default();
        let mut names = BTreeMap::<&str, (bool, usize)>::new();
        for column in model.object_columns() {
            for line in lines {
                let Some(object) = line.values.get(column) else { continue };
                // A pattern is no object.
                if object.is_empty() || object.contains(['*', '/']) {
                    continue;
                }
                let named = object.contains(':');
                let name = object.rsplit_once(':').map_or(&**object, |(name, _)| name);
                objects.named |= named;
                objects.alone |= !named;
                let (other, first) = *names.entry(name).or_insert((named, line.number));
                if other != named {
                    faults.push(line.fault(format!(
                        "`{name}` is used with a verb and without one; see line {first}"
                    )));
                }
            }
        }
        objects
    }

    /// Returns the path of the attribute that is Casbin's object.
    ///
    /// # Errors
    /// The file has objects of both kinds, so that no attribute is the object of every request.
    pub(super) fn attribute(&self) -> Result<&'static str, String> {
        match (self.named, self.alone) {
            (true, true) => {
                Err("a pattern of objects needs objects that all have a verb, or none".to_owned())
            }
            (true, false) => Ok("request.resource"),
            (false, _) => Ok("request.object"),
        }
    }
}
