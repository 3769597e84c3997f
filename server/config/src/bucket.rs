//! The variables of AWS for a bucket of S3, by their usual names.

use portcullis_decision_log::BucketPlace;
use url::Url;

use crate::error::ConfigError;
use crate::known;
use crate::variables::Variables;

const ACCESS_KEY: &str = "AWS_ACCESS_KEY_ID";
const SECRET_KEY: &str = "AWS_SECRET_ACCESS_KEY";
const CONTAINER_URL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
const CONTAINER_PATH: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
const ENDPOINT: &str = "AWS_ENDPOINT_URL";
const ENDPOINT_S3: &str = "AWS_ENDPOINT_URL_S3";
const METADATA: &str = "AWS_METADATA_ENDPOINT";
const REGION: &str = "AWS_REGION";
const ROLE: &str = "AWS_ROLE_ARN";
const TOKEN_FILE: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";

/// Returns the place in the bucket with the variables that are set.
///
/// # Errors
/// Says which variable is missing.
pub(crate) fn with_variables(
    variables: &Variables,
    bucket: String,
    prefix: String,
) -> Result<BucketPlace, ConfigError> {
    let has = |name| variables.get(name).is_some();
    if !has("AWS_DEFAULT_REGION") && !has(ENDPOINT) && !has(ENDPOINT_S3) {
        let expected = "the region of the bucket of DECISION_LOG_URL, such as `eu-central-1`";
        variables.required(REGION, expected)?;
    }
    // The other half of what is set, or a way to get a key at all.
    let needed = match (has(ACCESS_KEY), has(SECRET_KEY), has(TOKEN_FILE)) {
        (true, _, _) => Some((SECRET_KEY, "the secret of AWS_ACCESS_KEY_ID")),
        (_, true, _) => Some((ACCESS_KEY, "the id of the key AWS_SECRET_ACCESS_KEY")),
        (.., true) => Some((ROLE, "the role for AWS_WEB_IDENTITY_TOKEN_FILE")),
        _ if has(CONTAINER_URL) || has(CONTAINER_PATH) || has(METADATA) => None,
        _ => Some((
            ACCESS_KEY,
            "a key for the bucket of DECISION_LOG_URL, with AWS_SECRET_ACCESS_KEY; or AWS_WEB_IDENTITY_TOKEN_FILE, \
             AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI; or for the role of a machine \
             AWS_METADATA_ENDPOINT, such as `http://169.254.169.254`",
        )),
    };
    if let Some((name, expected)) = needed {
        variables.required(name, expected)?;
    }
    let may_be_plain = variables.boolean("AWS_ALLOW_HTTP")?.unwrap_or(false);
    for name in [ENDPOINT, ENDPOINT_S3] {
        let expected = "an `https` URL, or with AWS_ALLOW_HTTP=true an `http` URL";
        // Read for its fault alone: the variable goes on as it is.
        variables.parsed(name, expected, |text| endpoint(text, may_be_plain))?;
    }
    let set =
        known::AWS.into_iter().filter_map(|name| Some((name, variables.get(name)?.to_owned())));
    Ok(BucketPlace { bucket, prefix, variables: set.collect() })
}

fn endpoint(text: &str, may_be_plain: bool) -> Option<()> {
    let url = Url::parse(text).ok()?;
    (url.scheme() == "https" || (may_be_plain && url.scheme() == "http")).then_some(())
}
