//! Searches for resources and for subjects.

use std::borrow::Cow;

use portcullis_auth::CheckCaller;
use portcullis_directory::{AskedCandidate, KnownCandidates, RelationWork, SearchRelations};
use portcullis_engine::entities::{Entity, EntityTable, principal};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::request::{Action, AttributeMap, Attributes, Roles};
use portcullis_engine::search::{
    EntitySearch, SearchCandidate, SearchInput, SearchOutcome, Searched,
};
use portcullis_engine::{
    Check, CheckBody, Invalid, Json, Plan, Precedence, TenantFacts, UnknownSubjects, find_subject,
    lacks_subject,
};
use portcullis_model::search::{GivenCandidate, SearchPage};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::min_revisions::MinRevisions;
use portcullis_runtime::searches::PAGE_TIME;
use tokio::time::Instant;

use super::cursor::{Position, RequestMark};
use super::page::{ConditionalEntity, FoundEntity, SearchSource, SearchedPage};
use super::{CLOCK_INTERVAL, scope};
use crate::decide::action_terms::must_take_action;
use crate::decide::live_questions::LiveQuestion;
use crate::decide::past_plans::PastRules;
use crate::decide::plan_source::PlanSource;
use crate::people::directory::NeededEntities;

/// The id that stands for a subject whom the tenant does not know: in tuples it is everybody of a type.
const UNKNOWN: &str = "*";

/// A search for resources or for subjects.
#[derive(Debug)]
pub struct EntityQuestion<'q> {
    pub searched: Searched,
    /// The type of the candidates.
    pub entity_type: &'q str,
    /// The subject of a search for resources; empty in one for subjects.
    pub subject: &'q str,
    /// The type of the subject or, in a search for subjects, of the candidates. `None` reads it from their names.
    pub subject_type: Option<&'q str>,
    pub resource: &'q str,
    pub action: Action<'q>,
    pub domain: Option<&'q str>,
    pub attributes: Attributes<'q>,
    /// The treatment of attributes that a member sends with a search of the directory.
    pub claims: Claims<'q>,
    /// The candidates of the request; `None` asks for the candidates of the directory.
    pub candidates: Option<Vec<GivenCandidate<'q>>>,
    pub page: SearchPage<'q>,
    /// The place of the cursor in the body, as a JSON pointer.
    pub cursor_at: &'static str,
    /// Answers from rules and entities of these revisions or later ones.
    pub at_least: MinRevisions,
    /// The revision whose rules decide; `None` is the present.
    pub at_revision: Option<u64>,
}

/// The treatment of attributes of users and resources that a member sends with a search of the directory. They would let it
/// list what it may not see: it would claim a clearance, and the search would list the entities that need it.
#[derive(Clone, Copy, Debug)]
pub enum Claims<'q> {
    /// They are a fault of the request.
    Refused,
    /// The request has these attributes instead, in which no claim is left.
    Replaced(Attributes<'q>),
}

/// Searches for the entities for which the request is allowed. Records no denials.
///
/// # Errors
/// The caller may not ask, the cursor is of another request, or there is no plan or directory that is new enough.
pub async fn search_entities(
    app: &App,
    caller: &CheckCaller,
    mut question: EntityQuestion<'_>,
    mark: &RequestMark,
) -> Result<SearchedPage, OperationError> {
    let began = Instant::now();
    let subject = (question.searched == Searched::Resource).then_some(question.subject);
    let (domain, tenant) = scope(app, caller, subject, question.domain, question.at_revision)?;
    // Who may ask about anybody vouches for what it sends.
    if caller.may_search(None, question.domain, &app.manager_roles).is_err() {
        question.leave_out_claims()?;
    }
    let question = &question;
    let cursor = question.page.cursor;
    let position = cursor.map(|cursor| mark.position(&app.keys, cursor, question.cursor_at));
    let position = position.transpose()?;
    let at_least = app.reach(tenant, question.at_least).await?;
    let past = PastRules::read(app, tenant, question.at_revision).await?;
    let plans = PlanSource::new(app, past.as_ref());
    let cached = plans.find(tenant, question.resource, at_least).await?;
    let plan = cached.plan();
    let entities = NeededEntities::load_all(app, tenant, plan).await?;
    let check = question.check(domain, caller, app.clock.now());
    must_take_action(plan, &check, "")?;
    let asked = LiveQuestion::combined(plan, &entities, check);
    let completed = question.without_searched(asked.completed(), &check);
    let (nothing, graph) = (EntityTable::default(), entities.graph(plan.facts())?);
    let table = entities.table().unwrap_or(&nothing);
    let relations = graph.as_deref().zip(plan.facts()).map(|(graph, facts)| {
        let searched = (question.searched, question.entity_type);
        SearchRelations::new((graph, facts), &check, searched, table)
    });
    let graph = graph.as_deref();
    let entity_type = question.entity_type;
    let searcher = Searcher {
        question,
        plan,
        caller,
        check: &completed,
        known: KnownCandidates { table, graph, entity_type, now: check.now },
        relations: relations.as_ref(),
    };
    let mut page = searcher.page(position.as_ref(), began, cached.revision());
    page.entities_revision = entities.revision();
    page.rules_changed = position.is_some_and(|at| at.revision != page.revision);
    page.next =
        page.next.map(|last| mark.cursor(&app.keys, &Position { revision: page.revision, last }));
    Ok(page)
}

impl EntityQuestion<'_> {
    /// Leaves out what a member claims about itself and about the entities of the directory.
    fn leave_out_claims(&mut self) -> Result<(), Invalid> {
        if self.candidates.is_some() {
            return Ok(());
        }
        if let Claims::Replaced(attributes) = self.claims {
            self.attributes = attributes;
            return Ok(());
        }
        let (at, mut problems) = (Place::root(), Problems::default());
        let sent = [("user", self.attributes.user), ("resource", self.attributes.resource)];
        // A `null` is a claim, too: it hides what the directory has.
        for (kind, _) in sent.iter().filter(|(_, attributes)| attributes.named().next().is_some()) {
            let what = format!(
                "no `{kind}`: a member's search of the directory takes `{kind}.*` from token and directory alone"
            );
            problems.expected(&at.key("attributes").key(kind), what);
        }
        problems.into_result()
    }

    /// Returns the known part of the request.
    fn check<'c>(
        &'c self,
        domain: &'c str,
        caller: &'c CheckCaller,
        now: chrono::DateTime<chrono::Utc>,
    ) -> Check<'c> {
        let body = CheckBody {
            subject: self.subject,
            subject_type: self.subject_type,
            resource: self.resource,
            action: self.action,
            domain: self.domain,
            attributes: self.attributes,
            expected: None,
        };
        Check::new(body, domain, caller.for_check(), now)
    }

    /// Returns `completed` with the attributes of the searched part as they were sent: an id there names no entity.
    fn without_searched<'c>(&self, mut completed: Check<'c>, sent: &Check<'c>) -> Check<'c> {
        match self.searched {
            Searched::Resource => completed.attributes.resource = sent.attributes.resource,
            Searched::Subject => completed.attributes.user = sent.attributes.user,
        }
        completed
    }
}

/// One page of a search.
struct Searcher<'s> {
    question: &'s EntityQuestion<'s>,
    plan: &'s Plan,
    caller: &'s CheckCaller,
    check: &'s Check<'s>,
    known: KnownCandidates<'s>,
    /// `None` if the tenant has no relations.
    relations: Option<&'s SearchRelations<'s>>,
}

impl Searcher<'_> {
    fn page(&self, position: Option<&Position>, began: Instant, revision: u64) -> SearchedPage {
        let is_given = self.question.candidates.is_some();
        let (searched, entities) = (self.question.searched, Some(self.known.table));
        let input = SearchInput { check: self.check, searched, entities, is_given };
        let search = EntitySearch::new(self.plan, input);
        let source = match self.question.candidates {
            Some(_) => SearchSource::Request,
            None => SearchSource::Entities,
        };
        let mut page = SearchedPage::new(source, revision);
        page.everybody = self.everybody(&search);
        let mut scan = Scan { search, page, limit: self.question.page.limit, began };
        match &self.question.candidates {
            Some(candidates) => self.scan_candidates(&mut scan, candidates, position),
            None => self.scan_known(&mut scan, position),
        }
        scan.page
    }

    fn precedence(&self) -> Precedence {
        self.plan.facts().and_then(|facts| facts.directory).unwrap_or_default()
    }

    /// Looks at the candidates of the request. The position is the number of the last one.
    fn scan_candidates(
        &self,
        scan: &mut Scan<'_, '_>,
        candidates: &[GivenCandidate<'_>],
        position: Option<&Position>,
    ) {
        let start =
            position.and_then(|at| at.last.parse::<usize>().ok()).map_or(0, |last| last + 1);
        for (number, given) in candidates.iter().enumerate().skip(start) {
            if scan.is_over() {
                // The page of a request with candidates has room for one, so that it is not over before the first.
                scan.end_after(number - 1);
                break;
            }
            let stored = self.known.table.get(self.question.entity_type, given.id);
            self.look_at(scan, given.id, stored, Some(given));
        }
    }

    /// Looks at what the tenant knows. The position is the id of the last candidate.
    fn scan_known(&self, scan: &mut Scan<'_, '_>, position: Option<&Position>) {
        let KnownCandidates { table, entity_type, .. } = self.known;
        let after = position.map(|at| &*at.last);
        let relations = self.relations;
        let related = relations.map(|relations| relations.related(scan.search.relations()));
        let related = related.unwrap_or_default();
        let claiming = relations.and_then(|relations| relations.claiming(self.caller.for_check()));
        let related: Vec<_> = related.iter().map(|one| one.ids(claiming)).collect();
        let entities = scan.search.entities(table, entity_type, after, &related);
        let others = scan.search.others(entity_type, &related);
        // A page of none ends where it begins.
        let mut last = (self.question.page.limit == 0).then(|| after.unwrap_or_default());
        for (id, stored) in self.known.iter(entities, others, after) {
            if scan.is_over()
                && let Some(last) = last
            {
                scan.end_after(last);
                break;
            }
            self.look_at(scan, id, stored, None);
            last = Some(id);
        }
    }

    /// Decides a subject of the type that the tenant does not know. `None` if the search is not one of all that it knows.
    fn everybody(&self, search: &EntitySearch<'_, '_>) -> Option<&'static str> {
        let is_asked =
            self.question.searched == Searched::Subject && self.question.candidates.is_none();
        is_asked.then(|| self.decide(search, UNKNOWN, None, None, |outcome| outcome.name()))
    }

    /// Decides one candidate, and adds it to the page unless it is denied.
    fn look_at(
        &self,
        scan: &mut Scan<'_, '_>,
        id: &str,
        stored: Option<Entity<'_>>,
        given: Option<&GivenCandidate<'_>>,
    ) {
        let page = &mut scan.page;
        self.decide(&scan.search, id, stored, given, |outcome| match outcome {
            SearchOutcome::Allowed(rule) => {
                page.found.push(FoundEntity { id: id.to_owned(), rule })
            }
            SearchOutcome::Conditional(dependence) => {
                page.conditional.push(ConditionalEntity::new(id, dependence));
            }
            SearchOutcome::Denied => {}
        });
        scan.page.looked_at += 1;
    }

    /// Decides one candidate, and passes the outcome to `take`.
    fn decide<T>(
        &self,
        search: &EntitySearch<'_, '_>,
        id: &str,
        stored: Option<Entity<'_>>,
        given: Option<&GivenCandidate<'_>>,
        take: impl FnOnce(SearchOutcome<'_>) -> T,
    ) -> T {
        let is_subject = self.question.searched == Searched::Subject;
        let principal = match is_subject {
            true => principal(self.question.entity_type, id),
            false => Cow::Borrowed(""),
        };
        // A check finds the entity by the principal.
        let by_principal = || find_subject(self.known.table, &principal);
        let stored = stored.or_else(|| is_subject.then(by_principal).flatten());
        let roles = if is_subject { self.roles(&principal, stored, given) } else { Vec::new() };
        let properties = stored.map(|entity| AttributeMap::from_entity(entity.properties()));
        let caller = self.caller.for_check().filter(|caller| caller.subject == principal);
        let candidate = SearchCandidate {
            id: if is_subject { &principal } else { id },
            roles: Roles::Listed(&roles),
            given: given.map(|given| given.properties).unwrap_or_default(),
            stored: properties.unwrap_or_default(),
            claims: caller.filter(|_| is_subject).map(|caller| caller.claims),
        };
        let sent = given.filter(|_| !is_subject).map(|_| self.given(&candidate));
        let asked = AskedCandidate { id, claims: candidate.claims, given: sent.as_ref() };
        let mut work = RelationWork::default();
        let ask = |name| self.relations.map(|relations| relations.answer(asked, name, &mut work));
        take(search.decide_with(&candidate, ask))
    }

    /// Returns the check with the attributes that the request gives with a resource.
    fn given<'c>(&'c self, candidate: &SearchCandidate<'c>) -> Check<'c> {
        let mut check = *self.check;
        check.attributes.resource = candidate.given;
        check
    }

    /// Returns the roles that a check of this subject would have.
    fn roles<'r>(
        &'r self,
        principal: &str,
        stored: Option<Entity<'r>>,
        given: Option<&GivenCandidate<'r>>,
    ) -> Vec<&'r str> {
        let domain = self.check.domain;
        let terms = self.plan.facts().map(|facts| facts.terms).unwrap_or_default();
        if terms.unknown_subjects == UnknownSubjects::NoRoles
            && stored.is_none()
            && lacks_subject(self.known.table, Some(self.question.entity_type), principal)
        {
            return Vec::new();
        }
        let in_directory = || stored.into_iter().flat_map(|entity| entity.roles_in(domain));
        let roles: Vec<&str> = if stored.is_some() && self.precedence() == Precedence::Directory {
            in_directory().collect()
        } else if let Some(caller) = self.caller.for_check().filter(|it| it.subject == principal) {
            let here = stored.into_iter().flat_map(Entity::domain_roles);
            let here = here.filter(|(of, _)| *of == domain).map(|(_, role)| role);
            caller.roles.iter().map(String::as_str).chain(here).collect()
        } else if let Some(sent) = given.and_then(|given| given.roles) {
            sent.iter().filter_map(Json::as_str).collect()
        } else if let Some(sent) = self.question.attributes.user.roles() {
            sent.iter().filter_map(Json::as_str).collect()
        } else {
            in_directory().collect()
        };
        expanded(self.plan.facts(), roles)
    }
}

/// Returns the roles and those that they include.
fn expanded<'r>(facts: Option<&'r TenantFacts>, roles: Vec<&'r str>) -> Vec<&'r str> {
    match facts.filter(|facts| !facts.inclusions.is_empty()) {
        Some(facts) => facts.inclusions.expand(roles.into_iter()),
        None => roles,
    }
}

/// A page while it is filled.
struct Scan<'p, 'c> {
    search: EntitySearch<'p, 'c>,
    page: SearchedPage,
    limit: usize,
    began: Instant,
}

impl Scan<'_, '_> {
    /// Returns whether the page is full, or its time over. A page has looked at one candidate at least.
    fn is_over(&self) -> bool {
        let looked_at = self.page.looked_at;
        self.page.len() >= self.limit
            || (looked_at > 0
                && looked_at.is_multiple_of(CLOCK_INTERVAL)
                && self.began.elapsed() >= PAGE_TIME)
    }

    /// Ends the page after this position.
    fn end_after(&mut self, last: impl ToString) {
        self.page.next = Some(last.to_string());
    }
}
