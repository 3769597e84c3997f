//! The request and the answer of a call.

use std::time::Duration;

use portcullis_resolver_host::{AnsweredAttribute, Value};

use super::support::{GENEROUS, answers, behave, behaviours, directory, host, request, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attributes_are_answered_with_their_ttl() {
    let host = host();
    let directory = directory(&host).await;
    let outcome = host.resolve(&directory, request("ann", &["manager", "department"])).await;
    let expected = [
        AnsweredAttribute {
            name: "manager".to_owned(),
            value: Some(Value::Boolean(true)),
            ttl: Duration::from_secs(1),
        },
        AnsweredAttribute {
            name: "department".to_owned(),
            value: Some(Value::Text("sales".to_owned())),
            ttl: Duration::from_secs(5),
        },
    ];
    assert_eq!(outcome.result.unwrap(), expected);
    assert!(outcome.log.lines.is_empty());
    assert!(outcome.memory_bytes >= 1 << 16, "{}", outcome.memory_bytes);
    assert!(outcome.elapsed > Duration::ZERO);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_absent_attribute_is_an_answer_and_silence_is_none() {
    let host = host();
    let directory = directory(&host).await;
    let outcome = host.resolve(&directory, request("stranger", &["department"])).await;
    let absent = AnsweredAttribute {
        name: "department".to_owned(),
        value: None,
        ttl: Duration::from_secs(60),
    };
    assert_eq!(outcome.result.unwrap(), [absent]);

    let resolver = behaviours(&host, GENEROUS, answers()).await;
    assert_eq!(behave(&host, &resolver, "silent").await.result.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn configuration_and_endpoints_are_those_of_the_grant() {
    let host = host();
    let resolver = behaviours(&host, GENEROUS, answers()).await;
    for (subject, expected) in [("greet", "hello"), ("other key", "None"), ("fetch", "a page")] {
        assert_eq!(text(behave(&host, &resolver, subject).await), Ok(expected.to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standard_library_finds_an_empty_world_at_the_time_of_the_check() {
    let host = host();
    let resolver = behaviours(&host, GENEROUS, answers()).await;
    let text = text(behave(&host, &resolver, "standard library").await).unwrap();
    let words: Vec<u64> = text.split(' ').map(|word| word.parse().unwrap()).collect();
    let [variables, arguments, now, elapsed] = words[..] else { panic!("{text}") };
    // The guest sets one variable itself.
    assert_eq!((variables, arguments), (1, 0));
    assert!((1_700_000_000_000..1_700_000_060_000).contains(&now), "{now}");
    assert!(elapsed < 60, "{elapsed}");
}
