//! The page of a person's sessions.

use askama::Template;
use axum::response::Response;
use portcullis_http::error::ApiError;
use portcullis_http::path::RecordId;
use portcullis_model::session::SessionRecord;
use portcullis_operations::sessions::live;
use portcullis_operations::sessions::live::{Ending, list};

use crate::cookies::Cookies;
use crate::times::ShownTime;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    sessions: Vec<ShownSession>,
    csrf: String,
}

struct ShownSession {
    id: String,
    began: ShownTime,
    used: ShownTime,
    ends: ShownTime,
    by: String,
    is_this: bool,
}

/// Shows the sessions, newest first.
pub(crate) async fn page(visit: Visit) -> Result<Response, ApiError> {
    let sessions = list(&visit.app, &visit.session).await?;
    let own = visit.session.record.id;
    let shown = sessions.into_iter().rev().map(|record| {
        let SessionRecord { id, issuer, created_at, used_at, ends_at, .. } = record;
        ShownSession {
            id: id.to_string(),
            began: ShownTime::of(created_at),
            used: ShownTime::of(used_at),
            ends: ShownTime::of(ends_at),
            by: issuer.unwrap_or_else(|| "a link of the operator".to_owned()),
            is_this: id == own,
        }
    });
    let content = SessionsPage { sessions: shown.collect(), csrf: visit.frame.csrf().to_owned() };
    visit.frame.show("Sessions", &content)
}

/// Ends one session.
pub(crate) async fn end(visit: Visit) -> Result<Response, ApiError> {
    let id = RecordId::from_text(visit.form.get("id").unwrap_or_default()).known("session")?;
    live::end(&visit.app, &visit.session, Ending::One(id), &visit.origin()).await?;
    let mut answer = visit.done("sessions", "ended");
    if id == visit.session.record.id {
        Cookies::of(&visit.address).clear_session(answer.headers_mut(), &visit.tenant.id);
    }
    Ok(answer)
}
