//! The names of all variables. A variable that is not among them and resembles one is refused: a setting with a typo in
//! its name would otherwise not count, and nobody would notice.

use std::sync::LazyLock;

use portcullis_engine::nearest::nearest;

use crate::error::ConfigError;
use crate::settings::SETTINGS;

/// The variables that some command reads, in the order of their names.
static OURS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let names = SETTINGS.iter().flat_map(|setting| [Some(setting.name), setting.file]);
    let mut names: Vec<&'static str> = names.flatten().collect();
    names.sort_unstable();
    names
});

/// Variables of other programs that a command reads. Other names may resemble them.
const OF_OTHERS: [&str; 12] = [
    "ALL_PROXY",
    "CARGO_HOME",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    // The batches of logs, which are not sent, have names like the batches of spans.
    "OTEL_BLRP_EXPORT_TIMEOUT",
    "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE",
    "OTEL_BLRP_MAX_QUEUE_SIZE",
    "OTEL_BLRP_SCHEDULE_DELAY",
];

/// Variables of AWS that a bucket of the decision log needs. Other names may resemble them.
pub(crate) const AWS: [&str; 17] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_ALLOW_HTTP",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_STS",
    "AWS_METADATA_ENDPOINT",
    "AWS_REGION",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
];

/// The beginnings of names that no other program has, so that they are meant for the service wherever they are set.
const OWN_FAMILIES: [&str; 4] = ["DECISION_LOG_", "EGRESS_ALLOW_", "PLAN_CACHE_", "RESOLVER_CODE_"];
/// The beginnings of names that only our variables have. A file of `--env-file` is written for this service, so that
/// such a name in it is meant for the service.
const FAMILIES: [&str; 7] =
    ["DECISION_LOG_", "EGRESS_", "PLAN_CACHE_", "QUOTA_", "RATE_LIMIT_", "RESOLVER_", "WEBHOOK_"];

/// The name of the program, which some services put before the names of their variables.
const PROGRAM: &str = "PORTCULLIS_";

/// The place that sets a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'p> {
    Environment,
    /// The file of `--env-file`, as the command line names it.
    File(&'p str),
}

/// Refuses a variable that no command reads and that resembles one of ours, or has a name that only ours have.
///
/// # Errors
/// The error names the variable and the one that it resembles, and not the value, which may be a secret.
pub(crate) fn check(name: &str, source: Source<'_>) -> Result<(), ConfigError> {
    if is_known(name) {
        return Ok(());
    }
    let meant = resembled(name).or_else(|| begun(name)).or_else(|| match source {
        Source::Environment => None,
        Source::File(_) => name.to_uppercase().strip_prefix(PROGRAM).and_then(resembled),
    });
    let families = match source {
        Source::Environment => &OWN_FAMILIES[..],
        Source::File(_) => &FAMILIES,
    };
    let meant = match (meant, family(name, families)) {
        (Some(meant), _) => Some(meant),
        (None, Some(family)) => resembled_in(family, name),
        (None, None) => return Ok(()),
    };
    let (place, removed) = match source {
        Source::Environment => ("the environment".to_owned(), "unset it"),
        Source::File(path) => (format!("`{path}`"), "delete its line"),
    };
    let remedy = match meant {
        Some(meant) => format!(" (did you mean `{meant}`?): rename it or {removed}"),
        None => format!(": {removed}"),
    };
    let expected = format!("a setting, but {place} has `{name}`, which is not one{remedy}");
    Err(ConfigError::new(name.to_owned(), expected))
}

/// Returns whether some command reads `name`.
pub(crate) fn is_known(name: &str) -> bool {
    OURS.contains(&name) || OF_OTHERS.contains(&name) || AWS.contains(&name)
}

/// Returns the variable that `name` most resembles: by its letters, or up to a few changes of a letter.
fn resembled(name: &str) -> Option<&'static str> {
    let letters = letters(name);
    let distances =
        OURS.iter().copied().filter_map(|ours| Some((distance(name, &letters, ours)?, ours)));
    distances.min_by_key(|(distance, _)| *distance).map(|(_, ours)| ours)
}

/// Returns how many letters of `ours` differ in `name`; `None` if `name` is another name.
fn distance(name: &str, letters: &str, ours: &str) -> Option<usize> {
    if letters == self::letters(ours) {
        return Some(0);
    }
    // Without this, a long name of another program would be compared letter by letter.
    if name.len().abs_diff(ours.len()) > MAX_CHANGES {
        return None;
    }
    let distance = strsim::levenshtein(name, ours);
    (distance <= most_changes(ours)).then_some(distance)
}

/// The most letters in which a name with a typo differs.
const MAX_CHANGES: usize = 2;

/// Returns the most letters in which a name with a typo differs from `ours`. Short names resemble many: `MODE` is one
/// letter from `NODE`, and two from `HOME`.
fn most_changes(ours: &str) -> usize {
    match ours.len() {
        0..=5 => 0,
        6..=8 => 1,
        _ => MAX_CHANGES,
    }
}

/// Returns the variable that begins with `name`, such as `DECISION_LOG_URL` with `DECISION_LOG`. One word alone may be
/// anything. Of several the shortest is meant.
fn begun(name: &str) -> Option<&'static str> {
    let name = name.to_uppercase();
    if !name.contains('_') {
        return None;
    }
    let begun = OURS
        .iter()
        .copied()
        .filter(|ours| ours.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('_')));
    begun.min_by_key(|ours| ours.len())
}

/// Returns the letters of a name, without case and underscores.
fn letters(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

/// Returns the one of the `families` that `name` is of.
fn family(name: &str, families: &[&'static str]) -> Option<&'static str> {
    let name = name.to_uppercase();
    let family = families.iter().find(|family| name.starts_with(**family))?;
    (!is_of_kubernetes(&name)).then_some(family)
}

/// Returns the variable of `family` that `name`, which is of it, resembles. What all of them begin with does not count.
fn resembled_in(family: &'static str, name: &str) -> Option<&'static str> {
    let rest = name.get(family.len()..)?;
    let rests = OURS.iter().filter_map(|ours| ours.strip_prefix(family));
    let meant = nearest(rest, rests)?;
    OURS.iter().copied().find(|ours| ours.strip_prefix(family) == Some(meant))
}

/// Returns whether Kubernetes tells a container by `name` where a service is, such as by `MINIO_SERVICE_HOST` and
/// `MINIO_PORT_9000_TCP_ADDR`.
fn is_of_kubernetes(name: &str) -> bool {
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_PORT")
        || name.contains("_SERVICE_PORT_")
        || name
            .split("_PORT_")
            .skip(1)
            .any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the refusal when no variable is near.
    const NONE: &str = "none";

    /// The variable that the refusal of `name` takes for the right one; `None` if the name is accepted.
    fn refused(name: &str, source: Source<'_>) -> Option<String> {
        let error = check(name, source).err()?.to_string();
        assert!(error.starts_with(&format!("{name}: expected a setting, but ")), "{error}");
        assert!(error.contains(&format!("has `{name}`")), "{error}");
        let meant = error.split_once("did you mean `").and_then(|(_, rest)| rest.split_once('`'));
        Some(meant.map_or(NONE, |(meant, _)| meant).to_owned())
    }

    #[test]
    fn a_name_with_a_typo_is_refused_and_says_which_is_meant() {
        for (name, meant) in [
            ("DATABSE_URL", "DATABASE_URL"),
            ("DATABASE_URI", "DATABASE_URL"),
            ("DATABASE_ULR", "DATABASE_URL"),
            ("database_url", "DATABASE_URL"),
            ("DATABASEURL", "DATABASE_URL"),
            ("DATABASE_URL_FIEL", "DATABASE_URL_FILE"),
            ("JWKS_URL", "JWKS_URI"),
            ("LISTEN_ADDRS", "LISTEN_ADDR"),
            ("LISTENADDR", "LISTEN_ADDR"),
            ("Mode", "MODE"),
            ("RUSTLOG", "RUST_LOG"),
            ("ENCRYPTION_KEYS", "ENCRYPTION_KEY"),
            ("ADMIN_APIKEY", "ADMIN_API_KEY"),
            ("SINGLE_TENNANT", "SINGLE_TENANT"),
            ("AUTH_SERVER_URI", "AUTH_SERVER_URL"),
            ("ROLE_CLAIM", "ROLES_CLAIM"),
            ("MANAGER_ROLE", "MANAGER_ROLES"),
            ("QUOTA_RULE", "QUOTA_RULES"),
            ("POSTGRES_ALLOW_BYPASS_RSL", "POSTGRES_ALLOW_BYPASS_RLS"),
            ("DECISION_LOG", "DECISION_LOG_URL"),
            ("decision_log", "DECISION_LOG_URL"),
            ("DECISION_LOG_URLS", "DECISION_LOG_URL"),
            ("DECISION_LOG_PATH", NONE),
            ("AUTH_SERVER", "AUTH_SERVER_URL"),
            ("TLS_CERT", "TLS_CERT_FILE"),
            ("TLS_KEY", "TLS_KEY_FILE"),
            ("MAX_TOKEN", "MAX_TOKEN_BYTES"),
            ("EGRESS_ALLOW_CIDR_LIST", NONE),
        ] {
            assert_eq!(refused(name, Source::Environment).as_deref(), Some(meant), "{name}");
        }
    }

    #[test]
    fn variables_of_others_are_left_alone() {
        for name in [
            "PATH",
            "HOME",
            "LANG",
            "LC_ALL",
            "USER",
            "LOGNAME",
            "SHELL",
            "SHLVL",
            "PWD",
            "OLDPWD",
            "TERM",
            "TZ",
            "TMPDIR",
            "HOSTNAME",
            "HOST",
            "PORT",
            "NODE",
            "CODE",
            "NODE_ENV",
            "TOKENS",
            "MODEL",
            "GITHUB_TOKEN",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "HTTP_PROXY",
            "https_proxy",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "SSL_KEY_FILE",
            "SSL_CERT_DIR",
            "RUST_BACKTRACE",
            "RUST_LIB_BACKTRACE",
            "RUSTFLAGS",
            "RUSTUP_HOME",
            "CARGO_HOME",
            "LISTEN_FDS",
            "LISTEN_PID",
            "LISTEN_FDNAMES",
            "NOTIFY_SOCKET",
            "INVOCATION_ID",
            "JOURNAL_STREAM",
            "CREDENTIALS_DIRECTORY",
            "PGHOST",
            "PGPASSWORD",
            "POSTGRES_USER",
            "POSTGRES_PASSWORD",
            "DATABASE_HOST",
            "DATABASE_USER",
            "DATABASE_NAME",
            "DATABASE_SERVICE_HOST",
            "LOG_LEVEL",
            "KUBERNETES_SERVICE_HOST",
            "KUBERNETES_PORT_443_TCP",
            "PORTCULLIS_SERVICE_HOST",
            "PORTCULLIS_SERVICE_PORT",
            "PORTCULLIS_PORT",
            "PORTCULLIS_PORT_8080_TCP",
            "PORTCULLIS_PORT_8080_TCP_ADDR",
            "PORTCULLIS_MODE",
            "WEBHOOK_SECRET",
            "WEBHOOK_SERVICE_HOST",
            "DECISION_LOG_SERVICE_HOST",
            "DECISION_LOG_PORT_80_TCP",
            "DECISION_LOG_MINIO_SERVICE_HOST",
            "DECISION_LOG_MINIO_SERVICE_PORT",
            "DECISION_LOG_MINIO_SERVICE_PORT_CONSOLE",
            "DECISION_LOG_MINIO_PORT",
            "DECISION_LOG_MINIO_PORT_9000_TCP",
            "DECISION_LOG_MINIO_PORT_9000_TCP_ADDR",
            "OTEL_BLRP_SCHEDULE_DELAY",
            "OTEL_BSP_EXPORT_TIMEOUT",
            "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
            "OTEL_METRICS_EXPORTER",
            "OIDC_CLIENT_ID",
            "_",
            "",
        ] {
            assert_eq!(refused(name, Source::Environment), None, "{name}");
        }
    }

    #[test]
    fn a_file_is_written_for_the_service() {
        let file = Source::File("portcullis.env");
        for (name, meant) in [
            ("JWKS_URL", Some("JWKS_URI")),
            ("PORTCULLIS_DATABASE_URL", Some("DATABASE_URL")),
            ("portcullis_mode", Some("MODE")),
            ("WEBHOOK_RETRIES", Some(NONE)),
            ("WEBHOOK_RETENTN_S", Some("WEBHOOK_RETENTION")),
            ("RATE_LIMIT_TENANT", Some(NONE)),
            ("QUOTA_USERS", Some(NONE)),
            ("PORTCULLIS_IMAGE", None),
            ("POSTGRES_PASSWORD", None),
            ("OIDC_CLIENT_ID", None),
            ("COMPOSE_PROJECT_NAME", None),
        ] {
            assert_eq!(refused(name, file).as_deref(), meant, "{name}");
        }
        let error = check("JWKS_URL", file).expect_err("refused").to_string();
        assert!(error.contains("`portcullis.env`"), "{error}");
    }

    #[test]
    fn no_variable_resembles_another() {
        for name in OURS.iter() {
            assert_eq!(refused(name, Source::Environment), None, "{name}");
        }
    }
}
