//! The checks that a search considers.

use crate::condition::{AttributePath, RequestField};
use crate::resource::{ResourcePattern, object_of, split_resource};

/// The checks that a search considers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'c> {
    /// The resources of the checks.
    pub(super) resource: &'c ResourcePattern,
    /// An attribute that the checks do not have.
    pub(super) absent: Option<&'c AttributePath>,
}

impl<'c> Scope<'c> {
    /// Returns the only value that the field has; `None` if it has several.
    pub(super) fn only(&self, path: &AttributePath) -> Option<&'c str> {
        match (path, self.resource) {
            (AttributePath::Request(RequestField::Resource), ResourcePattern::Exact(resource)) => {
                Some(resource)
            }
            (AttributePath::Request(RequestField::Object), ResourcePattern::Exact(resource)) => {
                Some(object_of(resource))
            }
            (AttributePath::Request(RequestField::Object), ResourcePattern::Name(name)) => {
                Some(name)
            }
            _ => None,
        }
    }

    /// Returns whether the attribute can have this text.
    pub(super) fn admits(&self, path: &AttributePath, text: &str) -> bool {
        match (path, self.only(path)) {
            (_, Some(only)) => text == only,
            (AttributePath::Request(RequestField::Resource), None) => {
                split_resource(text).is_some() && self.resource.matches(text)
            }
            _ => true,
        }
    }

    /// Returns whether the checks do not have the attribute.
    pub(super) fn lacks(&self, path: &AttributePath) -> bool {
        self.absent == Some(path)
    }
}
