//! `docs/authzen.md`: each request is answered as the block behind it says.

use serde_json::Value;

use super::{ARCHIVED, fixture};
use crate::support::Request;

const DOCUMENT: &str = include_str!("../../docs/authzen.md");

#[test]
fn the_requests_of_the_document_are_answered_as_it_says() {
    let tenant = fixture(ARCHIVED);
    let token = tenant.token("gateway", &["service"]);
    let mut count = 0;
    for example in DOCUMENT.split("```http\n").skip(1) {
        let (request, rest) = example.split_once("```").expect("the block ends");
        let (_, answer) = rest.split_once("```json\n").expect("an answer");
        let (answer, _) = answer.split_once("```").expect("the block ends");
        let (route, body) = request.split_once('\n').expect("a route");
        let answer: Value = serde_json::from_str(answer).expect(answer);
        let sent = Request::new(route).token(&token);
        let sent = if body.is_empty() { sent } else { sent.body("application/json", body) };
        let found = tenant.send(&sent).is(200).json();
        for (member, value) in answer.as_object().expect("an object") {
            assert_eq!(found[member], *value, "{request}");
        }
        count += 1;
    }
    assert_eq!(count, 7);
}
