//! A resolver that collects handles of the host's resources.

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, Descriptor, Error, Host, Kind, Request, Resolution, Resolver, Value,
    export_resolver,
};

// The unchanged interfaces, since they are merged with those of the standard library.
portcullis_guest_sdk::wit_bindgen::generate!({
    inline: "
        package test:handles;
        world handles { import wasi:clocks/monotonic-clock@0.2.0; }
        package wasi:io@0.2.0 {
            interface poll {
                resource pollable {
                    ready: func() -> bool;
                    block: func();
                }
                poll: func(in: list<borrow<pollable>>) -> list<u32>;
            }
        }
        package wasi:clocks@0.2.0 {
            interface monotonic-clock {
                use wasi:io/poll@0.2.0.{pollable};
                type instant = u64;
                type duration = u64;
                now: func() -> instant;
                resolution: func() -> duration;
                subscribe-instant: func(when: instant) -> pollable;
                subscribe-duration: func(when: duration) -> pollable;
            }
        }
    ",
    generate_all,
    runtime_path: "portcullis_guest_sdk::wit_bindgen::rt",
});

struct Handles;

impl Resolver for Handles {
    fn describe() -> Descriptor {
        Descriptor {
            attributes: vec![AttributeSpec::new("count", Kind::Number, 0)],
            ..Descriptor::new("handles", "1.0.0")
        }
    }

    fn resolve(_: &Request, _: &impl Host) -> Result<Resolution, Error> {
        let kept: Vec<_> =
            (0..10_000).map(|_| wasi::clocks::monotonic_clock::subscribe_duration(1)).collect();
        Ok(Attribute::new("count", Value::Number(kept.len() as f64)).into())
    }
}

export_resolver!(Handles);
