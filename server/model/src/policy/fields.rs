//! The fields that the bodies of policies share.

use portcullis_engine::names::{named, names};
use portcullis_engine::{Format, Json};
use utoipa::openapi::schema::ObjectBuilder;

use super::condition::{ConditionExpression, ConditionTree, Matcher};
use super::rule_data::CompiledRuleData;
use crate::fields::integer;
use crate::input::{Field, field};
use crate::schema::{self, AnySchema};

/// Longest name, in characters.
pub(super) const MAX_NAME: usize = 256;
/// Longest description, in characters.
pub(super) const MAX_DESCRIPTION: usize = 4_096;

/// The members of a body in place of `when`, which only files have, for messages.
pub(super) const IN_PLACE_OF_WHEN: &str =
    "\"format\": \"expression\", \"rule_data\": {\"expression\": \"<expression>\"}";

/// The descriptions of members.
const FORMAT: &str = "The form of `rule_data`: `json` is a condition tree";
const WHEN: &str = "The condition as an expression, such as `user.ward == resource.ward && !(resource.vip == true)`; \
    `(test) ?? true` says what an absent attribute gives";

/// The format that a body names. A bad one is `Some(None)`: it is noted, and `rule_data` cannot be read without it.
pub(super) fn sent_format<'j>(form: Option<Format>) -> impl Field<'j, Value = Option<Format>> {
    field(
        // The outer `Some` says that the member is there, even with a fault.
        |json, at, problems| Some(named(json, at, problems)),
        move || match form {
            Some(format) => schema::choice([format.into_str()]).description(Some(FORMAT)),
            None => format_schema(),
        },
    )
}

/// A condition in the format that `format` returns for it.
pub(super) fn rule_data<'j>(
    form: Option<Format>,
    format: impl Fn(&Json<'_>) -> Option<Format>,
) -> impl Field<'j, Value = CompiledRuleData> {
    field(
        move |json: &Json<'_>, at, problems| {
            // Without a format nothing is noted here, because its own fault is noted already.
            CompiledRuleData::read(format(json)?, json, at, problems)
        },
        move || match form {
            Some(Format::Json) => schema::named::<ConditionTree>(),
            Some(Format::Casbin) => schema::named::<Matcher>(),
            Some(Format::Expression) => schema::named::<ConditionExpression>(),
            None => rule_data_schema(),
        },
    )
}

/// An expression, as the files of a tenant have it.
pub(super) fn when<'j>() -> impl Field<'j, Value = CompiledRuleData> {
    field(
        |json: &Json<'_>, at, problems| CompiledRuleData::read_expression(json, at, problems),
        || schema::formatted("condition-expression").description(Some(WHEN)),
    )
}

pub(super) fn format_schema() -> ObjectBuilder {
    schema::choice(names::<Format>()).description(Some(FORMAT))
}

pub(super) fn rule_data_schema() -> AnySchema {
    schema::one_of([
        schema::named::<ConditionTree>(),
        schema::named::<Matcher>(),
        schema::named::<ConditionExpression>(),
    ])
}

pub(super) fn priority<'j>() -> impl Field<'j, Value = i32> {
    integer(i32::MIN, i32::MAX, "")
        .about("Of the policies that apply the highest decides; at equal priority deny beats allow")
}
