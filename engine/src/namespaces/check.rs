//! Checks conditions against the attributes that a policy may read.

use super::ReadableAttributes;
use super::kinds::KindSet;
use super::written::{self, Read};
use crate::condition::{
    AttributePath, Condition, Leaf, Named, NamedConditions, Operand, Predicate, ResolverAttribute,
    Test,
};
use crate::datetimes;
use crate::excerpt::quoted;
use crate::invalid::{MAX_PROBLEMS, Place, Problems};
use crate::json::{self, Json};
use crate::operator::Form;
use crate::policy::Format;

impl Condition {
    /// Checks every name and attribute in the tree: a named condition exists, and fits here; an attribute of a resolver
    /// exists, and so does one of a namespace that has declared properties, and the operator compares its type with the
    /// other side. `at` is the place of the tree.
    pub fn check(
        &self,
        attributes: ReadableAttributes<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        Check::new(attributes, Faults::InTree(problems)).tree(self, at);
    }

    /// Checks the condition of a `rule_data` in this format at `at`, as [`Condition::check`] does. `rule_data` is its
    /// JSON.
    pub fn check_rule_data(
        &self,
        format: Format,
        rule_data: &str,
        attributes: ReadableAttributes<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        let member = match format {
            Format::Json => return self.check(attributes, at, problems),
            Format::Casbin => "matcher",
            Format::Expression => "expression",
        };
        self.check_text(format, rule_data, attributes, &at.key(member), problems);
    }

    /// Checks the condition of a text at `at`, as [`Condition::check`] does. `rule_data` is the JSON that holds the text.
    /// A fault is at the token that names the attribute.
    pub fn check_text(
        &self,
        format: Format,
        rule_data: &str,
        attributes: ReadableAttributes<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        let mut check = Check::new(attributes, Faults::InText(Vec::new()));
        check.tree(self, &Place::root());
        let Check { read, faults: Faults::InText(faults), .. } = check else { return };
        note_in_text(format, rule_data, (&read, faults), at, problems);
    }

    /// Checks the names in the tree of a named condition at `at`, as [`Condition::check`] does, and no attributes. It may be
    /// larger than what a policy can use.
    pub fn check_names(&self, names: &NamedConditions, at: &Place<'_>, problems: &mut Problems) {
        let faults = names.faults(self).into_iter().filter(|(index, _)| index.is_some());
        let (mut faults, mut index) = (faults.peekable(), 0);
        self.visit_leaves(at, &mut |leaf, at| {
            let Leaf::Named(_) = leaf else { return };
            if let Some((_, fault)) = faults.next_if(|(of, _)| *of == Some(index)) {
                problems.expected(&at.key("name"), fault.to_string());
            }
            index += 1;
        });
    }

    /// Checks the names in the expression at `at`, as [`Condition::check_names`] does. `rule_data` is the JSON that holds the
    /// text.
    pub fn check_names_of_text(
        &self,
        names: &NamedConditions,
        rule_data: &str,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        let uses: Vec<Read<'_>> = self.uses_of_names().map(Read::Condition).collect();
        let faults = names.faults(self).into_iter().filter(|(index, _)| index.is_some());
        let faults = faults.map(|(index, fault)| (index, fault.to_string())).collect();
        note_in_text(Format::Expression, rule_data, (&uses, faults), at, problems);
    }

    /// Returns every resolver attribute that the tree reads, with repetitions.
    pub fn resolved_attributes(&self) -> Vec<&ResolverAttribute> {
        let resolved = self.attributes().filter_map(|path| match path {
            AttributePath::Resolver(attribute) => Some(attribute),
            _ => None,
        });
        resolved.collect()
    }
}

/// Notes the faults of a condition at the tokens of its text at `at`. `read` is what the condition names, in the order of the
/// text. `rule_data` is the JSON that holds the text.
fn note_in_text(
    format: Format,
    rule_data: &str,
    (read, faults): (&[Read<'_>], Vec<(Option<usize>, String)>),
    at: &Place<'_>,
    problems: &mut Problems,
) {
    if faults.is_empty() {
        return;
    }
    // The text has been read before, so that this does not fail.
    let rule_data = json::parse(rule_data.as_bytes()).unwrap_or(Json::Null);
    let members = rule_data.as_object().unwrap_or_default();
    // A format of texts has this one member.
    let text = members.first().and_then(|(_, text)| text.as_str()).unwrap_or_default();
    for (index, expected) in faults {
        problems.push(at, written::fault(format, text, read, index, expected));
    }
}

/// A check of a condition.
struct Check<'c, 'p> {
    attributes: ReadableAttributes<'c>,
    /// The attributes and names that were checked so far, in the order of the condition.
    read: Vec<Read<'c>>,
    /// The list whose items the tests are about, and the types that they may have.
    list: Option<(&'c AttributePath, KindSet)>,
    faults: Faults<'p>,
}

/// The faults of a condition; each completes "expected …".
enum Faults<'p> {
    /// By their places in the tree.
    InTree(&'p mut Problems),
    /// By the places of what they name in `read`; a fault of the whole text has none.
    InText(Vec<(Option<usize>, String)>),
}

impl<'c, 'p> Check<'c, 'p> {
    fn new(attributes: ReadableAttributes<'c>, faults: Faults<'p>) -> Self {
        Self { attributes, read: Vec::new(), list: None, faults }
    }

    /// Checks a condition as it is written. The names come first: what they stand for is looked at only within its bounds.
    fn tree(&mut self, condition: &'c Condition, at: &Place<'_>) {
        let faults = self.attributes.conditions().faults(condition);
        let are_names_sound = faults.is_empty();
        let mut faults = faults.into_iter().peekable();
        if let Some((_, whole)) = faults.next_if(|(index, _)| index.is_none()) {
            self.note(at, None, whole.to_string());
        }
        let mut names = 0;
        condition.visit_leaves(at, &mut |leaf, at| match leaf {
            Leaf::Test(test) => self.test(test, at),
            Leaf::Named(named) => {
                let place = self.read.len();
                self.read.push(Read::Condition(named));
                if let Some((_, fault)) = faults.next_if(|(index, _)| *index == Some(names)) {
                    self.note(&at.key("name"), Some(place), fault.to_string());
                } else if are_names_sound {
                    self.meaning(named, (place, &at.key("name")));
                }
                names += 1;
            }
        });
    }

    /// Checks the attributes of what a name stands for. Notes the first fault at the name.
    fn meaning(&mut self, named: &Named, (place, at): (usize, &Place<'_>)) {
        let attributes = self.attributes;
        let Ok(meaning) = attributes.conditions().get(named.name()) else { return };
        // As for a text, because places inside the meaning are not places in this tree.
        let mut inner = Check::new(attributes, Faults::InText(Vec::new()));
        meaning.visit_tests(&Place::root(), &mut |test, at| inner.test(test, at));
        let Check { read, faults: Faults::InText(faults), .. } = inner else { return };
        let Some((index, expected)) = faults.into_iter().next() else { return };
        let about =
            index.and_then(|index| read.get(index)).map(|path| format!("{} in ", quoted(path)));
        let about = about.unwrap_or_default();
        self.note(at, Some(place), format!("{expected}, for {about}{}", quoted(named)));
    }

    /// Checks one test. Notes a fault at each side that does not exist, or at the side whose type does not fit.
    fn test(&mut self, test: &'c Test, at: &Place<'_>) {
        let value = at.key("value");
        let (left_at, right_at) = (at.key("attribute"), value.key("attribute"));
        let right_path = test.predicate.right_attribute();
        let left_index = self.read.len();
        let left = self.kinds(&test.attribute, &left_at);
        let right = match right_path {
            Some(path) => self.kinds(path, &right_at),
            None => Some(KindSet::for_right_side(&test.predicate)),
        };
        if matches!(test.predicate, Predicate::Items(_)) {
            self.list = left.map(|kinds| (&test.attribute, kinds.of_items()));
        }
        // A side that does not exist has its own fault already.
        let (Some(left), Some(right)) = (left, right) else { return };
        if self.is_full() {
            return;
        }
        if fits(&test.predicate, left, right) {
            if let Some(path) = self.attributes.ordered_datetime(test) {
                // The right side is read after the left one.
                let is_left = *path == test.attribute;
                let (at, index) =
                    if is_left { (&left_at, left_index) } else { (&right_at, left_index + 1) };
                self.note(at, Some(index), instead(test, path));
            }
            return;
        }
        let operator = test.predicate.operator_name();
        if let Some(known) = self.known_values(&test.attribute) {
            let what = match &test.predicate {
                Predicate::Items(_) | Predicate::Length(..) if !left.may_be_list() => {
                    format!("a list, which `{operator}` takes ({known})")
                }
                _ => format!("an attribute that `{operator}` compares with this value ({known})"),
            };
            self.note(&left_at, Some(left_index), what);
        } else if let Some(path) = right_path
            && let Some(known) = self.known_values(path)
        {
            let left = quoted(&test.attribute);
            let what = format!("an attribute that `{operator}` compares {left} with ({known})");
            self.note(&right_at, Some(left_index + 1), what);
        }
    }

    /// Returns the types of the values that an attribute may have. Notes a fault if it does not exist.
    fn kinds(&mut self, path: &'c AttributePath, at: &Place<'_>) -> Option<KindSet> {
        let index = self.read.len();
        self.read.push(Read::Attribute(path));
        if *path == AttributePath::Item {
            return self.list.map(|(_, kinds)| kinds);
        }
        let kinds = self.attributes.kinds(path);
        // Only a kept fault pays for the search of the nearest name.
        if kinds.is_none() && !self.is_full() {
            self.note(at, Some(index), self.attributes.expected(path));
        }
        kinds
    }

    /// Returns what is known of the values of an attribute, or of the list whose item it is.
    fn known_values(&self, path: &AttributePath) -> Option<String> {
        let known = match path {
            AttributePath::Item => self.list?.0,
            other => other,
        };
        self.attributes.known_values(known)
    }

    fn note(&mut self, at: &Place<'_>, index: Option<usize>, expected: String) {
        match &mut self.faults {
            Faults::InTree(problems) => problems.expected(at, expected),
            Faults::InText(faults) => faults.push((index, expected)),
        }
    }

    fn is_full(&self) -> bool {
        match &self.faults {
            Faults::InTree(problems) => problems.is_full(),
            Faults::InText(faults) => faults.len() >= MAX_PROBLEMS,
        }
    }
}

/// Completes "expected …" for the order of a declared date-time.
fn instead(test: &Test, datetime: &AttributePath) -> String {
    let instead = datetimes::instead_of(test).unwrap_or_default();
    let operator = test.predicate.operator_name();
    format!(
        "`{instead}`: {} is declared as a date-time, which `{operator}` would order as a text",
        quoted(datetime)
    )
}

/// Returns whether a predicate can hold between these types.
fn fits(predicate: &Predicate, left: KindSet, right: KindSet) -> bool {
    let (row, operand) = match predicate {
        // A policy that is stored so stays.
        Predicate::Exists | Predicate::Unordered(..) => return true,
        Predicate::Matches(_) => return left.has(KindSet::ANY_TEXT),
        Predicate::IpIn(_) => return left.has(KindSet::ADDRESS),
        Predicate::During(_) => return left.has(KindSet::DATETIME),
        Predicate::Items(_) => return left.may_be_list(),
        Predicate::Length(_, Operand::Attribute(_)) => {
            return left.may_be_list() && right.may_be_number();
        }
        Predicate::Length(..) => return left.may_be_list(),
        Predicate::Compare(operator, operand) => (operator.row(), operand),
    };
    match row.form {
        Form::Instants(_) => return left.has(KindSet::DATETIME) && right.has(KindSet::DATETIME),
        Form::Near(_) => return left.has(KindSet::DATETIME),
        // No text is a number: two such lists share no item.
        Form::Items(_) if !left.has(right) => return false,
        Form::Order(_) | Form::Member | Form::Part(_) | Form::Items(_) => {}
    }
    let may_compare = row
        .compares
        .iter()
        .any(|(x, y)| left.has(KindSet::beside(*x, *y)) && right.has(KindSet::beside(*y, *x)));
    may_compare && (!row.form.compares_whole_texts() || left.may_equal(operand))
}
