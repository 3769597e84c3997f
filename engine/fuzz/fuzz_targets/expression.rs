//! Feeds arbitrary texts to the reader of expressions. It must not panic, and each form of what it accepts must be read
//! into the same condition; a formatted text stays as it is.

#![no_main]

#[path = "../../tests/forms/every_form.rs"]
mod every_form;

use libfuzzer_sys::fuzz_target;
use portcullis_engine::expression::parse;

fuzz_target!(|text: &str| {
    if let Ok(condition) = parse(text) {
        every_form::verify(&condition);
    }
});
