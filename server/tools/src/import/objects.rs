//! The objects of a policy file. Finds those that would become the same resource in Portcullis.

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
    /// Notes an object. An object that ends in `:*` is a pattern.
    ///
    /// # Errors
    /// Together with an object of another line, it would mean something else in Portcullis.
    pub(super) fn note(&mut self, obj: &str, line: usize) -> Result<(), String> {
        let named = obj.rsplit_once(':');
        let name = named.map_or(obj, |(name, _)| name);
        let (own, others) = match named {
            Some(_) => (&mut self.named, &self.alone),
            None => (&mut self.alone, &self.named),
        };
        if let Some(other) = others.get(name) {
            return Err(format!("`{name}` is used with a verb and without one; see line {other}"));
        }
        own.entry(name.to_owned()).or_insert(line);
        if obj.ends_with(":*") {
            self.patterns.entry(name.to_owned()).or_insert(line);
        }
        let covers_more = |pattern: &&String| self.named.keys().any(|name| is_below(name, pattern));
        match self.patterns.keys().find(covers_more) {
            None => Ok(()),
            Some(pattern) => Err(format!(
                "`{pattern}:*` covers names with another `:` in Casbin, but not in Portcullis"
            )),
        }
    }
}

/// Returns whether `name` is `parent` with further segments.
fn is_below(name: &str, parent: &str) -> bool {
    name.strip_prefix(parent).is_some_and(|rest| rest.starts_with(':'))
}
