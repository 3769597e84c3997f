//! The claim of the caller's token that gives a relation, as a type declares it.

use portcullis_engine::Json;
use portcullis_engine::excerpt::quoted;
use portcullis_engine::fields::{Fields, string, text};
use portcullis_engine::invalid::{Place, Problems};

/// The maximum length of the name of a claim or attribute, in characters.
pub(crate) const MAX_SOURCE: usize = 128;

/// A claim that makes the caller a member of the objects that it lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimSource {
    /// The name of the claim, or its path.
    pub name: String,
    /// The meaning of its absence.
    pub absent: AbsentClaim,
}

/// The meaning of a claim that is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AbsentClaim {
    /// Nobody knows of which objects the subject is a member.
    #[default]
    Undetermined,
    /// The claim makes the subject a member of nothing.
    Nobody,
}

impl AbsentClaim {
    /// The values, as a type writes them.
    pub const NAMES: [&'static str; 2] = ["undetermined", "nobody"];
}

impl ClaimSource {
    /// Returns the canonical form: the name if the absence has its usual meaning.
    pub fn to_json(&self) -> Json<'_> {
        let name = Json::String(self.name.as_str().into());
        let [_, nobody] = AbsentClaim::NAMES;
        match self.absent {
            AbsentClaim::Undetermined => name,
            AbsentClaim::Nobody => Json::Object(vec![
                ("name".into(), name),
                ("absent".into(), Json::String(nobody.into())),
            ]),
        }
    }

    /// Reads the name, or an object of name and absence.
    pub(crate) fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if !matches!(json, Json::Object(_)) {
            let name = text(MAX_SOURCE)(json, at, problems)?.to_owned();
            return Some(Self { name, absent: AbsentClaim::default() });
        }
        let mut fields = Fields::open(json, at, problems)?;
        let name = fields.required("name", text(MAX_SOURCE));
        let absent = fields.optional("absent", read_absent);
        fields.close();
        Some(Self { name: name?.to_owned(), absent: absent.unwrap_or_default() })
    }
}

fn read_absent(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<AbsentClaim> {
    let [undetermined, nobody] = AbsentClaim::NAMES;
    match string(json, at, problems)? {
        text if text == undetermined => Some(AbsentClaim::Undetermined),
        text if text == nobody => Some(AbsentClaim::Nobody),
        other => {
            let what = format!("`{undetermined}` or `{nobody}`, not {}", quoted(other));
            problems.expected(at, what);
            None
        }
    }
}
