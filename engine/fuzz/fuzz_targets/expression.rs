//! Feeds arbitrary texts to the reader of expressions. It must not panic, and what it accepts must be printed as a text
//! that it reads into the same condition.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_engine::expression::{parse, print};

fuzz_target!(|text: &str| {
    if let Ok(condition) = parse(text) {
        let printed = print(&condition);
        assert_eq!(parse(&printed), Ok(condition), "{printed}");
    }
});
