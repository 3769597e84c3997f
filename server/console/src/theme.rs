//! The choice of a theme, which the browser keeps.

use axum::extract::Request;
use axum::response::Response;
use http::Uri;
use portcullis_http::error::ApiError;
use portcullis_http::form_body::FormBody;

use crate::address::{Address, see_other};
use crate::cookies::Cookies;
use crate::frame::THEMES;
use crate::stranger::Stranger;
use crate::{forms, problem};

/// Keeps the theme of the form, and goes back to the page that has it.
pub(crate) async fn choose(stranger: Stranger, request: Request) -> Response {
    let Stranger { app, address, headers, .. } = &stranger;
    let chosen = async {
        stranger.must_know(&[])?;
        let form = FormBody::read(request).await?;
        if !forms::is_own(app, address, headers, &form, &[]) {
            return Err(problem::foreign_form());
        }
        let wanted = form.get("theme").unwrap_or_default();
        let theme = THEMES.iter().map(|(theme, _)| *theme).find(|theme| *theme == wanted);
        let theme = theme
            .ok_or_else(|| ApiError::bad_request("`theme` must be `light`, `dark` or `system`"))?;
        let to = form.get("to").filter(|to| is_page(address, to));
        let mut answer = see_other(to.unwrap_or(&address.path("/console")));
        let cookies = Cookies::of(address);
        cookies.set_theme(answer.headers_mut(), theme);
        cookies.set_word(answer.headers_mut(), "theme");
        Ok(answer)
    };
    let answer = chosen.await;
    stranger.show(answer)
}

/// Returns whether `to` is a page of the console of some tenant, or the first one.
fn is_page(address: &Address, to: &str) -> bool {
    let Ok(uri) = to.parse::<Uri>() else { return false };
    let folder = address.path("/console/");
    let tenant = uri.path().strip_prefix(&folder).and_then(|rest| rest.split('/').next());
    let tenant =
        tenant.and_then(|tenant| percent_encoding::percent_decode_str(tenant).decode_utf8().ok());
    to == address.path("/console")
        || tenant.is_some_and(|tenant| address.page_of(&tenant, to).is_some())
}
