//! Statistics count the records and what was left out, exactly.

use portcullis_model::decision_stats::StatsDimension;

use super::*;

/// The first instant of a minute.
const MINUTE: i64 = 60_000;

fn allowed<'a>(id: Uuid, resource: &'a str) -> RecordedDecision<'a> {
    let undetermined = &|_: &mut crate::RecordTexts<'_>| {};
    RecordedDecision {
        decision: Effect::Allow,
        resource,
        undetermined,
        ..denial(id, "dana", Attributes::default())
    }
}

async fn counts(
    log: &DecisionLog,
    selection: &DecisionSelection,
    by: &[StatsDimension],
) -> (Vec<(Vec<String>, [u64; 3])>, bool) {
    let stats = log
        .stats("acme", selection, by, RegisteredResources::new(), ReadLimit::none())
        .await
        .expect("reads");
    let values = |group: &portcullis_model::decision_stats::DecisionGroup| {
        let values = group.values.iter().map(|(_, value)| value.clone()).collect();
        (values, [group.allow, group.deny, group.undetermined])
    };
    (stats.groups.iter().map(values).collect(), stats.complete)
}

#[tokio::test]
async fn left_out_allows_are_counted_and_listed_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, metrics) = open(folder.path());
    let (ids, json) = (Numbered::default(), attributes());
    log.append(&denial(ids.next(), "dana", sent(&json)), None).expect("is kept");
    for number in 0..30 {
        let id = ids.next();
        match number % 3 {
            0 => log.append(&allowed(id, "chart:read"), None).expect("is kept"),
            _ => log.leave_out(&allowed(id, "chart:read")),
        }
    }
    log.leave_out(&allowed(ids.next(), "chart:write"));
    assert_eq!((metrics.left_out_groups.get(), metrics.left_out.get()), (2, 0));
    let by = [StatsDimension::Resource, StatsDimension::Hour];
    let hour = "2026-05-19T12:00:00.000Z".to_owned();
    let expected = vec![
        (vec!["chart:read".to_owned(), hour.clone()], [30, 1, 1]),
        (vec!["chart:write".to_owned(), hour], [1, 0, 0]),
    ];
    let none = DecisionSelection::default();
    assert_eq!(counts(&log, &none, &by).await, (expected.clone(), true));
    assert_eq!((metrics.left_out_groups.get(), metrics.left_out.get()), (0, 21));
    log.close().await.expect("closes");
    assert_eq!(all(&log).await.len(), 11, "counts are not records of decisions");
    drop(log);
    let (log, _) = open(folder.path());
    assert_eq!(counts(&log, &none, &by).await, (expected, true));
    let other = log
        .stats("bolt", &none, &[], RegisteredResources::new(), ReadLimit::none())
        .await
        .expect("reads");
    assert_eq!(other.groups[0].allow, 0, "another tenant");
}

#[tokio::test]
async fn what_a_count_cannot_tell_makes_the_answer_incomplete() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let ids = Numbered::default();
    log.append(&allowed(ids.next(), "chart:read"), None).expect("is kept");
    log.leave_out(&allowed(ids.next(), "chart:read"));
    let at = |millis| Some(Timestamp::from_millis(NOON + millis));
    let none = DecisionSelection::default;
    let subject = Some("dana".to_owned());
    for (selection, by, expected) in [
        (none(), vec![], (2, true)),
        (DecisionSelection { to: at(MINUTE), ..none() }, vec![], (2, true)),
        (DecisionSelection { from: at(MINUTE), ..none() }, vec![], (0, true)),
        (DecisionSelection { to: at(5), ..none() }, vec![], (1, false)),
        (DecisionSelection { subject, ..none() }, vec![], (1, false)),
        (none(), vec![StatsDimension::Subject], (1, false)),
        (none(), vec![StatsDimension::Latency], (1, false)),
        (none(), vec![StatsDimension::Minute], (2, true)),
        (DecisionSelection { decision: Some(Effect::Deny), ..none() }, vec![], (0, true)),
        (DecisionSelection { resource: Some("x:y".to_owned()), ..none() }, vec![], (0, true)),
    ] {
        let (groups, complete) = counts(&log, &selection, &by).await;
        let allows: u64 = groups.iter().map(|(_, [allow, ..])| allow).sum();
        assert_eq!((allows, complete), expected, "{selection:?} {by:?}");
    }
}

#[tokio::test]
async fn groups_are_bounded_and_the_answer_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let ids = Numbered::default();
    for number in 0..5_000 {
        log.leave_out(&allowed(ids.next(), &format!("doc{number}:read")));
    }
    let none = DecisionSelection::default();
    let (groups, complete) = counts(&log, &none, &[StatsDimension::Resource]).await;
    assert_eq!((groups.len(), complete), (1_000, false));
    assert_eq!(counts(&log, &none, &[]).await.0[0].1, [5_000, 0, 0]);
}
