//! The bindings that wasmtime generates from `guest-sdk/wit/resolver.wit`.
#![allow(missing_docs, unreachable_pub, clippy::allow_attributes, reason = "generated code")]

wasmtime::component::bindgen!({
    path: "../../guest-sdk/wit",
    world: "guest",
    imports: {
        "portcullis:resolver/http.send": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    require_store_data_send: true,
    additional_derives: [PartialEq],
});
