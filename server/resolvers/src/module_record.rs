//! The record of a module: the descriptor and the imports of the compiled component, as the store keeps them.

use portcullis_model::resolver::{AttributeRecord, ConfigKeyRecord, ModuleRecord};
use portcullis_resolver_host::{AttributeSpec, ConfigKey, Module};

/// Returns the record of `module`.
pub fn module_record(module: &Module) -> ModuleRecord {
    let descriptor = &module.descriptor;
    ModuleRecord {
        name: descriptor.name.clone(),
        version: descriptor.version.clone(),
        sha256: module.digest.to_string(),
        size: module.size as u64,
        imports: module.imports.clone(),
        attributes: descriptor.attributes.iter().map(attribute_record).collect(),
        inputs: descriptor.inputs.clone(),
        config_keys: descriptor.config_keys.iter().map(config_key_record).collect(),
        endpoints: descriptor.endpoints.clone(),
    }
}

fn attribute_record(spec: &AttributeSpec) -> AttributeRecord {
    let AttributeSpec { name, kind, default_ttl_ms } = spec;
    AttributeRecord { name: name.clone(), kind: (*kind).into(), default_ttl_ms: *default_ttl_ms }
}

fn config_key_record(key: &ConfigKey) -> ConfigKeyRecord {
    ConfigKeyRecord { name: key.name.clone(), required: key.required }
}
