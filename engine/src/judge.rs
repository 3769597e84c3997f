//! One decision: facts complete a question, and a plan decides it (`docs/semantics.md`, sections 2.6 and 12.5).
//!
//! [`OpenQuestion::judge`] waits for nothing. Whoever gets a need in place of a decision asks for it, adds the answers, and
//! decides with them.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::LazyLock;

use strum::{IntoStaticStr, VariantArray};

use crate::decision::Decision;
use crate::entities::EntityTable;
use crate::plan::{Plan, Verdict};
use crate::relation::RELATION;
use crate::request::Check;
use crate::resolution::{AttributeAnswers, AttributeRequest};
use crate::roles::Roles;
use crate::supply::{DirectoryNeeds, KnownEntities, Supply};
use crate::tenant_facts::TenantFacts;

/// The facts about a tenant of which there are none.
static PLAIN: LazyLock<TenantFacts> = LazyLock::new(TenantFacts::default);

/// The rules that decide a check, named as the label in metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum CheckKind {
    /// Both engines: `POST /api/v1/check`.
    Combined,
    /// RBAC alone: `POST /api/v1/resources/access/check`.
    Legacy,
}

impl CheckKind {
    /// Returns the parts of the directory that a check by `plan` needs. The legacy check reads no attributes.
    pub fn needs(self, plan: &Plan) -> DirectoryNeeds {
        let needs = plan.directory_needs();
        match self {
            Self::Combined => needs,
            Self::Legacy => DirectoryNeeds { user: false, resource: false, ..needs },
        }
    }
}

/// Everything that a decision can know beside its check and its plan: the live directory, a folder, or a record.
pub trait Facts {
    /// The work that all questions of a check about relations share.
    type Work: Default;
    /// The reason why relations cannot be asked.
    type Fault;

    /// Returns what the directory knows of a check as it was sent, as far as that is needed.
    fn known(&self, sent: &Check<'_>, needs: DirectoryNeeds) -> KnownEntities<'_>;

    /// Returns the entities to which references lead; `None` if what is behind references is noted as properties of the
    /// subject and the resource, or if there are none.
    #[inline]
    fn entities(&self) -> Option<&EntityTable> {
        None
    }

    /// Returns the roles of the subject itself, if somebody noted them when they counted: then nothing else has a say.
    #[inline]
    fn noted_roles(&self) -> Option<Roles<'_>> {
        None
    }

    /// Returns the relations `names` of a check as it was sent, without waiting for anything.
    ///
    /// # Errors
    /// The relations cannot be asked.
    fn related(
        &self,
        tenant: &TenantFacts,
        sent: &Check<'_>,
        names: &[Box<str>],
        work: &mut Self::Work,
    ) -> Result<Related, Self::Fault>;
}

/// The relations of a check, as far as facts have them at once.
#[derive(Debug)]
pub enum Related {
    Known(AttributeAnswers),
    /// They take longer than a decision may that waits for nothing.
    Later,
    /// There are none to ask.
    Unasked,
}

// Entities that are known already: nobody asks for relations beside them.
impl Facts for KnownEntities<'_> {
    type Work = ();
    type Fault = Infallible;

    fn known(&self, _: &Check<'_>, _: DirectoryNeeds) -> KnownEntities<'_> {
        *self
    }

    fn noted_roles(&self) -> Option<Roles<'_>> {
        self.roles
    }

    fn related(
        &self,
        _: &TenantFacts,
        _: &Check<'_>,
        _: &[Box<str>],
        (): &mut (),
    ) -> Result<Related, Infallible> {
        Ok(Related::Unasked)
    }
}

/// A check while it is decided, with everything that decides it, and what that gave so far.
#[derive(Debug)]
pub struct OpenQuestion<'p, 'q, F: Facts> {
    pub plan: &'p Plan,
    pub facts: &'q F,
    /// The check as it was sent.
    pub sent: Check<'q>,
    pub kind: CheckKind,
    supply: Option<Supply<'q>>,
    answers: Cow<'q, AttributeAnswers>,
    /// The work on relations so far.
    pub work: F::Work,
}

/// A question as far as it is decided.
#[derive(Debug)]
pub enum Judged<'p> {
    Decided(Decision<'p>),
    /// The relations among these take longer than a decision may that waits for nothing.
    NeedsRelations(Vec<AttributeRequest>),
    /// Resolvers must answer first. Each is called once, all at the same time.
    NeedsAnswers(Vec<AttributeRequest>),
}

impl<'p: 'q, 'q, F: Facts> OpenQuestion<'p, 'q, F> {
    /// Opens the question `sent`, and collects from `facts` what completes it by `plan`.
    #[inline]
    pub fn new(plan: &'p Plan, facts: &'q F, sent: Check<'q>, kind: CheckKind) -> Self {
        Self {
            supply: supply(plan, facts, &sent, kind),
            plan,
            facts,
            sent,
            kind,
            answers: Cow::Borrowed(AttributeAnswers::none()),
            work: F::Work::default(),
        }
    }

    /// Opens a question that both engines decide.
    #[inline]
    pub fn combined(plan: &'p Plan, facts: &'q F, sent: Check<'q>) -> Self {
        Self::new(plan, facts, sent, CheckKind::Combined)
    }

    /// Decides the question as far as the facts and the answers so far do. Adds the relations that are at hand: they come
    /// first, because they may decide alone.
    ///
    /// # Errors
    /// The relations cannot be asked.
    #[inline]
    pub fn judge(&mut self) -> Result<Judged<'p>, F::Fault> {
        match self.verdict() {
            Verdict::Decided(decision) => Ok(Judged::Decided(decision)),
            Verdict::NeedsAttributes(requests) => self.judge_open(requests),
        }
    }

    fn judge_open(&mut self, requests: Vec<AttributeRequest>) -> Result<Judged<'p>, F::Fault> {
        let relations = requests.iter().find(|request| *request.namespace == *RELATION);
        let (Some(tenant), Some(relations)) = (self.plan.facts(), relations) else {
            return Ok(Judged::NeedsAnswers(requests));
        };
        let names = &relations.attributes;
        match self.facts.related(tenant, &self.sent, names, &mut self.work)? {
            Related::Unasked => Ok(Judged::NeedsAnswers(requests)),
            Related::Later => Ok(Judged::NeedsRelations(requests)),
            Related::Known(answers) => {
                self.add(answers);
                Ok(match self.verdict() {
                    Verdict::Decided(decision) => Judged::Decided(decision),
                    Verdict::NeedsAttributes(requests) => Judged::NeedsAnswers(requests),
                })
            }
        }
    }

    /// Decides the question with the answers so far. Asks no facts.
    #[inline]
    pub fn verdict(&self) -> Verdict<'p> {
        let completed = self.completed();
        match self.kind {
            CheckKind::Combined => self.plan.decide(&completed, &self.answers),
            CheckKind::Legacy => self.plan.decide_rbac(&completed, &self.answers),
        }
    }

    /// Decides the question with what is known. An attribute without an answer counts as a failure of its resolver.
    pub fn settle(&self) -> Decision<'p> {
        self.plan.evaluate_with(&self.completed(), &self.answers)
    }

    /// Returns the check with what the facts supply.
    #[inline]
    pub fn completed(&self) -> Check<'_> {
        self.supply.as_ref().map_or(self.sent, |supply| supply.complete(self.sent))
    }

    /// Returns the complete check with the answers so far as its relations, which resolvers can have as inputs.
    pub fn for_resolvers(&self) -> Check<'_> {
        Check { relations: Some(&self.answers), ..self.completed() }
    }

    /// Returns what completes the check; `None` if it is complete as it was sent.
    pub fn supply(&self) -> Option<&Supply<'q>> {
        self.supply.as_ref()
    }

    /// Returns the question with answers that are known from the start.
    #[must_use]
    pub fn with_answers(self, answers: &'q AttributeAnswers) -> Self {
        Self { answers: Cow::Borrowed(answers), ..self }
    }

    /// Adds the answers to what the decision needed.
    pub fn add(&mut self, answers: AttributeAnswers) {
        // The first answers are taken as they are, without a merge.
        match self.answers.is_empty() {
            true => self.answers = Cow::Owned(answers),
            false => self.answers.to_mut().extend(answers),
        }
    }

    /// Returns the answers of relations and resolvers so far.
    pub fn answers(&self) -> &AttributeAnswers {
        &self.answers
    }

    /// Returns the answers on which the decision depended.
    pub fn into_answers(self) -> AttributeAnswers {
        self.answers.into_owned()
    }
}

/// Returns what completes a check; `None` if it is complete as it was sent.
#[inline]
fn supply<'q>(
    plan: &'q Plan,
    facts: &'q impl Facts,
    sent: &Check<'q>,
    kind: CheckKind,
) -> Option<Supply<'q>> {
    let (tenant, needs) = match plan.facts() {
        Some(tenant) => (tenant, kind.needs(plan)),
        // A tenant without a directory takes nothing from it but the roles that a record has.
        None if facts.noted_roles().is_some() => {
            (&*PLAIN, DirectoryNeeds { roles: true, ..DirectoryNeeds::default() })
        }
        None => return None,
    };
    let related = facts.entities().map(|table| (table, plan.dotted_names()));
    Some(Supply::new(tenant, (facts.known(sent, needs), related), sent, needs))
}
