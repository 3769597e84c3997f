//! Compiles patterns within a budget, which is counted before it is spent.
//!
//! The unit of cost is at most about 10 ns on one core, and at least one byte of memory that stays. So a budget bounds
//! time and memory at once.

use std::sync::Arc;

use hashbrown::HashMap;
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_syntax::ast::parse::Parser;
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Hir, Look};

use super::automaton::Automaton;
use super::cost;
use super::expression::Pattern;

/// The maximum number of bytes of one expression. Its syntax tree takes about a hundred times as many.
const MAX_SOURCE: usize = 64 * 1024;
/// The maximum size of an automaton, in bytes. It is enough for any sensible pattern, and small enough to refuse
/// `(\pL{100}){100}`.
const MAX_AUTOMATON: usize = 1 << 20;
/// The cost of the patterns of one policy: at most about 80 ms, or 1,000 patterns of 8 KiB.
const POLICY_BUDGET: u64 = 8 << 20;
/// The cost of the patterns of one plan: at most about a third of a second and 32 MiB, whatever the policies are.
const PLAN_BUDGET: u64 = 4 * POLICY_BUDGET;

/// The cost of reading one byte of an expression.
const PER_SOURCE_BYTE: u64 = 8;
/// The cost of one byte of an automaton. While it is built, it takes more memory than afterwards.
const PER_AUTOMATON_BYTE: u64 = 2;

/// The reason why a pattern is not compiled. The text completes "a regular expression, but …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// The expression is wrong; the text says where and why.
    #[error("{0}")]
    Syntax(String),
    /// The expression is too long.
    #[error("it has more than {MAX_SOURCE} bytes")]
    TooLong,
    /// The automaton is too large.
    #[error("it compiles to more than {MAX_AUTOMATON} bytes")]
    TooLarge,
    /// The patterns of one policy cost too much together.
    #[error(
        "with it the patterns of the policy cost more than {POLICY_BUDGET} units to compile: \
         repetitions and classes such as `\\w` and `\\pL` cost most"
    )]
    PolicyBudget,
    /// The patterns of one plan cost too much together.
    #[error("with it the patterns of the plan cost more than {PLAN_BUDGET} units to compile")]
    PlanBudget,
}

/// Compiles patterns, each of them once.
#[derive(Debug)]
pub(crate) struct PatternCompiler {
    /// Keeps its memory from one pattern to the next.
    thompson: thompson::Compiler,
    compiled: HashMap<Pattern, Arc<Automaton>>,
    policy_budget: u64,
    policy_left: u64,
    plan_left: u64,
}

impl PatternCompiler {
    pub(crate) fn new() -> Self {
        Self::with_budgets(POLICY_BUDGET, PLAN_BUDGET)
    }

    pub(super) fn with_budgets(policy: u64, plan: u64) -> Self {
        Self {
            thompson: thompson::Compiler::new(),
            compiled: HashMap::new(),
            policy_budget: policy,
            policy_left: policy,
            plan_left: plan,
        }
    }

    /// Gives the next policy of a plan its own budget.
    pub(crate) fn begin_policy(&mut self) {
        self.policy_left = self.policy_budget;
    }

    /// Compiles a pattern, or returns it if it is compiled already.
    pub(crate) fn compile(&mut self, pattern: &Pattern) -> Result<Arc<Automaton>, PatternFault> {
        if let Some(known) = self.compiled.get(pattern) {
            return Ok(Arc::clone(known));
        }
        let automaton = Arc::new(self.build(pattern)?);
        self.compiled.insert(pattern.clone(), Arc::clone(&automaton));
        Ok(automaton)
    }

    /// Returns a pattern that is compiled.
    pub(crate) fn compiled(&self, pattern: &Pattern) -> Option<&Arc<Automaton>> {
        self.compiled.get(pattern)
    }

    /// Returns the heap bytes of all automata, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        self.compiled.values().map(|automaton| automaton.weight()).sum()
    }

    fn build(&mut self, pattern: &Pattern) -> Result<Automaton, PatternFault> {
        let source = pattern.source();
        if source.len() > MAX_SOURCE {
            return Err(PatternFault::TooLong);
        }
        self.spend(PER_SOURCE_BYTE * source.len() as u64)?;
        let ast = Parser::new().parse(source).map_err(|fault| one_line(&fault.into()))?;
        self.spend(cost::for_translation(&ast))?;
        let hir = Translator::new().translate(source, &ast);
        let hir = hir.map_err(|fault| one_line(&fault.into()))?;
        // Anchors are added to the syntax tree, not to the text. So no pattern can close a group around itself, and an
        // alternative that matches only a part does not hide one that matches the whole.
        let hir = if pattern.is_search() { hir } else { anchored(hir) };
        self.build_automaton(&hir)
    }

    fn build_automaton(&mut self, hir: &Hir) -> Result<Automaton, PatternFault> {
        let affordable = self.policy_left.min(self.plan_left) / PER_AUTOMATON_BYTE;
        let limit = MAX_AUTOMATON.min(usize::try_from(affordable).unwrap_or(usize::MAX));
        let config = thompson::Config::new()
            .which_captures(WhichCaptures::None)
            // Otherwise a search that finds an empty match inside a character begins again at the next byte, which takes
            // quadratic time.
            .utf8(false)
            .nfa_size_limit(Some(limit));
        let nfa = self.thompson.configure(config).build_from_hir(hir);
        match nfa.ok().and_then(Automaton::new) {
            Some(automaton) => {
                self.spend(PER_AUTOMATON_BYTE * automaton.weight() as u64)?;
                Ok(automaton)
            }
            None if limit < MAX_AUTOMATON => Err(self.exhausted()),
            None => {
                // To find that out took as much as the largest automaton that is accepted.
                self.spend(PER_AUTOMATON_BYTE * MAX_AUTOMATON as u64)?;
                Err(PatternFault::TooLarge)
            }
        }
    }

    /// Takes `cost` from both budgets. A policy whose budget does not have it gets no more.
    fn spend(&mut self, cost: u64) -> Result<(), PatternFault> {
        if cost > self.policy_left.min(self.plan_left) {
            return Err(self.exhausted());
        }
        self.policy_left -= cost;
        self.plan_left -= cost;
        Ok(())
    }

    /// Ends the budget that has less left.
    fn exhausted(&mut self) -> PatternFault {
        if self.plan_left < self.policy_left {
            self.plan_left = 0;
            return PatternFault::PlanBudget;
        }
        // Not below 0: here the plan has at least as much left as the policy.
        self.plan_left -= self.policy_left;
        self.policy_left = 0;
        PatternFault::PolicyBudget
    }
}

impl Pattern {
    /// Compiles the expression alone.
    ///
    /// # Errors
    /// The fault of the expression.
    pub fn compile(&self) -> Result<Automaton, PatternFault> {
        PatternCompiler::new().compile(self).map(|automaton| Automaton::clone(&automaton))
    }
}

/// Checks the patterns of a condition that is read.
#[derive(Debug)]
pub(crate) enum PatternCheck {
    /// Compiles each pattern, so that only a condition that works is stored.
    Compile(Box<PatternCompiler>),
    /// Leaves the patterns to the plan that is made of them.
    Leave,
}

impl PatternCheck {
    pub(crate) fn compile() -> Self {
        Self::Compile(Box::new(PatternCompiler::new()))
    }

    /// Returns the pattern, or its fault. The budget is a fault of the first pattern over it alone.
    pub(crate) fn check(&mut self, pattern: Pattern) -> Result<Pattern, PatternFault> {
        let Self::Compile(compiler) = self else { return Ok(pattern) };
        match compiler.compile(&pattern) {
            Ok(_) => Ok(pattern),
            Err(fault) => {
                if fault == PatternFault::PolicyBudget {
                    *self = Self::Leave;
                }
                Err(fault)
            }
        }
    }
}

/// Makes an expression match whole texts only.
fn anchored(hir: Hir) -> Hir {
    Hir::concat(vec![Hir::look(Look::Start), hir, Hir::look(Look::End)])
}

fn one_line(error: &regex_syntax::Error) -> PatternFault {
    PatternFault::Syntax(match error {
        regex_syntax::Error::Parse(error) => {
            format!("{} at byte {}", error.kind(), error.span().start.offset)
        }
        regex_syntax::Error::Translate(error) => {
            format!("{} at byte {}", error.kind(), error.span().start.offset)
        }
        _ => "it is not understood".to_owned(),
    })
}
