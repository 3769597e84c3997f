//! The attributes that the rows of a list supply.

use crate::condition::AttributePath;
use crate::fields::typed;
use crate::invalid::{Place, Problems};
use crate::json::Json;
use crate::tenant_facts::Precedence;

/// The maximum number of entries.
const MAX_ENTRIES: usize = 256;

/// Completes "expected …".
const ENTRY: &str = "`resource`, `user`, or one attribute of these, such as `resource.owner`; `user.roles` is always \
    known, because roles decide which rules match";

/// The attributes that the rows of a list supply. The request leaves them out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowAttributes {
    user: bool,
    resource: bool,
    paths: Vec<AttributePath>,
    /// Whether rows replace what the directory supplies.
    replace_stored: bool,
}

impl RowAttributes {
    /// Returns the rows that supply every attribute of the resource.
    pub fn resource() -> Self {
        Self { resource: true, ..Self::for_requests() }
    }

    /// Returns the attributes of user and resource that neither the request nor the directory supplies.
    pub fn unsupplied() -> Self {
        Self { user: true, resource: true, ..Self::default() }
    }

    /// Returns no attributes, of rows that are to the directory as requests are.
    fn for_requests() -> Self {
        Self { replace_stored: true, ..Self::default() }
    }

    /// Reads a list of kinds and paths.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let items = typed(json.as_array(), "an array", json, at, problems)?;
        if items.is_empty() || items.len() > MAX_ENTRIES {
            problems.expected(at, format!("1 to {MAX_ENTRIES} entries"));
            return None;
        }
        let mut rows = Self::for_requests();
        for (index, item) in items.iter().enumerate() {
            if item.as_str().and_then(|text| rows.add(text)).is_none() {
                problems.expected(&at.index(index), ENTRY);
            }
        }
        Some(rows)
    }

    /// Adds a kind or a path. `None` if it is neither.
    fn add(&mut self, text: &str) -> Option<()> {
        match text {
            "user" => self.user = true,
            "resource" => self.resource = true,
            path => {
                let path = AttributePath::parse(path).ok().filter(is_of_rows)?;
                self.paths.push(path);
            }
        }
        Some(())
    }

    /// Returns whether the rows supply the attribute.
    pub fn has(&self, path: &AttributePath) -> bool {
        let kind = match path {
            AttributePath::User(_) => self.user,
            AttributePath::Resource(_) => self.resource,
            _ => false,
        };
        is_of_rows(path) && (kind || self.paths.contains(path))
    }

    /// Returns whether the rows replace what the directory supplies.
    pub(super) fn replace(&self, precedence: Precedence) -> bool {
        self.replace_stored && precedence == Precedence::Request
    }

    /// Returns whether the rows supply the attribute `name` of the kind `user` or `resource`; `*` is any attribute of the
    /// kind.
    pub fn has_input(&self, kind: &str, name: &str) -> bool {
        let whole = match kind {
            "user" => self.user && name != "roles",
            "resource" => self.resource,
            _ => false,
        };
        whole
            || self.paths.iter().any(|path| match path {
                AttributePath::User(own) => kind == "user" && (name == "*" || **own == *name),
                AttributePath::Resource(own) => {
                    kind == "resource" && (name == "*" || **own == *name)
                }
                _ => false,
            })
    }
}

fn is_of_rows(path: &AttributePath) -> bool {
    match path {
        AttributePath::User(name) => **name != *"roles",
        AttributePath::Resource(_) => true,
        _ => false,
    }
}
