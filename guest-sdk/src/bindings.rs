//! The bindings that wit-bindgen generates from `wit/resolver.wit`.
#![allow(clippy::allow_attributes_without_reason, missing_docs, reason = "generated code")]

wit_bindgen::generate!({
    path: "wit",
    world: "guest",
    pub_export_macro: true,
    default_bindings_module: "portcullis_guest_sdk::bindings",
    runtime_path: "portcullis_guest_sdk::wit_bindgen::rt",
    additional_derives: [PartialEq],
});
