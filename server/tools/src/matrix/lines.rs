//! Tables and changes as the sections of reports.

use portcullis_bundle::matrix::MatrixRow;
use portcullis_engine::Condition;
use portcullis_engine::rbac::WILDCARD;
use portcullis_model::apply::{CellDecision, ImpactChange, ImpactReport, SkippedCase};

use super::cases::{CaseChange, CaseChanges};
use super::relations::RelationChange;
use super::residual::{Groups, deny_changes};
use super::shared::SharedDenies;
use crate::report::{ConditionChange, ReportEntry, Section, ShownActions, Sign};

/// Returns the outcomes of the rows of a table, a line for each. A deny that rows share is a note.
pub(super) fn table(cells: &[MatrixRow], note: Option<&str>) -> Section {
    let groups: Vec<_> = cells.iter().map(|row| Groups::read(&row.outcome)).collect();
    let objects = cells.iter().map(|row| &*row.resource);
    let denies = groups.iter().map(|groups| denies(groups.as_ref()).to_vec());
    let shared = SharedDenies::new(&objects.zip(denies).collect::<Vec<_>>());
    let lines = cells.iter().zip(groups).map(|(row, groups)| {
        let MatrixRow { role, domain, resource, action, outcome } = row;
        let place = place(resource, action.as_deref(), domain.as_deref());
        let groups = groups.map(|groups| groups.without(&shared.about(resource)));
        format!("{} has {place}{}", who(role.as_deref()), condition(outcome, groups.as_ref()))
    });
    let mut section = Section::main("decisions", "everything is denied").with_lines(lines);
    section.notes = shared.notes("");
    section.notes.extend(note.map(str::to_owned));
    section
}

/// Adds the changes of decisions to a section, an entry for each. A deny that comes or goes in all of them is a note.
pub(crate) fn impact(
    impact: &ImpactReport,
    mut section: Section,
    actions: ShownActions,
) -> Section {
    let (changes, left_out) = actions.of(&impact.changes, &impact.others);
    let sides: Vec<Sides> = changes.iter().map(Sides::new).collect();
    let objects = changes.iter().map(|change| &*change.resource);
    let added = objects.clone().zip(sides.iter().map(Sides::added));
    // The shared denies are known only after every change was read, so the entries are made in a second pass.
    let added = SharedDenies::new(&added.collect::<Vec<_>>());
    let removed = objects.zip(sides.iter().map(Sides::removed));
    let removed = SharedDenies::new(&removed.collect::<Vec<_>>());
    for (change, sides) in changes.iter().zip(sides) {
        let sides = sides.without(&removed.about(&change.resource), &added.about(&change.resource));
        section.entries.push(entry(change, &sides));
    }
    section.notes.extend(added.notes("new for "));
    section.notes.extend(removed.notes("gone from "));
    section.notes.extend(impact.note.clone());
    section.notes.extend(left_out);
    section
}

/// Returns the cases that are decided otherwise.
pub(super) fn cases(cases: &CaseChanges) -> Section {
    let changed = cases
        .changed
        .iter()
        .map(|CaseChange { case, before, after }| format!("case `{case}`: {after}, was {before}"));
    let skipped = cases
        .skipped
        .iter()
        .map(|SkippedCase { case, reason }| format!("case `{case}` is not compared: {reason}"));
    Section::main("cases", "").with_lines(changed.chain(skipped))
}

/// Returns the relations whose definitions differ.
pub(super) fn relations(relations: &[RelationChange]) -> Section {
    Section::main("relations", "").with_lines(relations.iter().map(RelationChange::line))
}

/// The conditions before and after a change; `None` if the text does not say them.
struct Sides {
    before: Option<Groups>,
    after: Option<Groups>,
}

impl Sides {
    fn new(change: &ImpactChange) -> Self {
        Self { before: Groups::read(&change.before), after: Groups::read(&change.after) }
    }

    /// Returns the denies in front that only the second side has.
    fn added(&self) -> Vec<Condition> {
        without(denies(self.after.as_ref()), denies(self.before.as_ref()))
    }

    /// Returns the denies in front that only the first side has.
    fn removed(&self) -> Vec<Condition> {
        without(denies(self.before.as_ref()), denies(self.after.as_ref()))
    }

    /// Leaves out what all changes share.
    fn without(self, removed: &[Condition], added: &[Condition]) -> Self {
        let before = self.before.map(|groups| groups.without(removed));
        Self { before, after: self.after.map(|groups| groups.without(added)) }
    }
}

fn denies(groups: Option<&Groups>) -> &[Condition] {
    groups.map(Groups::denies).unwrap_or_default()
}

fn without(denies: &[Condition], others: &[Condition]) -> Vec<Condition> {
    denies.iter().filter(|deny| !others.contains(deny)).cloned().collect()
}

fn entry(change: &ImpactChange, Sides { before, after }: &Sides) -> ReportEntry {
    use CellDecision::{Allow, Deny, Depends};
    let who = who(change.role.as_deref());
    let place = place(&change.resource, change.action.as_deref(), change.domain.as_deref());
    let (was, is) = (&change.before, &change.after);
    let (before, after) = (before.as_ref(), after.as_ref());
    if let (Depends { .. }, Depends { .. }, Some(before), Some(after)) = (was, is, before, after) {
        let mut changes = before.changes(after);
        changes.extend(deny_changes(before.denies(), after.denies()));
        let text = format!("{who} has {place} on another condition");
        return ReportEntry::new(Sign::Plain, text).with_details(ConditionChange::lines(&changes));
    }
    // The order of the arms matters: each one relies on the cases that those above it have taken.
    let text = match (was, is) {
        (Allow, Deny) => format!("{who} loses {place}"),
        (_, Deny) => format!("{who} loses {place}{}", had(was, before)),
        (Deny, _) => format!("{who} gains {place}{}", condition(is, after)),
        (_, Allow) => format!("{who} has {place} without a condition{}", had(was, before)),
        _ => format!("{who} has {place}{}{}", condition(is, after), had(was, before)),
    };
    ReportEntry::new(Sign::Plain, text)
}

/// Returns the subject of a sentence: the role, everybody, or everybody without a role that something names.
fn who(role: Option<&str>) -> &str {
    match role {
        Some(WILDCARD) => "everybody",
        Some(role) => role,
        None => "everybody else",
    }
}

/// Returns the object of a sentence: the resource, the action unless it is the verb, and the domain.
fn place(resource: &str, action: Option<&str>, domain: Option<&str>) -> String {
    let verb = resource.rsplit_once(':').map(|(_, verb)| verb);
    let action = match action {
        // A resource without a colon has no verb, and then an absent action is not mentioned.
        action if action == verb => String::new(),
        Some(WILDCARD) => " by any action".to_owned(),
        Some(action) => format!(" by the action `{action}`"),
        None => " by any other action".to_owned(),
    };
    let domain = match domain {
        Some(WILDCARD) => String::new(),
        Some(domain) => format!(" in {domain}"),
        None => " in any other domain".to_owned(),
    };
    format!("{resource}{action}{domain}")
}

/// Returns the condition of an outcome, with a space before it; nothing if there is none. `groups` are what it depends on, if
/// the text says that.
fn condition(outcome: &CellDecision, groups: Option<&Groups>) -> String {
    let CellDecision::Depends { condition, policies, more_policies } = outcome else {
        return String::new();
    };
    let text = match groups {
        Some(groups) => groups.text(),
        None => condition.clone(),
    };
    match text {
        // A text that begins with the denies has its own conjunction.
        Some(text) if text.starts_with("unless ") => format!(" {text}"),
        Some(text) => format!(" if {text}"),
        // The section has a note about the denies that were left out, and nothing else remains to be said.
        None if groups.is_some() => String::new(),
        None => {
            let named: Vec<_> = policies.iter().map(|name| format!("`{name}`")).collect();
            let more = match more_policies {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(", as the policies {}{more} decide", named.join(", "))
        }
    }
}

/// Returns the condition that an outcome had before, in parentheses.
fn had(before: &CellDecision, groups: Option<&Groups>) -> String {
    let condition = condition(before, groups);
    match before {
        CellDecision::Deny => String::new(),
        _ if condition.is_empty() => " (before: always)".to_owned(),
        // Each form of the condition begins with a space, but for a comma in one of them.
        _ => format!(" (before:{})", condition.strip_prefix(',').unwrap_or(&condition)),
    }
}
