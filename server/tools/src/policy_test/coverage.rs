//! The parts of a tenant's rules that its cases show at work.

use std::collections::HashMap;
use std::fmt;

use portcullis_bundle::Rulebook;
use portcullis_engine::excerpt::excerpt;
use portcullis_engine::{
    ExplainedItems, ExplainedNode, ExplainedPolicy, ExplainedTest, Explanation, TruthValue,
};
use uuid::Uuid;

/// The longest text of a test, in characters.
const MAX_TEST: usize = 60;

/// The coverage of a tenant's policies and rules.
pub(super) struct Coverage {
    policies: Vec<PolicyCoverage>,
    rules: Vec<RuleCoverage>,
}

/// The numbers of cases by the outcome of a policy's condition, and of those that it decides.
struct PolicyCoverage {
    id: Uuid,
    name: String,
    outcomes: [usize; 3],
    decides: usize,
    /// The number of tests in the condition.
    count: usize,
    /// The tests, in the order of the tree; empty until a case reaches the policy.
    tests: Vec<TestCoverage>,
}

/// The truths of a test that cases show.
struct TestCoverage {
    text: String,
    is_true: bool,
    is_false: bool,
}

/// The numbers of cases that a rule matches and decides.
struct RuleCoverage {
    id: Uuid,
    name: String,
    matches: usize,
    decides: usize,
}

/// Points that are reached, of all: a policy or a rule that decides a case, a test that is true, a test that is false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Points {
    pub(super) reached: usize,
    pub(super) all: usize,
}

impl Coverage {
    /// Returns the coverage of no case.
    pub(super) fn new(rulebook: &Rulebook) -> Self {
        let policies = rulebook.policies().iter().map(|policy| PolicyCoverage {
            id: policy.id,
            name: policy.name.clone(),
            outcomes: [0; 3],
            decides: 0,
            count: policy.condition.as_ref().map_or(0, |condition| condition.tests().len()),
            tests: Vec::new(),
        });
        let rules = rulebook.rules().iter().map(|rule| RuleCoverage {
            id: rule.id,
            name: rule.tuple.to_string(),
            matches: 0,
            decides: 0,
        });
        Self { policies: policies.collect(), rules: rules.collect() }
    }

    /// Adds a case.
    pub(super) fn add(&mut self, explanation: &Explanation<'_>) {
        let named = explanation.named();
        for explained in &explanation.policies {
            if let Some(policy) = self.policies.iter_mut().find(|one| one.id == explained.id) {
                policy.add(explained, &named);
            }
        }
        for explained in &explanation.rules {
            if let Some(rule) = self.rules.iter_mut().find(|one| one.id == explained.id) {
                rule.matches += 1;
                rule.decides += usize::from(explained.decides);
            }
        }
    }

    /// Returns the names of the policies and rules that decide no case, and the number of all.
    pub(super) fn silent(&self) -> (Vec<&str>, usize) {
        let policies = self.policies.iter().map(|policy| (&*policy.name, policy.decides));
        let rules = self.rules.iter().map(|rule| (&*rule.name, rule.decides));
        let silent = policies.chain(rules).filter(|(_, decides)| *decides == 0);
        (silent.map(|(name, _)| name).collect(), self.policies.len() + self.rules.len())
    }

    /// Returns the points of all policies and rules.
    pub(super) fn points(&self) -> Points {
        let branches = self.policies.iter().map(PolicyCoverage::branches);
        let decide = Points {
            reached: self.policies.iter().filter(|policy| policy.decides > 0).count()
                + self.rules.iter().filter(|rule| rule.decides > 0).count(),
            all: self.policies.len() + self.rules.len(),
        };
        branches.fold(decide, Points::and)
    }

    /// Returns a line for each branch that no case shows.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for policy in &self.policies {
            let name = &policy.name;
            if policy.tests.is_empty() {
                missing.push(format!("`{name}`: no case reaches it"));
            }
            for test in &policy.tests {
                if !test.is_true {
                    missing.push(format!("`{name}`: `{}` is never true", test.text));
                }
                if !test.is_false {
                    missing.push(format!("`{name}`: `{}` is never false", test.text));
                }
            }
        }
        let (silent, _) = self.silent();
        missing.extend(silent.iter().map(|name| format!("`{name}` decides no case")));
        missing
    }
}

impl PolicyCoverage {
    fn add<'n, 'e>(&mut self, explained: &'n ExplainedPolicy<'e>, named: &NamedNodes<'n, 'e>) {
        let [is_true, is_false, undetermined] = &mut self.outcomes;
        *match explained.outcome {
            TruthValue::True => is_true,
            TruthValue::False => is_false,
            TruthValue::Undetermined => undetermined,
        } += 1;
        self.decides += usize::from(explained.decides);
        let mut tests = Vec::new();
        if let Some(condition) = &explained.condition {
            collect(condition, named, &mut tests);
        }
        if self.tests.is_empty() {
            self.tests = tests.iter().map(TestCoverage::new).collect();
        }
        // Every explanation of a condition has its tests in the order of the tree.
        for (test, explained) in self.tests.iter_mut().zip(tests) {
            test.is_true |= explained.outcome() == Some(TruthValue::True);
            test.is_false |= explained.outcome() == Some(TruthValue::False);
        }
    }

    /// Returns the branches of the condition: two for each test.
    fn branches(&self) -> Points {
        let truths = self.tests.iter().flat_map(|test| [test.is_true, test.is_false]);
        Points { reached: truths.filter(|seen| *seen).count(), all: 2 * self.count }
    }
}

impl TestCoverage {
    fn new(test: &Tested<'_, '_>) -> Self {
        let text = match test {
            Tested::Value(ExplainedTest { attribute, operator, value, .. }) => {
                let value = value.as_ref().map(|value| format!(" {value}")).unwrap_or_default();
                format!("{attribute} {operator}{value}")
            }
            Tested::Items(ExplainedItems { attribute, expression, .. }) => {
                expression.clone().unwrap_or_else(|| format!("the items of {attribute}"))
            }
        };
        Self { text: excerpt(text, MAX_TEST), is_true: false, is_false: false }
    }
}

/// A test of a tree: of a value, or of the items of a list.
enum Tested<'n, 'e> {
    Value(&'n ExplainedTest<'e>),
    Items(&'n ExplainedItems<'e>),
}

impl Tested<'_, '_> {
    fn outcome(&self) -> Option<TruthValue> {
        match self {
            Self::Value(test) => test.outcome,
            Self::Items(items) => items.outcome,
        }
    }
}

impl Points {
    /// Returns the sum.
    pub(super) fn and(self, other: Self) -> Self {
        Self { reached: self.reached + other.reached, all: self.all + other.all }
    }

    /// Returns whether at least `percent` of all points are reached.
    pub(super) fn reaches(self, percent: u8) -> bool {
        // The comparison uses whole numbers, so that no rounding reaches the bound.
        self.reached * 100 >= self.all * usize::from(percent)
    }
}

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without a point, everything is covered.
        let percent = (self.reached * 100).checked_div(self.all).unwrap_or(100);
        write!(f, "{} of {} points ({percent} %)", self.reached, self.all)
    }
}

impl fmt::Display for Coverage {
    /// Writes two tables, and what no case shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  coverage: {}", self.points())?;
        writeln!(f, "      true  false  undetermined  decides  branches  policy")?;
        for policy in &self.policies {
            let ([t, u, x], decides) = (policy.outcomes, policy.decides);
            let Points { reached, all } = policy.branches();
            let branches = format!("{reached}/{all}");
            writeln!(f, "    {t:>6} {u:>6} {x:>13} {decides:>8} {branches:>9}  {}", policy.name)?;
        }
        writeln!(f, "    matches  decides  rule")?;
        for RuleCoverage { matches, decides, name, .. } in &self.rules {
            writeln!(f, "    {matches:>7} {decides:>8}  {name}")?;
        }
        for line in self.missing() {
            writeln!(f, "    not covered: {line}")?;
        }
        Ok(())
    }
}

/// The conditions of an explanation, by name.
type NamedNodes<'n, 'e> = HashMap<&'e str, &'n ExplainedNode<'e>>;

/// Adds the tests of a tree to `tests`, in the order of the tree.
fn collect<'n, 'e>(
    node: &'n ExplainedNode<'e>,
    named: &NamedNodes<'n, 'e>,
    tests: &mut Vec<Tested<'n, 'e>>,
) {
    match node {
        ExplainedNode::And { children, .. } | ExplainedNode::Or { children, .. } => {
            children.iter().for_each(|child| collect(child, named, tests));
        }
        ExplainedNode::Not { child, .. } => collect(child, named, tests),
        // A name has its condition where it first stands.
        ExplainedNode::Named { name, .. } => {
            if let Some(child) = named.get(name) {
                collect(child, named, tests);
            }
        }
        ExplainedNode::Condition(test) | ExplainedNode::Length(test) => {
            tests.push(Tested::Value(test));
        }
        ExplainedNode::Any(items) | ExplainedNode::All(items) => {
            tests.push(Tested::Items(items));
            collect(&items.child, named, tests);
        }
    }
}
