//! The errors in the API document. They are made from real errors, so that status, code, headers and example are those
//! that a client gets.

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_limits::{BucketLevel, Rate, RateLevel, RateLevels, RefusalReason};
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, ObjectBuilder, Type};

use super::*;
use portcullis_model::apply::{ObjectKind, OwnerConflict};
use portcullis_model::document;
use portcullis_model::hours::Hours;
use portcullis_model::quota::{Quota, QuotaExcess};
use portcullis_model::schema::{self, AnySchema};
use portcullis_model::settings::ShadowGates;
use portcullis_runtime::filter_refusal::FilterRefusal;
use portcullis_runtime::plans::Counted;
use portcullis_runtime::write_refusal::{DeletingWrite, ShadowShortfall, WriteRefusal};

/// Returns one error of each kind, and the situation in which a client gets it.
fn kinds() -> [(ApiError, &'static str); 29] {
    let no_priority = Invalid::expected("/priority", "an integer from -2147483648 to 2147483647");
    [
        (
            OperationError::Invalid(no_priority).into(),
            "The content of the body is not what is expected",
        ),
        (
            OperationError::BadRequest(
                "expected a JSON body, but the request has no body".to_owned(),
            )
            .into(),
            "Anything else is wrong with the request",
        ),
        (ApiError::NoCredential, "No credential was sent"),
        (
            OperationError::TokenRefused("the token has expired".to_owned()).into(),
            "The token was refused",
        ),
        (
            OperationError::CredentialRefused("the service key is unknown or revoked".to_owned())
                .into(),
            "The key was refused, or the route does not accept keys",
        ),
        (
            OperationError::AccessDenied(
                "the service key does not have the permission `policies:write`".to_owned(),
            )
            .into(),
            "The caller may not do this",
        ),
        (OperationError::TenantSuspended.into(), "The operator suspended the tenant"),
        (
            OperationError::NotFound("policy").into(),
            "There is no such record in the caller's tenant",
        ),
        (
            ApiError::MethodNotAllowed(Some(HeaderValue::from_static("GET,HEAD,POST"))),
            "The path has no such method",
        ),
        (
            OperationError::Conflict("a tenant `general-hospital` already exists".to_owned())
                .into(),
            "Such a record already exists",
        ),
        (
            OperationError::RevisionLost {
                of: Counted::Entities,
                at_least: 42,
                latest: (1 << 32) + 5,
            }
            .into(),
            "The database lost the revision that the request demands",
        ),
        (
            OperationError::ApprovalRequired.into(),
            "The tenant's gate `approval` wants a second manager for this change",
        ),
        (
            OperationError::PreconditionFailed.into(),
            "The record is not the one that `If-Match` names, or exists in spite of `If-None-Match: *`",
        ),
        (
            OperationError::QuotaExceeded(QuotaExcess {
                quota: Quota::Webhooks,
                limit: 50,
                used: 50,
                pattern: None,
            })
            .into(),
            "The tenant has as much as its quota allows",
        ),
        (refused(WriteRefusal::Managed(owner())), "The record belongs to an owner"),
        (
            refused(WriteRefusal::OwnedByAnother(vec![OwnerConflict {
                kind: ObjectKind::Policy,
                name: "visitors-by-day".to_owned(),
                managed_by: owner(),
            }])),
            "The bundle names objects of other owners",
        ),
        (
            refused(WriteRefusal::ShadowRequired(ShadowShortfall {
                draft: "stricter-nights".to_owned(),
                required: ShadowGates { time: Hours::parse("24h"), flips: Some(0) },
                seen: None,
            })),
            "The tenant's gates want other outcomes of the draft in shadow",
        ),
        (refused(WriteRefusal::PlanStale), "What the plan read has changed"),
        (
            refused(WriteRefusal::RevisionChanged { expected: 812, current: 813 }),
            "The tenant has another revision",
        ),
        (
            refused(WriteRefusal::DeleteLimit {
                by: DeletingWrite::Apply,
                deletions: 12,
                owned: 40,
                limit: 8,
            }),
            "The apply, or the end of a sync, deletes too much",
        ),
        (
            refused(WriteRefusal::ApprovalImpossible),
            "Nobody could approve what the gate `approval` would hold back",
        ),
        (
            OperationError::CasesFailed { named: Vec::new(), count: 0 }.into(),
            "The tenant's gate `cases` refuses this change",
        ),
        (
            OperationError::FilterRefused(FilterRefusal::NotExact(Vec::new())).into(),
            "The condition over rows cannot be exact",
        ),
        (
            OperationError::FilterRefused(FilterRefusal::TooLarge).into(),
            "The condition over rows is too large",
        ),
        (ApiError::PayloadTooLarge(1024 * 1024), "The body is too large"),
        (ApiError::UnsupportedMediaType("application/json"), "The body is sent as another type"),
        (rate_limited(), "A limit refuses the request for now"),
        (OperationError::Internal("".into()).into(), "An internal error, which the log explains"),
        (
            OperationError::Unavailable("the database", "".into()).into(),
            "A dependency of the service is down",
        ),
    ]
}

fn refused(refusal: WriteRefusal) -> ApiError {
    OperationError::from(refusal).into()
}

fn owner() -> String {
    "git:github.com/acme/authz".to_owned()
}

fn rate_limited() -> ApiError {
    let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
    let level = BucketLevel { remaining: 0, full_in: minute, next_in: second };
    let refused = RateLevel { name: "tenant-checks", rate: Rate::new(60, 60), level };
    let levels = RateLevels::from_iter([refused]);
    let reason = RefusalReason::TenantRate;
    ApiError::RateLimited(Box::new(RateRefusal { reason, refused, levels }))
}

/// Returns the response of each error status. Its headers have only names here.
pub fn responses() -> BTreeMap<String, Value> {
    let mut responses: BTreeMap<String, Described> = BTreeMap::new();
    for (error, when) in kinds() {
        let (status, _) = error.status_and_code();
        responses.entry(status.as_str().to_owned()).or_default().add(&error, when);
    }
    responses.into_iter().map(|(status, response)| (status, response.into_value())).collect()
}

/// The errors of one status.
#[derive(Default)]
struct Described {
    descriptions: Vec<&'static str>,
    codes: Vec<&'static str>,
    headers: Map<String, Value>,
    examples: Map<String, Value>,
}

impl Described {
    fn add(&mut self, error: &ApiError, when: &'static str) {
        let (_, code) = error.status_and_code();
        self.descriptions.push(when);
        if !self.codes.contains(&code) {
            self.codes.push(code);
        }
        let mut headers = HeaderMap::new();
        error.add_headers(&mut headers);
        for name in headers.keys() {
            self.headers.insert(name.as_str().to_owned(), json!({}));
        }
        let body = match error {
            ApiError::Operation(OperationError::Internal(_)) => {
                json!(internal_body("019e3020-2ac4-7d54-8f0b-2c4b1a9d6e70"))
            }
            error => json!(error.body()),
        };
        self.examples.insert(when.to_owned(), json!({"value": body}));
    }

    fn into_value(self) -> Value {
        let schema = json!({
            "$ref": "#/components/schemas/Error",
            "properties": {"error": {"enum": self.codes}},
        });
        json!({
            "description": self.descriptions.join(", or: "),
            "headers": self.headers,
            "content": {"application/json": {"schema": schema, "examples": self.examples}},
        })
    }
}

document!(ErrorBody as "Error" => error_body());

fn error_body() -> AnySchema {
    let problem = schema::record().field("path", text()).field("message", text());
    let details = schema::typed(Type::Object)
        .property("path", about("JSON pointer to the first problem in the body"))
        .property("missing_fields", schema::list(text()))
        .property("unknown_fields", schema::list(text()))
        .property("position", number("Characters before the token at which a matcher cannot be read"))
        .property("token", about("That token; empty at the end of the matcher"))
        .property(
            "errors",
            schema::list(problem).description(Some("The first problems, at most 100")),
        )
        .property("more_errors", number("The number of problems that `errors` leaves out, if there are any"))
        .property("allow", schema::nullable(about("The methods that the path has")))
        .property("quota", about("The quota that the write would exceed"))
        .property("limit", about("The limit of the quota, a number; or the name of the limit that refused the request"))
        .property("used", number("What the tenant uses of the quota"))
        .property("of", schema::choice(["policy", "entities"]).description(Some("The revision that the database lost")))
        .property("revision", number("The present revision"))
        .property("managed_by", about("The owner of the record"))
        .property("conflicts", objects("The objects of other owners, as many as fit"))
        .property("failed", objects("The cases that would fail, at most 100: `case`, `expected`, `actual` and `reason`"))
        .property("more_failed", number("The number of cases that `failed` leaves out, if there are any"))
        .property("request_id", about("Finds the line in the log"))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .description(Some("For a program. What is there depends on `error`"));
    schema::record()
        .field("error", schema::choice(codes()))
        .field("message", about("For a person"))
        .field("details", details)
        .about("The body of every error")
        .into()
}

/// Any text: an error quotes what it is about, and that may be U+0000.
fn text() -> ObjectBuilder {
    schema::typed(Type::String)
}

fn about(what: &str) -> ObjectBuilder {
    text().description(Some(what))
}

fn number(what: &str) -> ObjectBuilder {
    schema::typed(Type::Integer).description(Some(what))
}

fn objects(what: &str) -> ArrayBuilder {
    schema::list(schema::typed(Type::Object)).description(Some(what))
}

fn codes() -> Vec<&'static str> {
    let mut codes: Vec<_> = kinds().iter().map(|(error, _)| error.status_and_code().1).collect();
    // Errors with the same code are neighbours in `kinds`.
    codes.dedup();
    codes
}
