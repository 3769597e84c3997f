//! The roles that include others: `roles.yaml`, and the `roles` of a bundle.

use portcullis_engine::Json;
use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::role::{NewRole, RoleGraph};

use crate::unique::each_once;

/// Reads roles, each once, as many as a tenant may have, none of which includes itself.
pub(super) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<NewRole>> {
    let roles = list(NewRole::read)(json, at, problems)?;
    each_once(roles.iter().map(|role| &role.name), "`name`", at, problems);
    let graph = RoleGraph::new(roles.iter().map(|role| (&*role.name, &*role.includes)));
    match graph.exceeded_limit() {
        Some(limit) => problems.expected(at, limit),
        None => graph.note_circles(&roles, at, problems),
    }
    Some(roles)
}
