//! Query parameters (`docs/semantics.md`, section 8.6). Each is declared once: [`QueryReader`] reads what is declared, and
//! describes it for the API document. A route of `/api/v1` knows the parameters that its handler declares, and the caller's
//! extractor refuses all others once the caller's right is proved.

use std::collections::HashSet;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use http::Uri;
use http::request::Parts;
use portcullis_engine::Effect;
use portcullis_engine::excerpt::quoted;
use portcullis_engine::nearest::nearest;
use portcullis_model::Timestamp;
use portcullis_model::schema::{self, AnySchema};
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};

use crate::error::ApiError;
use crate::handler_parameters::{HandlerParameter, add};
use crate::parameters::parameter;
use crate::request_context::RequestContext;

/// Query parameters, each of which may be left out.
pub trait QueryParameters: Sized {
    /// Declares each parameter.
    ///
    /// # Errors
    /// A parameter has a bad value.
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError>;
}

/// The query parameters of a request.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: QueryParameters> Query<T> {
    /// Returns the parameters in `uri`.
    ///
    /// # Errors
    /// A parameter has a bad value.
    pub fn read(uri: &Uri) -> Result<T, ApiError> {
        T::declare(&mut QueryReader::Request(uri))
    }
}

impl<S: Send + Sync, T: QueryParameters> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Self::read(&parts.uri).map(Self)
    }
}

impl<T: QueryParameters> HandlerParameter for Query<T> {
    fn describe(operation: &mut Operation) {
        let mut reader = QueryReader::Document(Vec::new());
        // Nothing is sent, so that nothing is bad.
        let _ = T::declare(&mut reader);
        if let QueryReader::Document(described) = reader {
            add(operation, described);
        }
    }
}

/// Reads the parameters of a request, or describes them for the API document.
pub enum QueryReader<'u> {
    Request(&'u Uri),
    Document(Vec<Parameter>),
}

impl QueryReader<'_> {
    /// Declares the parameter `name`, which `read` reads. `expected` completes "must …".
    pub fn optional<T, S: Into<AnySchema>>(
        &mut self,
        name: &str,
        about: &str,
        schema: impl FnOnce() -> S,
        read: impl FnOnce(&str) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>, ApiError> {
        let uri = match self {
            Self::Request(uri) => uri,
            Self::Document(described) => {
                described.push(parameter(ParameterIn::Query, name, schema(), about));
                return Ok(None);
            }
        };
        // `refuse_unknown` refuses a parameter that is given twice, whichever is read.
        let Some((_, value)) = query(uri).filter(|(own, _)| own == name).last() else {
            return Ok(None);
        };
        read(&value).map(Some).ok_or_else(|| {
            ApiError::bad_request(format!("the query parameter `{name}` must {expected}"))
        })
    }

    /// Declares a parameter that `T` parses. `expected` completes "must …".
    pub fn parsed<T: FromStr, S: Into<AnySchema>>(
        &mut self,
        name: &str,
        about: &str,
        schema: impl FnOnce() -> S,
        expected: &str,
    ) -> Result<Option<T>, ApiError> {
        self.optional(name, about, schema, |text| text.parse().ok(), expected)
    }

    /// Declares a parameter that records are selected by.
    pub fn text(&mut self, name: &str, about: &str) -> Result<Option<String>, ApiError> {
        // PostgreSQL refuses U+0000 in a text, SQLite does not.
        self.optional(
            name,
            about,
            schema::string,
            |text| (!text.contains('\0')).then(|| text.to_owned()),
            "not hold the character U+0000",
        )
    }

    /// Declares an effect that records are selected by.
    pub fn effect(&mut self, about: &str) -> Result<Option<Effect>, ApiError> {
        self.parsed("effect", about, schema::effect, "be `allow` or `deny`")
    }

    /// Declares a parameter that is `true` or `false`; false if it is absent.
    pub fn flag(&mut self, name: &str, about: &str) -> Result<bool, ApiError> {
        let flag = self.parsed(name, about, schema::boolean, "be `true` or `false`")?;
        Ok(flag.unwrap_or_default())
    }

    /// Declares an instant that records are selected by.
    pub fn instant(&mut self, name: &str, about: &str) -> Result<Option<Timestamp>, ApiError> {
        let expected =
            "be an RFC 3339 instant, such as `2026-05-16T09:30:00Z`; a `+` in it is sent as `%2B`";
        self.optional(name, about, schema::instant, Timestamp::parse, expected)
    }

    /// Returns the URI of the request.
    pub fn uri(&self) -> Uri {
        match self {
            Self::Request(uri) => (*uri).clone(),
            Self::Document(_) => Uri::default(),
        }
    }
}

/// Returns the query parameters of a request.
pub fn query(uri: &Uri) -> url::form_urlencoded::Parse<'_> {
    url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}

/// Refuses a request with a query parameter that its route does not know, or with one twice.
pub fn refuse_unknown(parts: &Parts) -> Result<(), ApiError> {
    if parts.uri.query().is_none() {
        return Ok(());
    }
    let route = RequestContext::find(&parts.extensions)?.route.as_ref();
    // Only strict routes have a list of what they know. The others accept everything.
    let known = route.and_then(|route| route.known_query.as_ref());
    let fault = known.and_then(|known| fault_of(&parts.uri, known));
    fault.map_or(Ok(()), |fault| Err(ApiError::bad_request(fault)))
}

/// Returns the first fault of a query: a parameter that is not `known`, or one twice.
pub fn fault_of(uri: &Uri, known: &[String]) -> Option<String> {
    let mut seen = HashSet::new();
    for (name, _) in query(uri) {
        if !known.iter().any(|known| *known == name) {
            return Some(unknown(&name, known));
        }
        if !seen.insert(name.clone()) {
            return Some(format!("the query parameter {} is given twice", quoted(&name)));
        }
    }
    None
}

/// Returns the message about an unknown parameter. It names the known one that the name resembles, else all known ones.
fn unknown(name: &str, known: &[String]) -> String {
    let nearest = nearest(name, known.iter().map(String::as_str));
    let name = quoted(name);
    match (nearest, known) {
        (Some(nearest), _) => {
            format!("the query parameter {name} is unknown; the nearest known one is `{nearest}`")
        }
        (None, []) => {
            format!("the query parameter {name} is unknown; the route has no query parameter")
        }
        (None, known) => {
            let known = known.join("`, `");
            format!("the query parameter {name} is unknown; the route knows `{known}`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_parameter_and_the_nearest_known_one() {
        let known = ["sub", "obj", "limit", "cursor"].map(str::to_owned);
        let fault = |uri: &str| fault_of(&uri.parse().expect("a URI"), &known);
        for sound in ["/", "/?", "/?limit=1&cursor=x", "/?sub=&obj=%26limt%3D1", "/?%73ub=x"] {
            assert_eq!(fault(sound), None, "{sound}");
        }
        for (uri, expected) in [
            ("/?limt=1", "the query parameter `limt` is unknown; the nearest known one is `limit`"),
            (
                "/?sub=a&ojb=b",
                "the query parameter `ojb` is unknown; the nearest known one is `obj`",
            ),
            ("/?Sub=a", "the query parameter `Sub` is unknown; the nearest known one is `sub`"),
            (
                "/?=a",
                "the query parameter `` is unknown; the route knows `sub`, `obj`, `limit`, `cursor`",
            ),
            (
                "/?page=2",
                "the query parameter `page` is unknown; the route knows `sub`, `obj`, `limit`, `cursor`",
            ),
            ("/?l%69mt", "the query parameter `limt` is unknown; the nearest known one is `limit`"),
            ("/?sub=a&sub=a", "the query parameter `sub` is given twice"),
            ("/?sub=a&s%75b=b", "the query parameter `sub` is given twice"),
        ] {
            assert_eq!(fault(uri).as_deref(), Some(expected));
        }
        let none = "the query parameter `limit` is unknown; the route has no query parameter";
        assert_eq!(unknown("limit", &[]), none);
    }

    #[test]
    fn a_long_name_is_cut() {
        let message = unknown(&"x".repeat(10_000), &["limit".to_owned()]);
        assert!(message.len() < 400, "{}", message.len());
    }

    #[test]
    fn a_bad_value_is_refused_by_the_name_of_its_parameter() {
        struct Sent(Option<String>, bool);
        impl QueryParameters for Sent {
            fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
                Ok(Self(query.text("sub", "")?, query.flag("force", "")?))
            }
        }
        let read = |uri: &str| Query::<Sent>::read(&uri.parse().expect("a URI"));
        let Sent(sub, force) = read("/?force=true&sub=a%20b&limit=x").expect("good values");
        assert_eq!((sub.as_deref(), force), (Some("a b"), true));
        for (uri, expected) in [
            ("/?force=1", "the query parameter `force` must be `true` or `false`"),
            ("/?sub=a%00", "the query parameter `sub` must not hold the character U+0000"),
        ] {
            assert_eq!(read(uri).err().map(|error| error.message()).as_deref(), Some(expected));
        }
    }
}
