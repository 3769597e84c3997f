//! Converts the lines of a policy file: partial evaluation of the matcher for each line, then rules and policies.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_engine::Effect;

use super::condition::{Condition, number};
use super::known::Known;
use super::lines::Line;
use super::membership::{RoleScope, Roles};
use super::model::{EFFECT, Model, PRIORITY, PolicyEffect};
use super::objects::Objects;
use super::output::{Converted, Origin, Output};
use crate::fault::ImportFault;

/// The most lines of one file, so that a file cannot take all memory.
const MAX_LINES: usize = 1_000_000;

/// Converts the lines of a policy file.
pub(super) fn convert(
    model: &Model,
    lines: impl Iterator<Item = Result<Line, ImportFault>>,
) -> Converted {
    let mut reading = Reading::new(model);
    for (line, read) in lines.zip(0..) {
        if read == MAX_LINES {
            let reason = format!("the file has more than {MAX_LINES} lines");
            reading.faults.push(ImportFault::without_line(reason));
            break;
        }
        let outcome = line.and_then(|line| reading.line(line));
        reading.faults.extend(outcome.err());
    }
    let Reading { roles, mut policies, notes, mut faults, .. } = reading;
    let mut conversion = Conversion {
        model,
        roles: &roles,
        output: Output::default(),
        without_effect: 0,
        notes: Vec::new(),
        is_encoded: false,
    };
    conversion.note_orders(&policies);
    let objects = Objects::new(model, &policies, &roles, &mut faults);
    if model.matcher.reads_policy() && !policies.is_empty() {
        // A line with a fault about its object is reported, and becomes nothing.
        let refused: BTreeSet<_> = faults.iter().filter_map(|fault| fault.line).collect();
        policies.retain(|line| !refused.contains(&line.number));
        let ordered = conversion.in_order(&policies, &mut faults);
        for (rank, line) in ordered.iter().enumerate() {
            // The first line decides, and the highest priority wins.
            let priority = i64::try_from(ordered.len() - rank).unwrap_or(i64::MAX);
            faults.extend(conversion.line(line, priority, &objects).err());
        }
    } else {
        faults.extend(conversion.without_lines(&objects).err());
    }
    faults.extend(conversion.everything().err());
    let mut converted = conversion.output.finish();
    converted.faults.append(&mut faults);
    converted.faults.sort_by_key(|fault| fault.line);
    converted.without_effect = conversion.without_effect;
    converted.notes = notes.into_values().chain(conversion.notes).collect();
    converted.objects = objects;
    converted
}

/// The lines of a file, by kind. A role line can stand after a policy line that needs it.
struct Reading<'m> {
    model: &'m Model,
    roles: Roles,
    policies: Vec<Line>,
    /// The first note of each sort about the role lines of a kind.
    notes: BTreeMap<(String, bool), ImportFault>,
    faults: Vec<ImportFault>,
}

impl<'m> Reading<'m> {
    fn new(model: &'m Model) -> Self {
        Self {
            model,
            roles: Roles::new(model.domain_patterns.is_some()),
            policies: Vec::new(),
            notes: BTreeMap::new(),
            faults: Vec::new(),
        }
    }

    fn line(&mut self, line: Line) -> Result<(), ImportFault> {
        let Model { columns, definitions, .. } = self.model;
        if line.kind == "p" {
            let line = line.without_padding(columns.len());
            line.has_values(columns.len())?;
            self.policies.push(line);
            return Ok(());
        }
        let Some(scope) = definitions.get(&line.kind) else {
            let known: Vec<_> = definitions.keys().map(|kind| format!("`{kind}`")).collect();
            let known = [vec!["`p`".to_owned()], known].concat().join(" or ");
            return Err(line
                .fault(format!("expected a line that starts with {known}, not `{}`", line.kind)));
        };
        let count = if *scope == RoleScope::ByDomain { 3 } else { 2 };
        let line = line.without_padding(count);
        line.has_values(count)?;
        if let [member, role, domain @ ..] = &*line.values {
            self.roles.add(&line.kind, member, role, domain.first().map(String::as_str));
            self.note_patterns(&line);
        }
        Ok(())
    }

    /// Notes values of a role line that Casbin for Go reads as patterns, or would if the application added a function.
    fn note_patterns(&mut self, line: &Line) {
        for (column, value) in line.values.iter().enumerate() {
            let patterns = self.model.domain_patterns.as_ref().filter(|_| column == 2);
            let reason = match patterns {
                Some(call) if value.contains('*') => format!(
                    "note: the matcher has `{call}`, so `{value}` is a pattern of domains, as in Casbin for Go"
                ),
                None if value.contains(['*', '{', '[', '^', '|']) || value.contains("/:") => {
                    format!(
                        "note: `{value}` is a plain text, as in Casbin unless the application adds a function to `{}` \
                     (AddNamedMatchingFunc, AddNamedDomainMatchingFunc); if it does, write a line for each name that matches",
                        line.kind
                    )
                }
                _ => continue,
            };
            self.notes
                .entry((line.kind.clone(), patterns.is_some()))
                .or_insert_with(|| line.fault(reason));
        }
    }
}

/// The outcome of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Some,
    /// A rule or policy about everything and everybody.
    Everything,
}

struct Conversion<'m> {
    model: &'m Model,
    roles: &'m Roles,
    output: Output,
    /// The number of lines that decide nothing in this model.
    without_effect: usize,
    /// Notes about lines.
    notes: Vec<ImportFault>,
    /// Whether a note says that resources are encoded.
    is_encoded: bool,
}

impl Conversion<'_> {
    /// Returns the lines in the order in which they decide. Notes those whose place is not known.
    fn in_order<'l>(&self, lines: &'l [Line], faults: &mut Vec<ImportFault>) -> Vec<&'l Line> {
        if self.model.effect != PolicyEffect::Priority {
            return lines.iter().collect();
        }
        let (mut ordered, mut seen) = (Vec::new(), BTreeSet::new());
        for line in lines {
            match self.rank(line) {
                Err(reason) => faults.push(line.fault(reason)),
                Ok(_) if !seen.insert(&line.values) => faults.push(line.fault(
                    "the line occurs twice, and Casbin's implementations differ in which one decides; remove one",
                )),
                Ok(rank) => ordered.push((rank, line)),
            }
        }
        // Casbin sorts by the number and keeps the order of equal ones.
        ordered.sort_by_key(|(rank, _)| *rank);
        ordered.into_iter().map(|(_, line)| line).collect()
    }

    /// Returns the explicit priority of a line; 0 if the model has none.
    fn rank(&self, line: &Line) -> Result<i64, &'static str> {
        let Some(text) = self.value(line, PRIORITY) else { return Ok(0) };
        text.parse().map_err(|_| "expected an integer in the column `priority`")
    }

    fn value<'l>(&self, line: &'l Line, column: &str) -> Option<&'l str> {
        let index = self.model.columns.iter().position(|own| own == column)?;
        line.values.get(index).map(String::as_str)
    }

    /// Converts one line.
    fn line(&mut self, line: &Line, priority: i64, objects: &Objects) -> Result<(), ImportFault> {
        let effect = match self.effect(line) {
            Ok(effect) => effect,
            Err(reason) => {
                self.left_out(line, reason);
                return Ok(());
            }
        };
        let columns = self.model.columns.iter().zip(&line.values);
        let known = columns.map(|(column, value)| (column.as_str(), value.as_str())).collect();
        let condition = self.known(known).expand(&self.model.matcher);
        let condition = condition.map_err(|reason| line.fault(reason))?;
        let origin = Origin { effect, priority: self.priority(priority), line: Some(line.number) };
        match self.add(condition, &origin, objects).map_err(|reason| line.fault(reason))? {
            Outcome::Nothing => self.left_out(line, "the matcher is never true for it".to_owned()),
            Outcome::Everything => self.notes.push(line.fault(format!(
                "note: the line {} everything to everybody, because the matcher is always true for it; `&&` binds closer than \
                 `||`, so look at its parentheses if that is not meant",
                if effect == Effect::Allow { "allows" } else { "denies" }
            ))),
            Outcome::Some => {}
        }
        self.note_encoded(line);
        Ok(())
    }

    /// Notes the first line whose resource has another spelling than its object and action.
    fn note_encoded(&mut self, line: &Line) {
        if self.is_encoded {
            return;
        }
        let Some(resource) = self.output.encoded() else { return };
        self.notes.push(line.fault(format!(
            "note: the resource is `{resource}`: white space, control characters and `%` of objects and actions, and colons of \
             actions, are percent-encoded in resources; actions stay as they are"
        )));
        self.is_encoded = true;
    }

    /// Returns the effect of a line.
    ///
    /// # Errors
    /// The reason why the line has none in this model.
    fn effect(&self, line: &Line) -> Result<Effect, String> {
        match self.value(line, EFFECT).map_or(Ok(Effect::Allow), str::parse) {
            Ok(Effect::Deny) if self.model.effect == PolicyEffect::AllowOverride => {
                Err("a deny decides nothing with the effect of this model".to_owned())
            }
            Ok(effect) => Ok(effect),
            Err(_) => {
                let text = self.value(line, EFFECT).unwrap_or_default();
                Err(format!(
                    "its effect `{text}` is neither `allow` nor `deny`, and decides nothing in Casbin"
                ))
            }
        }
    }

    /// Notes that a line becomes nothing.
    fn left_out(&mut self, line: &Line, reason: String) {
        self.without_effect += 1;
        self.notes.push(line.fault(format!("left out: {reason}")));
    }

    /// Notes how the columns compare that the matcher compares by order: the first number and the first other text of each.
    fn note_orders(&mut self, lines: &[Line]) {
        for (index, column) in self.model.ordered_columns() {
            let values = lines.iter().filter_map(|line| Some((line, line.values.get(index)?)));
            let (numbers, texts): (Vec<_>, Vec<_>) =
                values.partition(|(_, value)| number(value).is_some());
            if let Some((line, value)) = numbers.first() {
                self.notes.push(line.fault(format!(
                    "note: `{value}` in the column `{column}` compares as a number; a request that sends a text to compare with it \
                     is undetermined"
                )));
            }
            if let Some((line, value)) = texts.first() {
                self.notes.push(line.fault(format!(
                    "note: `{value}` in the column `{column}` is not a number: it compares as a text, character by character"
                )));
            }
        }
    }

    /// Casbin evaluates a matcher that no line concerns once, with empty values.
    fn without_lines(&mut self, objects: &Objects) -> Result<(), ImportFault> {
        let empty = self.model.columns.iter().map(|column| (column.as_str(), "")).collect();
        let condition = self.known(empty).expand(&self.model.matcher);
        let condition = condition.map_err(ImportFault::without_line)?;
        let origin = Origin { effect: Effect::Allow, priority: 0, line: None };
        let outcome = self.add(condition, &origin, objects).map_err(ImportFault::without_line)?;
        if outcome == Outcome::Everything {
            self.notes.push(ImportFault::without_line(
                "note: the matcher allows everything to everybody, because it is always true"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Allows everything, if that is what the model does without a deny.
    fn everything(&mut self) -> Result<(), ImportFault> {
        if self.model.effect != PolicyEffect::DenyOverride {
            return Ok(());
        }
        let dom = self.model.has_domain();
        self.output.allow_everything(dom).map_err(ImportFault::without_line)
    }

    fn known<'k>(&'k self, line: BTreeMap<&'k str, &'k str>) -> Known<'k> {
        let Model { request, definitions, .. } = self.model;
        Known { request, line, definitions, roles: self.roles, fixed: BTreeMap::new() }
    }

    /// Returns the priority of what a line becomes: only if the order of lines decides, they have different ones.
    fn priority(&self, rank: i64) -> i64 {
        if self.model.effect == PolicyEffect::Priority { rank } else { 0 }
    }

    fn add(
        &mut self,
        condition: Condition,
        origin: &Origin,
        objects: &Objects,
    ) -> Result<Outcome, String> {
        let mut outcome = Outcome::Nothing;
        for mut alternative in condition.alternatives(origin.priority == 0) {
            // Without lines, the columns are empty texts, and no request has an empty field.
            if origin.line.is_none() && alternative.iter().any(Condition::asks_for_empty) {
                continue;
            }
            alternative.sort_by_key(Condition::rank);
            self.output.add(&alternative, origin, objects, self.model.has_domain())?;
            // Without a test it holds for every request.
            if alternative.is_empty() {
                outcome = Outcome::Everything;
            } else if outcome == Outcome::Nothing {
                outcome = Outcome::Some;
            }
        }
        Ok(outcome)
    }
}
