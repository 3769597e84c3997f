//! Pages that answer a question: a form that asks by `GET`, its fault, and the answer.

use askama::Template;
use axum::response::Response;
use portcullis_http::error::ApiError;

use crate::decision::copies::AsApi;
use crate::fields::{Fault, Field};
use crate::lists::Tab;
use crate::visit::Visit;

/// A page of a question.
pub(crate) struct QuestionPage {
    /// The name of the form, and of its button.
    pub(crate) name: &'static str,
    /// The links to questions of the same kind.
    pub(crate) tabs: Vec<Tab>,
    pub(crate) fields: Vec<Field>,
    /// The text below the form, as HTML.
    pub(crate) note: &'static str,
    /// The call of the API that asks the same.
    pub(crate) api: AsApi,
}

#[derive(Template)]
#[template(path = "question.html")]
struct Shown<'q, A: Template> {
    page: &'q QuestionPage,
    fault: Option<Fault>,
    answer: Option<A>,
}

impl QuestionPage {
    /// Shows the page with the answer, or with the fault of the form. `answer` is `None` before somebody asks.
    ///
    /// # Errors
    /// The question failed, and the form is not the cause.
    pub(crate) fn show(
        &self,
        visit: &Visit,
        title: &str,
        answer: Result<Option<impl Template>, ApiError>,
    ) -> Result<Response, ApiError> {
        let (answer, fault) = match answer {
            Ok(answer) => (answer, None),
            Err(error) => (None, Some(Fault::of(visit, error)?)),
        };
        let status = fault.as_ref().map(|fault| fault.status);
        let shown = Shown { page: self, fault, answer };
        let mut page = visit.frame.show(title, &shown)?;
        if let Some(status) = status {
            *page.status_mut() = status;
        }
        Ok(page)
    }
}
