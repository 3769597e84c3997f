//! What every handler can reach.

use std::ops::Deref;
use std::sync::Arc;

use crate::auth::Verifier;
use crate::clock::Clock;
use crate::ids::Ids;
use crate::model::Authorship;
use crate::plans::Plans;
use crate::storage::Store;

/// The wired service. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct App(Arc<Parts>);

/// What an [`App`] is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) plans: Plans,
    /// `None`: bearer tokens are switched off.
    pub(crate) verifier: Option<Verifier>,
    pub(crate) manager_roles: Vec<String>,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
}

impl App {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// `actor` as the author of a change that happens now.
    pub(crate) fn authored_by(&self, actor: &str) -> Authorship {
        Authorship { actor: actor.to_owned(), at: self.clock.now().into() }
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
