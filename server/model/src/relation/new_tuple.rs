//! Tuples as clients send them.

use std::fmt;

use portcullis_engine::entities::principal;
use portcullis_engine::fields::{text as read_text, within};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::MAX_SUBJECT;
use portcullis_engine::{Json, leading_word};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::entity::{MAX_ID, MAX_TYPE, is_type};
use crate::fields::{instant, text};
use crate::input::{self, Field, Members, field};
use crate::{Timestamp, document, schema};

/// The id of a subject that stands for everybody of its type.
pub const EVERYBODY: &str = "*";
/// Longest `<type>:<id>`, in characters.
const MAX_REFERENCE: usize = MAX_TYPE + 1 + MAX_ID;
/// Longest name of a relation, in characters.
const MAX_RELATION: usize = 128;

/// The type and id of an object or a subject. Its text is `<type>:<id>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName {
    pub kind: String,
    pub id: String,
}

impl ObjectName {
    /// Returns the name of the object with this type and id.
    pub fn new(kind: &str, id: &str) -> Self {
        Self { kind: kind.to_owned(), id: id.to_owned() }
    }

    /// Reads `<type>:<id>`; `None` if it has another form or is too long. The id may have any characters.
    pub fn parse(text: &str) -> Option<Self> {
        // The first colon ends the type, which has none, and further ones belong to the id.
        let (kind, id) = text.split_once(':')?;
        // A user is named by its id alone, so the type does not count there.
        let is_short = within(&principal(kind, id), MAX_SUBJECT) && within(id, MAX_ID);
        let is_sound = is_type(kind) && is_short && !id.contains('\0');
        is_sound.then(|| Self::new(kind, id))
    }

    fn field<'j>() -> impl Field<'j, Value = Self> {
        field(Self::read, || {
            schema::text(MAX_REFERENCE).pattern(Some(r"^[^:\s\x00-\x1f\x7f-\x9f]+:[^\x00]+$"))
        })
    }

    /// Returns the field of an object, which is not everybody of a type.
    fn field_of_one<'j>() -> impl Field<'j, Value = Self> {
        field(Self::read_one, || {
            schema::text(MAX_REFERENCE)
                .pattern(Some(r"^[^:\s\x00-\x1f\x7f-\x9f]+:([^*\x00]|\*[^\x00])[^\x00]*$"))
        })
    }

    fn read_one(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let read = Self::read(json, at, problems)?;
        if read.id == EVERYBODY {
            problems.expected(at, "one object: only a subject can be `*`");
            return None;
        }
        Some(read)
    }

    fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let read = Self::parse(read_text(MAX_REFERENCE)(json, at, problems)?);
        if read.is_none() {
            let what = format!(
                "`<type>:<id>`, such as `document:d7`: a type without white space, and an id of 1 to {MAX_ID} characters, at most \
                 {MAX_SUBJECT} together"
            );
            problems.expected(at, what);
        }
        read
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.id)
    }
}

impl Serialize for ObjectName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A tuple as a client sends it: the subject has the relation to the object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewTuple {
    pub object: ObjectName,
    pub relation: String,
    /// The id `*` is everybody of the type.
    pub subject: ObjectName,
    /// All who have this relation to the subject, instead of the subject itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_relation: Option<String>,
    /// The instant from which on the tuple does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl NewTuple {
    /// Reads the tuple at `at`.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let tuple = input::read(json, at, problems, Self::declare)?;
        // An id may contain a `#`, but one that ends like this most likely comes from another system.
        if tuple.subject_relation.is_none() && names_relation(&tuple.subject.id) {
            let what = "a subject without a relation: write what stands after the `#` as `subject_relation`";
            problems.expected(&at.key("subject"), what);
        }
        // `*` is no object, so nobody has a relation to it.
        if tuple.subject.id == EVERYBODY && tuple.subject_relation.is_some() {
            let what = "no `subject_relation` where the subject is everybody of a type";
            problems.expected(&at.key("subject_relation"), what);
        }
        Some(tuple)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let object = ObjectName::field_of_one().about("The object, `<type>:<id>`");
        let object = members.required("object", object);
        let relation = text(MAX_RELATION).about("A relation of the type of the object");
        let relation = members.required("relation", relation);
        let subject = ObjectName::field()
            .about("Who has the relation, `<type>:<id>`; `<type>:*` is everybody of the type");
        let subject = members.required("subject", subject);
        let about =
            "A relation of the subject: all who have it are meant, and not the subject itself";
        let subject_relation =
            members.optional("subject_relation", text(MAX_RELATION).about(about));
        let about = "The instant from which on the tuple does not count; a tuple to delete is found without it";
        let expires_at = members.optional("expires_at", instant().about(about));
        Some(Self {
            object: object?,
            relation: relation?,
            subject: subject?,
            subject_relation,
            expires_at: expires_at.map(Timestamp::from),
        })
    }

    /// Returns what makes the tuple another one: all but its expiry.
    pub(super) fn key(&self) -> (&ObjectName, &str, &ObjectName, Option<&str>) {
        (&self.object, &self.relation, &self.subject, self.subject_relation.as_deref())
    }
}

/// Returns whether an id ends as other systems write those who have a relation, such as `eng#member`.
fn names_relation(id: &str) -> bool {
    id.rsplit_once('#').is_some_and(|(_, name)| !name.is_empty() && leading_word(name) == name)
}

/// The tuples that a list shows, or that a call deletes. An absent part selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TupleSelection {
    pub object: Option<ObjectName>,
    /// The type of the object.
    pub object_type: Option<String>,
    pub relation: Option<String>,
    /// The subject, with any relation of the subject.
    pub subject: Option<ObjectName>,
    pub source: Option<String>,
}

document!(NewTuple as "Tuple" => {
    input::describe(NewTuple::declare).about("A subject has a relation to an object").example(json!({
        "object": "document:d7",
        "relation": "viewer",
        "subject": "group:eng",
        "subject_relation": "member",
    }))
});
