//! The forms of one condition, for the properties and for the fuzz target `expression`.

use portcullis_engine::{Condition, expression, json};

/// The widths of lines: every node is broken, some are, none is.
const WIDTHS: [usize; 3] = [0, 60, usize::MAX];

/// Verifies that each form of a condition is read into the same condition, and that a layout is a fixed point.
pub(crate) fn verify(condition: &Condition) {
    let line = expression::print(condition);
    assert_eq!(expression::parse(&line).as_ref(), Ok(condition), "{line}");
    assert_eq!(expression::print_within(condition, line.len()).as_ref(), Some(&line));
    assert_eq!(expression::print_within(condition, line.len() - 1), None);
    for width in WIDTHS {
        let layout = expression::layout(condition, width);
        let read = expression::parse(&layout);
        assert_eq!(read.as_ref(), Ok(condition), "{layout}");
        assert_eq!(read.map(|read| expression::layout(&read, width)).as_ref(), Ok(&layout));
        assert!(width < usize::MAX || layout == line, "{layout}");
    }
    let tree = condition.to_json().map(|tree| tree.to_string()).unwrap_or_default();
    let json = json::parse(tree.as_bytes());
    let read = json.as_ref().map(|json| Condition::parse(json));
    assert!(matches!(&read, Ok(Ok(read)) if read == condition), "{tree}");
}
