//! The parts of a write that a plan does not show.

use portcullis_model::Authorship;
use portcullis_model::wanted_webhook::WantedWebhook;
use portcullis_storage::encryption::KeyRing;

use super::ready::ReadyResolver;

/// The JSON pointer of the roles of a bundle.
pub(super) const ROLES: &str = "/bundle/roles";

/// The parts of a write that a plan does not show.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'e> {
    pub keys: &'e KeyRing,
    pub by: &'e Authorship,
    /// The resolvers of the bundle.
    pub resolvers: &'e [ReadyResolver],
    /// The webhooks of the bundle.
    pub webhooks: &'e [WantedWebhook],
}
