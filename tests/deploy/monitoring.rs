//! The dashboard and the alerts, against the metrics that the service exposes and the operations guide.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{document, programs, text};
use crate::support::process::{finish, repository};
use crate::support::{Request, Server};

const DASHBOARD: &str = "deploy/grafana/portcullis.json";
const ALERTS: &str = "deploy/prometheus/portcullis.rules.yml";

/// The faults of the queries of a dashboard and of alerts.
fn faults(bin: &Path, metrics: &Path, dashboard: &Path, alerts: &Path) -> Vec<String> {
    let mut judge = Command::new(bin.join("python"));
    judge.arg(repository().join("tests/deploy/queries.py")).args([metrics, dashboard, alerts]);
    judge.stdin(Stdio::null());
    let ended = finish(judge);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    ended.out.lines().map(str::to_owned).collect()
}

#[test]
fn every_query_names_metrics_and_labels_that_the_service_exposes() {
    let Some(bin) = programs() else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let exposed = Request::new("GET /metrics").send(Server::shared().address).is(200).text;
    let metrics = file("metrics", exposed);
    let (dashboard, alerts) = (repository().join(DASHBOARD), repository().join(ALERTS));
    assert_eq!(faults(&bin, &metrics, &dashboard, &alerts), [""; 0]);
    let changed = text(DASHBOARD)
        .replace("portcullis_connections_refused_total", "portcullis_closed_total")
        .replace("sum by (reason) (", "sum by (cause) (");
    let dashboard = file("dashboard.json", changed);
    let changed = text(ALERTS).replace(r#"outcome=~"dead|gone""#, r#"outcome="lost""#);
    let alerts = file("alerts.yml", changed.replace("> 0.05", ">"));
    assert_eq!(
        faults(&bin, &metrics, &dashboard, &alerts),
        [
            "panel `Connections`: no metric `portcullis_closed_total`",
            "panel `Name lookups`: `portcullis_name_lookups_refused_total` has no label `cause`",
            "alert `PortcullisChecksSlow`: invalid promql query",
            "alert `PortcullisDeliveriesDead`: no series of `portcullis_webhook_attempts_total` has the `outcome` of \
             `lost`",
        ]
    );
}

#[test]
fn every_alert_has_a_line_in_the_guide_and_a_summary() {
    let rules = document(ALERTS);
    let rules = rules["groups"][0]["rules"].as_array().unwrap();
    for rule in rules {
        assert!(rule["annotations"]["summary"].is_string(), "{rule}");
        assert!(["page", "ticket"].contains(&rule["labels"]["severity"].as_str().unwrap()));
    }
    let names: Vec<_> = rules.iter().map(|rule| rule["alert"].as_str().unwrap()).collect();
    let guide = text("docs/operations.md");
    let rows = guide.lines().filter_map(|line| line.strip_prefix("| `Portcullis"));
    let described: Vec<_> =
        rows.map(|row| format!("Portcullis{}", row.split('`').next().unwrap())).collect();
    assert_eq!(names, described);
}
