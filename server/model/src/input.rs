//! Request bodies. Each body is declared once, by a function over [`Members`]: the declaration reads the body and
//! describes it in the API's document, so that the two cannot differ.
//!
//! A [`Field`] is a kind of value, with its reader and its schema. JSON Schema cannot express everything that a reader
//! demands. What it leaves out, such as that a regular expression compiles, stands in a description.

use portcullis_engine::fields::Fields;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json};
use serde_json::Value;

use crate::schema::{self, AnySchema, Input};

/// A kind of value in a request: its reader and its schema.
pub trait Field<'j> {
    /// The type of a value that was read.
    type Value;

    /// Reads the value at `at`. `None` means that `problems` has a new note.
    fn read(
        &self,
        json: &'j Json<'j>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Self::Value>;

    /// The schema of the values that the reader accepts.
    fn schema(&self) -> AnySchema;

    /// Returns the field with another description.
    fn about(self, description: &'static str) -> impl Field<'j, Value = Self::Value>
    where
        Self: Sized,
    {
        derived(self, Self::read, move |field| schema::about(field.schema(), description))
    }

    /// Returns the field with a conversion of each value after it is read.
    fn map<T>(self, convert: impl Fn(Self::Value) -> T) -> impl Field<'j, Value = T>
    where
        Self: Sized,
    {
        derived(
            self,
            move |field, json, at, problems| field.read(json, at, problems).map(&convert),
            Self::schema,
        )
    }

    /// Returns the field; the document says that `value` stands for an absent one.
    fn default_is(self, value: impl Into<Value> + Clone) -> impl Field<'j, Value = Self::Value>
    where
        Self: Sized,
    {
        derived(self, Self::read, move |field| schema::default(field.schema(), value.clone()))
    }
}

/// A kind of value, of the function that reads it and the one that makes its schema.
pub fn field<'j, T, A: Into<AnySchema>>(
    read: impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
    schema: impl Fn() -> A,
) -> impl Field<'j, Value = T> {
    Pair { read, schema: move || schema().into() }
}

struct Pair<R, S> {
    read: R,
    schema: S,
}

impl<'j, T, R, S> Field<'j> for Pair<R, S>
where
    R: Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
    S: Fn() -> AnySchema,
{
    type Value = T;

    fn read(&self, json: &'j Json<'j>, at: &Place<'_>, problems: &mut Problems) -> Option<T> {
        (self.read)(json, at, problems)
    }

    fn schema(&self) -> AnySchema {
        (self.schema)()
    }
}

/// A kind of value made of the field `inner`, which both functions get.
pub fn derived<'j, F, T>(
    inner: F,
    read: impl Fn(&F, &'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
    schema: impl Fn(&F) -> AnySchema,
) -> impl Field<'j, Value = T> {
    Derived { inner, read, schema }
}

struct Derived<F, R, S> {
    inner: F,
    read: R,
    schema: S,
}

impl<'j, F, T, R, S> Field<'j> for Derived<F, R, S>
where
    R: Fn(&F, &'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
    S: Fn(&F) -> AnySchema,
{
    type Value = T;

    fn read(&self, json: &'j Json<'j>, at: &Place<'_>, problems: &mut Problems) -> Option<T> {
        (self.read)(&self.inner, json, at, problems)
    }

    fn schema(&self) -> AnySchema {
        (self.schema)(&self.inner)
    }
}

/// The members of an object, while a declaration names them.
///
/// Each verb reads one member and notes its faults. When the object is described instead, a verb adds the schema of
/// the member and returns `None`. A declaration therefore names every member before it uses a value.
pub struct Members<'j, 'p>(Mode<'j, 'p>);

enum Mode<'j, 'p> {
    Reading(Fields<'j, 'p>),
    Describing(&'p mut Input),
}

impl<'j, 'p> Members<'j, 'p> {
    /// Returns the members to read. `None` if the object is described; then `describe` adds a member.
    fn read_or(&mut self, describe: impl FnOnce(&mut Input)) -> Option<&mut Fields<'j, 'p>> {
        match &mut self.0 {
            Mode::Reading(fields) => Some(fields),
            Mode::Describing(input) => {
                describe(input);
                None
            }
        }
    }

    /// A member that must exist; `null` counts as absent.
    pub fn required<F: Field<'j>>(&mut self, name: &'static str, field: F) -> Option<F::Value> {
        let fields = self.read_or(|input| input.add_required(name, field.schema()))?;
        fields.required(name, reader(&field))
    }

    /// A member that decides which form the body has, and so is known to exist; `null` is a fault.
    pub fn given<F: Field<'j>>(&mut self, name: &'static str, field: F) -> Option<F::Value> {
        let fields = self.read_or(|input| input.add_required(name, field.schema()))?;
        fields.change(name, reader(&field))
    }

    /// A member that may be absent; `null` counts as absent.
    pub fn optional<F: Field<'j>>(&mut self, name: &'static str, field: F) -> Option<F::Value> {
        let fields = self.read_or(|input| input.add(name, schema::nullable(field.schema())))?;
        fields.optional(name, reader(&field))
    }

    /// A member of an update: an absent one leaves the record as it is, and `null` is a fault.
    pub fn change<F: Field<'j>>(&mut self, name: &'static str, field: F) -> Option<F::Value> {
        let fields = self.read_or(|input| input.add(name, field.schema()))?;
        fields.change(name, reader(&field))
    }

    /// A member of an update that `null` clears: `Some(None)`.
    pub fn clearable<F: Field<'j>>(
        &mut self,
        name: &'static str,
        field: F,
    ) -> Option<Option<F::Value>> {
        let fields = self.read_or(|input| input.add(name, schema::nullable(field.schema())))?;
        fields.clearable(name, reader(&field))
    }

    /// Notes the member `name`, which belongs elsewhere, if the object has it. `place` says where.
    pub fn misplaced(&mut self, name: &'static str, place: &'static str) {
        // The document says nothing of a misplaced member, which it does not admit anyway.
        if let Mode::Reading(fields) = &mut self.0 {
            fields.misplaced(name, place);
        }
    }

    /// Notes a problem with the member `name`; `what` completes "expected …".
    pub fn expected_at(&mut self, name: &str, what: impl Into<String>) {
        if let Mode::Reading(fields) = &mut self.0 {
            fields.expected_at(name, what);
        }
    }
}

/// Returns the reader of a field.
fn reader<'j, F: Field<'j>>(
    field: &F,
) -> impl FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<F::Value> {
    |json, at, problems| field.read(json, at, problems)
}

/// A request body that is declared without any context.
pub trait DeclaredBody<'j>: Sized {
    /// Names the members of the body.
    fn declare(members: &mut Members<'j, '_>) -> Option<Self>;

    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    fn parse(json: &'j Json<'j>) -> Result<Self, Invalid> {
        parse(json, Self::declare)
    }
}

/// Reads a request body as `declare` says.
///
/// # Errors
/// Every fault, by JSON pointer.
pub fn parse<'j, T>(
    json: &'j Json<'j>,
    declare: impl FnOnce(&mut Members<'j, '_>) -> Option<T>,
) -> Result<T, Invalid> {
    let mut problems = Problems::default();
    let body = read(json, &Place::root(), &mut problems, declare);
    problems.finish(body)
}

/// Reads the object at `at` as `declare` says. A member that it does not name is a fault.
pub fn read<'j, T>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
    declare: impl FnOnce(&mut Members<'j, '_>) -> Option<T>,
) -> Option<T> {
    let mut members = Members(Mode::Reading(Fields::open(json, at, problems)?));
    let object = declare(&mut members);
    // Unknown members are noted even if the declaration gave nothing, so that all faults are reported together.
    if let Mode::Reading(fields) = members.0 {
        fields.close();
    }
    object
}

/// Reads the members that `declare` names of the object at `at`. The other members are for another reader.
pub fn read_partly<'j, T>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
    declare: impl FnOnce(&mut Members<'j, '_>) -> Option<T>,
) -> Option<T> {
    declare(&mut Members(Mode::Reading(Fields::open(json, at, problems)?)))
}

/// The schema of an object with the members that `declare` names, and no others.
pub fn describe<'j, T>(declare: impl FnOnce(&mut Members<'j, '_>) -> Option<T>) -> Input {
    let mut input = schema::input();
    // The value is of no interest: while members are described, each of them reads as `None`.
    declare(&mut Members(Mode::Describing(&mut input)));
    input
}

/// An object inside of a body.
pub fn object<'j, T>(
    declare: impl Fn(&mut Members<'j, '_>) -> Option<T>,
) -> impl Field<'j, Value = T> {
    derived(
        declare,
        |declare, json, at, problems| read(json, at, problems, declare),
        |declare| describe(declare).into(),
    )
}
