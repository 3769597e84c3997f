//! The metrics of this process, for Prometheus.

use axum::extract::State;
use axum::response::Response;
use portcullis_http::text_answer;
use portcullis_runtime::app::App;

/// The text format of OpenMetrics 1.0, which Prometheus reads.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Shows figures of this process, since it started.
///
/// For Prometheus. They name no tenant.
#[utoipa::path(
    get, path = "/metrics", tag = "Service", operation_id = "getMetrics",
    responses((
        status = 200, description = "The figures", body = String,
        content_type = "application/openmetrics-text",
    )),
)]
pub(super) async fn metrics(State(app): State<App>) -> Response {
    text_answer::text(OPEN_METRICS, |text| app.render_metrics(text))
}
