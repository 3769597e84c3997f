//! The entities of a tenant folder: `entities.yaml`.

use portcullis_engine::Json;
use portcullis_engine::entities::{EntityInput, EntityTable};
use portcullis_engine::fields::list;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::Types;
use portcullis_model::entity::NewEntity;

use crate::unique::each_once;

/// Reads entities, each once, whose properties are those that `types` declare. Returns them as a table, too.
pub(super) fn read(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
    types: &Types,
) -> Option<(EntityTable, Vec<NewEntity>)> {
    let entities = list(NewEntity::read)(json, at, problems)?;
    let names = entities.iter().map(|one| format!("{}:{}", one.kind, one.id));
    each_once(names, "`type` and `id`", at, problems);
    for (index, one) in entities.iter().enumerate() {
        let at = at.index(index);
        types.check_properties(&one.kind, &one.properties, &at.key("properties"), problems);
    }
    let mut builder = EntityTable::builder();
    // The list was read whole, so that each item has its entity.
    let items = json.as_array().unwrap_or_default().iter().zip(&entities);
    let pushed = items.map(|(item, one)| {
        builder.push(&EntityInput {
            entity_type: &one.kind,
            id: &one.id,
            roles: item.get("roles").and_then(Json::as_array).unwrap_or_default(),
            domain_roles: item.get("domain_roles").and_then(Json::as_object).unwrap_or_default(),
            properties: item.get("properties").and_then(Json::as_object).unwrap_or_default(),
        })
    });
    let pushed = pushed.collect::<Result<(), _>>();
    match pushed.and_then(|()| builder.finish()) {
        Ok(table) => Some((table, entities)),
        Err(full) => {
            problems.expected(at, format!("fewer entities: {full}"));
            None
        }
    }
}
