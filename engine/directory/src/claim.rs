//! Claims of the caller's token that give relations (`docs/semantics.md`, section 12.12).

use std::fmt;

use portcullis_engine::Json;
use portcullis_engine::json::split_at_dot;

use crate::claim_source::{AbsentClaim, ClaimSource};
use crate::schema::{RelationId, Schema};

/// The claim that names the claims that the token has elsewhere (OpenID Connect Core, section 5.6.2).
const CLAIM_NAMES: &str = "_claim_names";
/// The claim that stands for the claim [`GROUPS`] where that would be too long.
const HAS_GROUPS: &str = "hasgroups";
const GROUPS: &str = "groups";

/// A claim that does not say of which objects the subject is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownClaim {
    /// The relation that the claim gives.
    pub relation: RelationId,
    /// The reason.
    pub doubt: ClaimDoubt,
}

/// The reason why a claim does not say of which objects the subject is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimDoubt {
    /// The token lacks it.
    Absent,
    /// The subject is not the caller, whose token is not about it.
    OfAnother,
    /// It is not a text or a list of texts.
    Mistyped,
    /// The token has a reference in its place.
    Referenced,
}

/// The rest of "a claim".
impl fmt::Display for ClaimDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "which the token does not have",
            Self::OfAnother => "which is not known of a subject that is not the caller",
            Self::Mistyped => "which is neither a text nor a list of texts",
            Self::Referenced => "in whose place the token has a reference",
        })
    }
}

/// The claims of a subject.
#[derive(Default)]
pub(crate) struct ReadClaims<'c> {
    /// The ids of the objects that each claim lists.
    pub(crate) listed: Vec<(RelationId, Vec<&'c str>)>,
    pub(crate) unknown: Vec<UnknownClaim>,
}

impl<'c> ReadClaims<'c> {
    /// Reads the claims that give relations. `token` has the claims of the subject's own token; `None` if the subject is not
    /// the caller.
    pub(crate) fn new(schema: &Schema, token: Option<&'c Json<'c>>) -> Self {
        let mut read = Self::default();
        for (relation, source) in schema.claims() {
            match ids(source, token) {
                Ok(ids) => read.listed.extend(ids.map(|ids| (relation, ids))),
                Err(doubt) => read.unknown.push(UnknownClaim { relation, doubt }),
            }
        }
        read
    }
}

/// Returns the ids that a claim lists; `None` if it is absent and that says that there are none.
fn ids<'c>(
    source: &ClaimSource,
    token: Option<&'c Json<'c>>,
) -> Result<Option<Vec<&'c str>>, ClaimDoubt> {
    if token.is_some_and(|token| is_referenced(token, &source.name)) {
        return Err(ClaimDoubt::Referenced);
    }
    match (token.and_then(|token| token.claim(&source.name)), source.absent) {
        (Some(Json::Array(items)), _) => {
            // One item that is not a text may stand for an object, so that the others do not say enough.
            let ids = items.iter().map(Json::as_str).collect::<Option<_>>();
            ids.map(Some).ok_or(ClaimDoubt::Mistyped)
        }
        (Some(claim), _) => claim.as_str().map(|id| Some(vec![id])).ok_or(ClaimDoubt::Mistyped),
        (None, AbsentClaim::Nobody) => Ok(None),
        (None, AbsentClaim::Undetermined) => {
            Err(if token.is_some() { ClaimDoubt::Absent } else { ClaimDoubt::OfAnother })
        }
    }
}

/// Returns whether the token has a reference in place of the claim `name`, or of the claim in which it lies.
fn is_referenced(token: &Json<'_>, name: &str) -> bool {
    let first_name = split_at_dot(name).0.replace(r"\.", ".");
    let elsewhere = token.get(CLAIM_NAMES);
    elsewhere.is_some_and(|names| names.get(name).or_else(|| names.get(&first_name)).is_some())
        || (name == GROUPS && token.get(HAS_GROUPS).is_some_and(|flag| *flag != Json::Bool(false)))
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json;

    use super::*;

    #[test]
    fn a_claim_lists_ids_or_says_why_it_does_not() {
        use ClaimDoubt::{Absent, Mistyped, OfAnother, Referenced};
        let eng = || Ok(Some(vec!["eng"]));
        for (name, token, expected) in [
            ("groups", r#"{"groups": ["eng"]}"#, eng()),
            ("groups", r#"{"groups": "eng"}"#, eng()),
            ("org.groups", r#"{"org": {"groups": ["eng"]}}"#, eng()),
            ("groups", r#"{"groups": []}"#, Ok(Some(Vec::new()))),
            ("groups", "{}", Err(Absent)),
            ("groups", r#"{"groups": null}"#, Err(Absent)),
            ("groups", r#"{"groups": 7}"#, Err(Mistyped)),
            ("groups", r#"{"groups": {"eng": true}}"#, Err(Mistyped)),
            ("groups", r#"{"groups": ["eng", 7]}"#, Err(Mistyped)),
            ("groups", r#"{"_claim_names": {"groups": "src1"}}"#, Err(Referenced)),
            ("groups", r#"{"groups": ["eng"], "_claim_names": {"groups": "a"}}"#, Err(Referenced)),
            ("org.groups", r#"{"_claim_names": {"org": "src1"}}"#, Err(Referenced)),
            (
                r"https://acme\.example/x.groups",
                r#"{"_claim_names": {"https://acme.example/x": "src1"}}"#,
                Err(Referenced),
            ),
            ("groups", r#"{"groups": ["eng"], "_claim_names": {"roles": "src1"}}"#, eng()),
            ("groups", r#"{"hasgroups": true}"#, Err(Referenced)),
            ("groups", r#"{"hasgroups": "true"}"#, Err(Referenced)),
            ("groups", r#"{"groups": ["eng"], "hasgroups": false}"#, eng()),
            ("teams", r#"{"teams": ["eng"], "hasgroups": true}"#, eng()),
        ] {
            let token = json::parse(token.as_bytes()).expect("JSON");
            let source = |absent| ClaimSource { name: name.to_owned(), absent };
            let undetermined = source(AbsentClaim::Undetermined);
            assert_eq!(ids(&undetermined, Some(&token)), expected, "{token}");
            let nobody = if expected == Err(Absent) { Ok(None) } else { expected };
            assert_eq!(ids(&source(AbsentClaim::Nobody), Some(&token)), nobody, "{token}");
            assert_eq!(ids(&undetermined, None), Err(OfAnother));
            assert_eq!(ids(&source(AbsentClaim::Nobody), None), Ok(None));
        }
    }
}
