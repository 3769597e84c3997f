//! The objects of a policy file, and which of them Portcullis could not tell apart.

use std::collections::BTreeMap;

/// The objects of the file so far, by their names, with their first lines.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// Objects without a verb, such as `data1`.
    alone: BTreeMap<String, usize>,
    /// Names that have verbs, such as `chart` of `chart:read`.
    named: BTreeMap<String, usize>,
    /// Names that have the pattern `<name>:*`.
    patterns: BTreeMap<String, usize>,
}

impl Objects {
    /// Notes an object, which is read as a pattern where it ends in `:*`.
    ///
    /// # Errors
    /// It and an object of another line could not be told apart, or mean something else in Portcullis.
    pub(super) fn note(&mut self, obj: &str, line: usize) -> Result<(), String> {
        let named = obj.rsplit_once(':');
        let name = named.map_or(obj, |(name, _)| name);
        let (own, others) = match named {
            Some(_) => (&mut self.named, &self.alone),
            None => (&mut self.alone, &self.named),
        };
        if let Some(other) = others.get(name) {
            return Err(format!(
                "`{name}` is an object by itself, and a name with verbs: see line {other}"
            ));
        }
        own.entry(name.to_owned()).or_insert(line);
        if obj.ends_with(":*") {
            self.patterns.entry(name.to_owned()).or_insert(line);
        }
        let below = |name: &str, pattern: &str| {
            name.strip_prefix(pattern).is_some_and(|rest| rest.starts_with(':'))
        };
        let within = |pattern: &&String| self.named.keys().any(|name| below(name, pattern));
        match self.patterns.keys().find(within) {
            None => Ok(()),
            Some(pattern) => Err(format!(
                "`{pattern}:*` covers names with another `:` in Casbin, but not in Portcullis"
            )),
        }
    }
}
