//! Modules: compilation, admission, and the binding to a manifest.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::bindings::GuestPre;
use crate::contract::{Descriptor, Request};
use crate::digest::Digest;
use crate::environment::Grant;
use crate::error::{GrantError, LoadError};
use crate::imports::is_offered;
use crate::inputs::{Inputs, WantedAttributes};
use crate::limits::{
    ATTRIBUTES, CONFIG_KEYS, ENDPOINTS, INPUTS, Limits, MEMORY_BYTES, MODULE_BYTES, NAME_BYTES,
    TIMEOUT_MAX,
};
use crate::log::cut;
use crate::store::CallState;

/// Bytes of a module beside its code, as `cargo bench -p portcullis-resolver-host` measures them.
const OVERHEAD: usize = 70 << 10;

/// A component that is admitted as a resolver.
pub struct Module {
    /// The SHA-256 of the module's bytes.
    pub digest: Digest,
    /// The size of the module in bytes.
    pub size: usize,
    /// The names of the imports. Toolchains remove unused imports, so these are the functions that the module can call.
    pub imports: Vec<String>,
    /// The module's description of itself.
    pub descriptor: Descriptor,
    pub(crate) inputs: Inputs,
    pub(crate) pre: GuestPre<CallState>,
}

impl Module {
    /// Returns the bytes that the module takes in memory: its compiled code, which may be a mapped file, and what belongs
    /// to it.
    pub fn memory_bytes(&self) -> usize {
        let code = self.pre.instance_pre().component().image_range();
        OVERHEAD + code.end.addr().saturating_sub(code.start.addr())
    }

    /// Makes the request for attributes. It contains only the inputs that the descriptor declares. The call may take up to
    /// `budget`.
    pub fn request(&self, wanted: WantedAttributes<'_>, budget: Duration) -> Request {
        self.inputs.request(wanted, budget)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("descriptor", &self.descriptor).finish_non_exhaustive()
    }
}

/// A module that is bound to the grant of its manifest: it can be called.
pub struct BoundResolver {
    pub(crate) module: Arc<Module>,
    pub(crate) grant: Arc<Grant>,
    pub(crate) limits: Limits,
    /// The tenant in whose share of the instances the calls run.
    pub(crate) tenant: Arc<str>,
}

impl BoundResolver {
    /// Returns the module.
    pub fn module(&self) -> &Module {
        &self.module
    }
}

impl fmt::Debug for BoundResolver {
    /// Leaves out the grant, whose endpoints have secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (module, limits) = (&self.module, &self.limits);
        f.debug_struct("Resolver")
            .field("module", module)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

/// Verifies that a grant has everything that the module needs, and nothing else, and that the limits are in range.
pub(crate) fn check_grant(
    descriptor: &Descriptor,
    grant: &Grant,
    limits: Limits,
) -> Result<(), GrantError> {
    for key in &descriptor.config_keys {
        if key.required && !grant.config.contains_key(&key.name) {
            return Err(GrantError::MissingKey(key.name.clone()));
        }
    }
    for key in grant.config.keys() {
        if !descriptor.config_keys.iter().any(|known| known.name == *key) {
            return Err(GrantError::UnknownKey(key.clone()));
        }
    }
    for endpoint in &descriptor.endpoints {
        if !grant.endpoints.has(endpoint) {
            return Err(GrantError::MissingEndpoint(endpoint.clone()));
        }
    }
    if limits.timeout.is_zero() || limits.timeout > TIMEOUT_MAX {
        return Err(GrantError::Limit("the timeout must be above 0 and at most 30 s"));
    }
    if limits.memory_bytes == 0 || limits.memory_bytes > MEMORY_BYTES {
        return Err(GrantError::Limit("the memory must be above 0 and at most 64 MiB"));
    }
    Ok(())
}

/// Verifies that the bytes can be a component: their size and header.
pub(crate) fn check_bytes(bytes: &[u8]) -> Result<(), LoadError> {
    if bytes.len() > MODULE_BYTES {
        return Err(LoadError::TooLarge(bytes.len()));
    }
    // Magic number, version, layer: https://github.com/WebAssembly/component-model/blob/main/design/mvp/Binary.md
    let fault = match bytes {
        // The compiler judges the version, which is in the two bytes between.
        [b'\0', b'a', b's', b'm', _, _, 1, 0, ..] => return Ok(()),
        [b'\0', b'a', b's', b'm', _, _, 0, 0, ..] => {
            "this is a core module; the target `wasm32-wasip2` gives a component"
        }
        [b'\0', b'a', b's', b'm', ..] => "the header is cut off or unknown",
        _ => "the bytes do not begin with `\\0asm`",
    };
    Err(LoadError::NotAComponent(fault.to_owned()))
}

/// Compiles the component.
pub(crate) fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, LoadError> {
    Component::from_binary(engine, bytes)
        .map_err(|error| LoadError::Compile(cut(format!("{error:#}"))))
}

/// Verifies the component's imports and exports. Returns the names of its imports, and the component ready for
/// instantiation.
pub(crate) fn link(
    engine: &Engine,
    linker: &Linker<CallState>,
    component: &Component,
) -> Result<(Vec<String>, GuestPre<CallState>), LoadError> {
    let shape = component.component_type();
    let imports: Vec<_> = shape.imports(engine).map(|(name, _)| name.to_owned()).collect();
    // Stored code is not judged again, so its imports are compared here.
    let refused: Vec<_> = imports.iter().filter(|name| !is_offered(name)).cloned().collect();
    if !refused.is_empty() {
        return Err(LoadError::Imports(refused));
    }
    let pre = linker.instantiate_pre(component).map_err(contract_error)?;
    Ok((imports, GuestPre::new(pre).map_err(contract_error)?))
}

fn contract_error(error: wasmtime::Error) -> LoadError {
    LoadError::Contract(cut(format!("{error:#}")))
}

/// Verifies a descriptor, on which policies and manifests rely. The guest chose every text, so each is bounded. Returns
/// the inputs that the module gets from a check.
pub(crate) fn check_descriptor(descriptor: &Descriptor) -> Result<Inputs, LoadError> {
    check_counts(descriptor)?;
    check_names(descriptor)?;
    Inputs::parse(&descriptor.inputs).map_err(|unknown| {
        LoadError::Descriptor(format!(
            "input `{unknown}`: expected `subject`, `domain`, `resource`, `action`, `roles`, `user.<name>`, \
             `resource.<name>`, `action.<name>`, `context.<name>`, `relation.<name>`, or one of these with `*`"
        ))
    })
}

/// Verifies the lengths of the lists.
fn check_counts(descriptor: &Descriptor) -> Result<(), LoadError> {
    if descriptor.attributes.is_empty() || descriptor.attributes.len() > ATTRIBUTES {
        let count = descriptor.attributes.len();
        let fault = format!("{count} attributes: expected 1 to {ATTRIBUTES}");
        return Err(LoadError::Descriptor(fault));
    }
    for (what, count, most) in [
        ("config keys", descriptor.config_keys.len(), CONFIG_KEYS),
        ("endpoints", descriptor.endpoints.len(), ENDPOINTS),
        ("inputs", descriptor.inputs.len(), INPUTS),
    ] {
        if count > most {
            return Err(LoadError::Descriptor(format!("{count} {what}: expected at most {most}")));
        }
    }
    Ok(())
}

/// Verifies every name: its length, its characters, and that each list has it once.
fn check_names(descriptor: &Descriptor) -> Result<(), LoadError> {
    let lists: [(&str, Vec<&String>); 6] = [
        ("name", vec![&descriptor.name]),
        ("version", vec![&descriptor.version]),
        ("attribute", descriptor.attributes.iter().map(|spec| &spec.name).collect()),
        ("config key", descriptor.config_keys.iter().map(|key| &key.name).collect()),
        ("endpoint", descriptor.endpoints.iter().collect()),
        ("input", descriptor.inputs.iter().collect()),
    ];
    for (what, names) in lists {
        let mut seen = HashSet::new();
        for name in names {
            if name.is_empty() || name.len() > NAME_BYTES || name.chars().any(char::is_control) {
                let name = cut(name.clone());
                return Err(LoadError::Descriptor(format!(
                    "{what} {name:?}: expected 1 to {NAME_BYTES} bytes without control characters"
                )));
            }
            if !seen.insert(name) {
                return Err(LoadError::Descriptor(format!("{what} `{name}` twice")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{AttributeSpec, ConfigKey, Kind};

    fn descriptor(config_keys: usize, endpoints: usize, inputs: usize) -> Descriptor {
        let names = |count: usize| (0..count).map(|index| format!("user.{index}"));
        let key = |name| ConfigKey { name, required: false };
        Descriptor {
            name: "large".to_owned(),
            version: "1.0.0".to_owned(),
            attributes: vec![AttributeSpec {
                name: "a".to_owned(),
                kind: Kind::Text,
                default_ttl_ms: 0,
            }],
            config_keys: names(config_keys).map(key).collect(),
            endpoints: names(endpoints).collect(),
            inputs: names(inputs).collect(),
            ext: vec![],
        }
    }

    #[test]
    fn a_descriptor_has_so_much_of_everything_and_no_more() {
        assert!(check_descriptor(&descriptor(CONFIG_KEYS, ENDPOINTS, INPUTS)).is_ok());
        for (one_more, what) in [
            (descriptor(CONFIG_KEYS + 1, 0, 0), "65 config keys"),
            (descriptor(0, ENDPOINTS + 1, 0), "65 endpoints"),
            (descriptor(0, 0, INPUTS + 1), "65 inputs"),
        ] {
            let error = check_descriptor(&one_more).expect_err("one too many");
            assert_eq!(
                error.to_string(),
                format!("`describe` answers {what}: expected at most 64")
            );
        }
    }
}
