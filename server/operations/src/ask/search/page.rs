//! A page of a search.

use portcullis_engine::AttributeRequest;
use portcullis_engine::search::SearchDependence;
use serde::Serialize;
use uuid::Uuid;

/// The source of the candidates of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchSource {
    /// The request brought them.
    Request,
    /// Entities or tuples know them.
    Entities,
}

/// A candidate that is allowed, which may be an action.
#[derive(Debug)]
pub struct FoundEntity {
    pub id: String,
    /// The policy or rule that allows it.
    pub rule: Uuid,
}

/// A candidate on which resolvers decide.
#[derive(Debug)]
pub struct ConditionalEntity {
    pub id: String,
    /// The attributes that decide.
    pub depends_on: Vec<String>,
    /// The condition under which it is allowed; `None` if it is too large to be shown.
    pub condition: Option<String>,
}

/// A page of a search.
#[derive(Debug)]
pub struct SearchedPage {
    pub found: Vec<FoundEntity>,
    pub conditional: Vec<ConditionalEntity>,
    /// The revision of the rules that decided.
    pub revision: u64,
    /// The revision of the entities; `None` if no decision needed them.
    pub entities_revision: Option<u64>,
    /// Whether the rules changed since the page before.
    pub rules_changed: bool,
    /// The beginning of the next page; `None` if everything was looked at.
    pub next: Option<String>,
    pub source: SearchSource,
    /// The number of candidates that were looked at.
    pub looked_at: usize,
    /// The decision on a subject of the type that entities and tuples do not know: `allow`, `deny` or `conditional`. `None` if
    /// the search is not about what they know of subjects.
    pub everybody: Option<&'static str>,
}

impl SearchedPage {
    /// Returns an empty page.
    pub(super) fn new(source: SearchSource, revision: u64) -> Self {
        Self {
            found: Vec::new(),
            conditional: Vec::new(),
            revision,
            entities_revision: None,
            rules_changed: false,
            next: None,
            source,
            looked_at: 0,
            everybody: None,
        }
    }

    /// Returns the number of results, conditional ones included.
    pub(super) fn len(&self) -> usize {
        self.found.len() + self.conditional.len()
    }
}

impl ConditionalEntity {
    /// Describes an action that depends on these attributes of resolvers.
    pub(super) fn from_requests(id: &str, requests: &[AttributeRequest]) -> Self {
        let paths = requests.iter().flat_map(|request| {
            request.attributes.iter().map(|name| format!("{}.{name}", request.namespace))
        });
        let mut depends_on: Vec<String> = paths.collect();
        depends_on.sort_unstable();
        Self { id: id.to_owned(), depends_on, condition: None }
    }

    pub(super) fn new(id: &str, dependence: SearchDependence<'_>) -> Self {
        let condition = dependence.residual.text().map(str::to_owned);
        Self { id: id.to_owned(), depends_on: dependence.depends_on, condition }
    }
}
