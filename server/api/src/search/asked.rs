//! A search that a client asks for, page by page.

use std::sync::Arc;

use axum::response::{IntoResponse, IntoResponseParts, Response};
use portcullis_engine::Json;
use portcullis_engine::resource::object_of;
use portcullis_engine::search::Searched;
use portcullis_model::input::DeclaredBody;
use portcullis_model::search::{ActionSearchBody, EntitySearchBody, SearchPage, SearchTerms};
use portcullis_operations::search::{
    ActionQuestion, Claims, EntityQuestion, RequestMark, SearchedPage, search_actions,
    search_entities,
};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::min_revisions::MinRevisions;

use super::answers::{ActionSearchAnswer, AnswerParts, EntitySearchAnswer};
use portcullis_http::answer_text::AnswerText;
use portcullis_http::body::JsonBody;
use portcullis_http::callers::SearchRequester;
use portcullis_http::error::ApiError;
use portcullis_http::recipient::carried;
use portcullis_http::respond::entities_header;
use portcullis_http::respond::revision_header;
use portcullis_http::text_answer::{JSON, written};

pub(crate) const RESOURCES_PATH: &str = "/api/v1/search/resources";
pub(crate) const SUBJECTS_PATH: &str = "/api/v1/search/subjects";
pub(crate) const ACTIONS_PATH: &str = "/api/v1/search/actions";

/// The members of a body that say which page is wanted.
const PAGE_MEMBERS: [&str; 2] = ["limit", "cursor"];
const CURSOR: &str = "/cursor";

/// A search that a client asks for.
pub(super) struct AskedSearch {
    pub(super) app: App,
    pub(super) caller: SearchRequester,
    pub(super) body: JsonBody,
    pub(super) wanted: Wanted,
    /// Answers from rules and entities of these revisions or later ones.
    pub(super) at_least: MinRevisions,
}

/// The kind of results that a search wants.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    Resources,
    Subjects,
    Actions,
}

/// A page that is written.
pub(super) struct WrittenPage {
    pub(super) text: AnswerText,
    /// The cursor of the next page; `None` after the last one.
    pub(super) next: Option<String>,
    revision: u64,
    entities_revision: Option<u64>,
}

impl WrittenPage {
    /// Returns the headers with the revisions of the page.
    pub(super) fn headers(&self) -> impl IntoResponseParts + use<> {
        (revision_header(self.revision), entities_header(self.entities_revision))
    }
}

impl AskedSearch {
    /// Answers with the page that the body names.
    ///
    /// # Errors
    /// The errors of [`AskedSearch::page`].
    pub(super) async fn answer(self) -> Result<Response, ApiError> {
        let page = Arc::new(self).page(None, false).await?;
        Ok((page.headers(), written(JSON, page.text)).into_response())
    }

    /// Writes a page, on a thread that serves no requests: the one at `cursor`, or the one that the body names.
    ///
    /// # Errors
    /// The body is wrong, the caller may not ask, there is no plan or directory that is new enough, too many searches of the
    /// tenant wait, or the memory for answers is spent.
    pub(super) async fn page(
        self: &Arc<Self>,
        cursor: Option<String>,
        in_lines: bool,
    ) -> Result<WrittenPage, ApiError> {
        let search = Arc::clone(self);
        let write =
            carried(move |_| async move { search.write(cursor.as_deref(), in_lines).await });
        self.app.searches.run(self.caller.tenant(), write).await
    }

    async fn write(&self, cursor: Option<&str>, in_lines: bool) -> Result<WrittenPage, ApiError> {
        // Read again for each page: a tree takes many times the memory of its text, and would stay for all pages.
        let json = self.body.parse()?;
        match self.wanted {
            Wanted::Resources => {
                let body = EntitySearchBody::parse_resources(&json)?;
                self.write_entities(&json, body, Searched::Resource, (cursor, in_lines)).await
            }
            Wanted::Subjects => {
                let body = EntitySearchBody::parse_subjects(&json)?;
                self.write_entities(&json, body, Searched::Subject, (cursor, in_lines)).await
            }
            Wanted::Actions => {
                let body = ActionSearchBody::parse(&json)?;
                self.write_actions(&json, body, (cursor, in_lines)).await
            }
        }
    }

    async fn write_entities(
        &self,
        json: &Json<'_>,
        body: EntitySearchBody<'_>,
        searched: Searched,
        (cursor, in_lines): (Option<&str>, bool),
    ) -> Result<WrittenPage, ApiError> {
        let EntitySearchBody { subject, resource, action, candidates, terms } = body;
        let (route, entity_type, subject) = match searched {
            Searched::Resource => (RESOURCES_PATH, object_of(resource), subject),
            Searched::Subject => (SUBJECTS_PATH, subject, ""),
        };
        let question = EntityQuestion {
            searched,
            entity_type,
            subject,
            subject_type: None,
            resource,
            action,
            domain: terms.domain,
            attributes: terms.attributes,
            claims: Claims::Refused,
            candidates,
            page: page_at(terms.page, cursor),
            cursor_at: CURSOR,
            at_least: self.at_least,
            at_revision: terms.at_revision,
        };
        let mark = self.mark(route, json);
        let page = search_entities(&self.app, &self.caller, question, &mark).await;
        let parts = self.parts(&terms, in_lines);
        self.written(page, |page| EntitySearchAnswer::write(entity_type, page, parts))
    }

    async fn write_actions(
        &self,
        json: &Json<'_>,
        body: ActionSearchBody<'_>,
        (cursor, in_lines): (Option<&str>, bool),
    ) -> Result<WrittenPage, ApiError> {
        let ActionSearchBody { subject, resource_type, terms } = body;
        let question = ActionQuestion {
            subject,
            subject_type: None,
            resource_type,
            action_of: None,
            domain: terms.domain,
            attributes: terms.attributes,
            page: page_at(terms.page, cursor),
            cursor_at: CURSOR,
            at_least: self.at_least,
            at_revision: terms.at_revision,
        };
        let mark = self.mark(ACTIONS_PATH, json);
        let page = search_actions(&self.app, &self.caller, &question, &mark).await;
        let parts = self.parts(&terms, in_lines);
        self.written(page, |page| ActionSearchAnswer::write(resource_type, page, parts))
    }

    fn mark(&self, route: &str, json: &Json<'_>) -> RequestMark {
        RequestMark::new(route, self.caller.tenant(), self.caller.actor(), json, &PAGE_MEMBERS)
    }

    fn parts(&self, terms: &SearchTerms<'_>, in_lines: bool) -> AnswerParts {
        let may_explain = self.caller.may_explain(terms.domain, &self.app.manager_roles);
        AnswerParts {
            names_alone: terms.names_alone,
            shows_conditions: may_explain.is_ok(),
            in_lines,
            at_revision: terms.at_revision,
        }
    }

    /// Counts what a page looked at, and writes it.
    fn written(
        &self,
        page: Result<SearchedPage, OperationError>,
        write: impl FnOnce(SearchedPage) -> Result<AnswerText, ApiError>,
    ) -> Result<WrittenPage, ApiError> {
        let page = page?;
        self.caller.count_candidates(&self.app, page.looked_at);
        let (revision, entities_revision) = (page.revision, page.entities_revision);
        let next = page.next.clone();
        Ok(WrittenPage { text: write(page)?, next, revision, entities_revision })
    }
}

/// Returns the page at `cursor`, or `asked` if there is none.
fn page_at<'p>(asked: SearchPage<'p>, cursor: Option<&'p str>) -> SearchPage<'p> {
    SearchPage { cursor: cursor.or(asked.cursor), ..asked }
}
