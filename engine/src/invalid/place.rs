//! Places in an input, as JSON pointers (RFC 6901).

use std::fmt;

/// A place in an input: a JSON pointer that is written out only for a fault.
#[derive(Debug)]
pub struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    step: Step<'p>,
}

#[derive(Debug)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl Place<'static> {
    /// Returns the place of the whole input.
    pub fn root() -> Self {
        Self { parent: None, step: Step::Root }
    }
}

impl<'p> Place<'p> {
    /// Returns the place of the member `key` of the object here.
    pub fn key(&'p self, key: &'p str) -> Place<'p> {
        Place { parent: Some(self), step: Step::Key(key) }
    }

    /// Returns the place of the item `index` of the array here.
    pub fn index(&'p self, index: usize) -> Place<'p> {
        Place { parent: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Key(key) => write_key(key, f),
            Step::Index(index) => write!(f, "/{index}"),
        }
    }
}

/// Writes a member as RFC 6901 demands. Does not copy it, because it may be long and only its beginning wanted.
fn write_key(key: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("/")?;
    for part in key.split_inclusive(['~', '/']) {
        if let Some(before) = part.strip_suffix('~') {
            write!(f, "{before}~0")?;
        } else if let Some(before) = part.strip_suffix('/') {
            write!(f, "{before}~1")?;
        } else {
            f.write_str(part)?;
        }
    }
    Ok(())
}
