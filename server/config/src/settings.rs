//! Every setting: one row for each. The readers know the names from it, and the documents have their tables from it.

use SettingDefault::{Absent, Told, Value};

/// A variable that some command reads.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub name: &'static str,
    /// The variable that may name a file with the value in its place.
    pub file: Option<&'static str>,
    pub default: SettingDefault,
    /// The values, as `docs/semantics.md` has them in section 9.2.
    pub values: &'static str,
    /// The meaning, as the table of `docs/operations.md` has it; `None` if another section there has the setting.
    pub guide: Option<&'static str>,
}

/// The value of a setting that is absent.
#[derive(Clone, Copy, Debug)]
pub enum SettingDefault {
    /// It is as if this value were set.
    Value(&'static str),
    /// It depends on what these words say.
    Told(&'static str),
    /// There is none.
    Absent,
}

const fn setting(name: &'static str, default: SettingDefault, values: &'static str) -> Setting {
    Setting { name, file: None, default, values, guide: None }
}

impl Setting {
    const fn or_file(self, file: &'static str) -> Self {
        Self { file: Some(file), ..self }
    }

    const fn guide(self, guide: &'static str) -> Self {
        Self { guide: Some(guide), ..self }
    }

    /// Returns the default as the tables of the documents have it.
    pub fn shown_default(&self) -> String {
        match self.default {
            Value(value) => format!("`{value}`"),
            Told(words) => words.to_owned(),
            Absent => "–".to_owned(),
        }
    }
}

/// Returns the row of the variable `name`.
pub(crate) fn setting_of(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// The settings, in the order of the documents.
#[rustfmt::skip]
pub const SETTINGS: [Setting; 104] = [
    setting("MODE", Value("selfhost"), "`selfhost` or `saas`").guide("`saas`: every tenant registers its own identity provider, and the routes `/admin/*` exist. `selfhost`: one identity provider for all, and the domain in a token is the tenant"),
    setting("SINGLE_TENANT", Absent, "`selfhost`, refused in `saas`; 1–256 characters without control characters, not `*`").guide("`selfhost` only: the one tenant of every token; see [One tenant](#one-tenant)"),
    setting("LISTEN_ADDR", Value("127.0.0.1:8080"), "port 0 takes a free one").guide("with port 0 the system chooses a free port, and the log shows it"),
    setting("PUBLIC_URL", Absent, "the https address by which clients reach the service, perhaps with a path, which a proxy takes away; http for loopback hosts; for the discovery document ([11.8](#118-discovery)) and the console ([19](#19-the-console))").guide("the https address by which clients reach the service, such as `https://authz.example.com`, or `https://example.com/authz` if a proxy takes the path away; the AuthZEN discovery document names it, and there is none without it; nobody signs in to the [console](console.md) at an identity provider without it"),
    setting("CONSOLE", Value("on"), "`on` or `off`; see [19](#19-the-console)").guide("`off`: the service has no [console](console.md)"),
    setting("CONSOLE_CLIENT_ID", Absent, "`selfhost`, refused in `saas`, like the next four; see [19.2](#192-sign-in)").guide("`selfhost` only: the client at the identity provider by which people [sign in to the console](console.md#people-sign-in-at-your-identity-provider). Needs `PUBLIC_URL`"),
    setting("CONSOLE_CLIENT_SECRET", Absent, "the secret of that client, if it has one").or_file("CONSOLE_CLIENT_SECRET_FILE").guide("the secret of that client; a public client has none"),
    setting("CONSOLE_SCOPES", Value("openid"), "scopes with spaces between them").guide("the scopes that the sign-in asks for, with spaces between them; `offline_access` for a refresh token at some providers"),
    setting("CONSOLE_AUDIENCE", Absent, "the parameter `audience` of the sign-in").guide("the `audience` that the sign-in asks for, at providers that want one for an access token of an API"),
    setting("CONSOLE_IDENTITY", Value("access_token"), "`access_token` or `id_token`").guide("`id_token` if the access token is not for Portcullis: then the ID token has the claims"),
    setting("CONSOLE_SESSION_IDLE", Value("1h"), "above 0; see [19.3](#193-sessions)").guide("how long a session of the console lasts without a request"),
    setting("CONSOLE_SESSION_MAX", Value("12h"), "above 0; see [19.3](#193-sessions)").guide("how long a session of the console lasts at most"),
    setting("ADMIN_LISTEN_ADDR", Absent, "an address for `/admin/*`, `/metrics` and the probes alone").guide("an address of its own for `/admin/*`, `/metrics` and the probes; see [Listeners](#listeners)"),
    setting("TLS_CERT_FILE", Absent, "certificates in PEM; with `TLS_KEY_FILE`").guide("the certificate with its chain, in PEM; see [TLS](#tls)"),
    setting("TLS_KEY_FILE", Absent, "the private key in PEM; with `TLS_CERT_FILE`").guide("its private key, in PEM; see [TLS](#tls)"),
    setting("REQUEST_BODY_MEMORY", Value("128MiB"), "at least 34 MiB").guide("the most memory for request bodies, at least `34MiB`. One tenant may use a quarter of it, but always 34 MiB. Beyond it a request gets 503 with `Retry-After`"),
    setting("ANSWER_MEMORY", Value("128MiB"), "at least 256 KiB; see [8.9](#89-limits-and-timeouts)").guide("the most memory for answers that their clients have not read, at least `256KiB`. One tenant may use a quarter of it; see [Answers](#answers)"),
    setting("APPLY_BODY_BYTES", Value("8MiB"), "1 MiB to 34 MiB").guide("the largest body of `POST /api/v1/apply`, from `1MiB` to `34MiB`"),
    setting("MAX_CONNECTIONS", Told("from the number of files"), "at least 1; never more than the default").guide("the most connections of `LISTEN_ADDR`; see [Connections](#connections)"),
    setting("CONNECTION_IDLE_TIMEOUT", Value("60s"), "above 0").guide("how long a connection stays open without a request, on HTTP/1 and HTTP/2. A request that arrives in the second after that is still answered"),
    setting("CONNECTION_WRITE_TIMEOUT", Value("30s"), "above 0").guide("how long an answer waits until its client takes the next 16 KiB"),
    setting("SHUTDOWN_DELAY", Value("0s"), "after the signal to stop, the time for which the readiness probe fails and requests are still served").guide("how long a stopping replica still serves while its readiness probe fails; see [Rolling restarts](#rolling-restarts)"),
    setting("DATABASE_URL", Value("sqlite://portcullis.db"), "`sqlite://<file>` or `postgres://…`, with up to 16 hosts; see [9.5](#95-database)").or_file("DATABASE_URL_FILE").guide("a SQLite file is created if it does not exist; `postgres://…` allows several replicas, and may name [several hosts](#several-hosts)"),
    setting("DATABASE_READ_URL", Absent, "`postgres://…`, servers that follow the one of `DATABASE_URL`; see [2.9](#29-revisions-and-freshness)").or_file("DATABASE_READ_URL_FILE").guide("standbys of PostgreSQL that [plans are read from](#reading-plans-from-standbys), as a URL like that of `DATABASE_URL`"),
    setting("ENCRYPTION_KEY", Told("required by `serve`"), "32 bytes in base64, or several keys with commas between them").or_file("ENCRYPTION_KEY_FILE").guide("required: 32 bytes in base64, as `openssl rand -base64 32` prints them. For rotation, several keys separated by commas: the first encrypts, all decrypt"),
    setting("ADMIN_API_KEY", Told("one is required by `serve` in `saas`"), "see [6.9](#69-admin-key-and-tenants)").or_file("ADMIN_API_KEY_FILE").guide("`saas` only, required unless `ADMIN_API_KEYS` is set: the key of the admin routes, at least 32 characters"),
    setting("ADMIN_API_KEYS", Told("one is required by `serve` in `saas`"), "see [6.9](#69-admin-key-and-tenants)").or_file("ADMIN_API_KEYS_FILE").guide("`saas` only: several admin keys with names, such as `alice=…,bob=…`. Audit records show the name"),
    setting("POSTGRES_ALLOW_BYPASS_RLS", Value("false"), "see [9.5](#95-database)").guide("lets the service start with a role of PostgreSQL that bypasses row-level security"),
    setting("AUDIT_RETENTION", Value("365d"), "above 0").guide("how long audit records are kept"),
    setting("DECISION_LOG_URL", Absent, "`file:///folder` or `s3://bucket/prefix`, where `%20` and the like stand for characters of the prefix; without it no decision is recorded ([17](#17-the-record-of-decisions))").guide("where the record of decisions is kept: a folder that all replicas share, such as `file:///var/lib/decisions`, or a bucket of S3, such as `s3://bucket/prefix`, with [variables of AWS](#a-bucket-for-the-record-of-decisions); without it none is kept"),
    setting("DECISION_LOG_BUFFER", Value("decision-log"), "a folder that no other process uses").guide("the folder of the write-ahead files, of this process alone, on a disk that outlives it"),
    setting("DECISION_LOG_BUFFER_BYTES", Value("1GiB"), "at least `128MiB`").guide("the most bytes of that folder, of which a tenant alone takes half; when a tenant has its share, its records are lost and counted, or its checks refused where it says so"),
    setting("AUDIT_MAX_RECORDS", Value("100000"), "of one tenant, at least 1").guide("the most audit records of one tenant; the oldest are deleted first"),
    setting("HISTORY_RETENTION", Value("all"), "`all`, or a duration above 0 ([16.3](#163-retention))").guide("how long revisions of the content are kept: `all`, or a duration such as `90d`. The newest revision of a tenant is always kept"),
    setting("HISTORY_BYTES", Value("256MiB"), "of one tenant ([16.3](#163-retention))").guide("the most bytes of the history of one tenant; the oldest revisions are deleted first, within a minute"),
    setting("OIDC_ENABLED", Value("true"), "`false` refuses every token; `saas` refuses this value").guide("`selfhost` only. With `false` bearer tokens are refused, and only service keys work, [checks included](#a-first-key-without-an-identity-provider)"),
    setting("AUTH_SERVER_URL", Told("required by `serve` in `selfhost` unless `OIDC_ENABLED=false`"), "the issuer, an http or https URL").guide("`selfhost` only: the issuer. The `iss` of every token must be exactly this text"),
    setting("JWKS_URI", Told("from the discovery document"), "`selfhost`; the key set").guide("the address of the key set"),
    setting("OIDC_AUDIENCE", Absent, "`selfhost`").guide("if set, the `aud` of every token must contain it"),
    setting("ROLES_CLAIM", Value("realm_access.roles"), "`selfhost`").guide("the claim with the roles: its literal name, or a dotted path, in which `\\.` is a dot of a name"),
    setting("DOMAIN_CLAIM", Value("dom"), "`selfhost`").guide("the claim with the domain, which is the tenant unless `SINGLE_TENANT` is set"),
    setting("ADMIN_DOMAIN_CLAIM", Value("adm"), "`selfhost`").guide("the claim with the domains that the caller administers: a string or a list; `*` means every domain"),
    setting("ROLES_FORMAT", Value("list"), "`selfhost`; `list`, `words` or `keys` ([6.5](#65-claims))").guide("how that claim is read: `list`, `words` or `keys`; see [Identity providers](identity-providers.md#what-a-token-needs)"),
    setting("MAX_TOKEN_BYTES", Value("16KiB"), "1 KiB to 64 KiB").guide("the longest token, from `1KiB` to `64KiB`; the header of a request may have 16 KiB beside it"),
    setting("MANAGER_ROLES", Value("admin"), "roles with commas between them; spaces around them do not count").guide("the roles that may change rules, separated by commas"),
    setting("EGRESS_ALLOW_CIDRS", Absent, "networks with commas between them").guide("non-public networks to which Portcullis may send requests, such as `10.1.0.0/16`"),
    setting("EGRESS_ALLOW_HTTP", Value("false"), "").guide("allows `http` in the URLs that tenants register"),
    setting("EGRESS_CA_FILE", Absent, "certificates in PEM").guide("a PEM file of certificates to trust in addition to the system's, for internal webhook receivers and key sets"),
    setting("WEBHOOK_BACKOFF", Value("10s,30s,2m,10m,1h"), "at least one duration").guide("how long to wait after the first failed attempt of a delivery, after the second, and so on; the last value repeats"),
    setting("WEBHOOK_MAX_FAILURES", Value("5"), "at least 1").guide("after this many failed attempts a delivery is dead"),
    setting("WEBHOOK_TIMEOUT", Value("10s"), "above 0").guide("the time limit of an attempt, from the resolution of the name to the end of the answer"),
    setting("WEBHOOK_RETENTION", Value("30d"), "above 0").guide("how long attempts, deliveries and events are kept after they are finished"),
    setting("WEBHOOK_DENIALS_AT_ONCE", Value("1"), "1 to 32; see [7.6](#76-guarantees)").guide("how many denied checks are sent to one webhook at a time, up to 32. With more than 1 they may arrive in another order; a receiver that is 5 ms away gets 200 a second with 1, and 3,200 with 16"),
    setting("WEBHOOK_MAX_WAITING_DENIALS", Value("10000"), "at least 1; see [7.4](#74-denied-checks)").guide("how many denied checks wait for one webhook; beyond that the oldest are dropped, counted and [reported](webhooks.md#denied-checks)"),
    setting("QUOTA_WEBHOOKS", Value("50"), "a number or `none`; see [9.9](#99-quotas)").guide("the most webhooks of a tenant. Each event is written once for each of them. For this and the next variables: `none` is no limit, and `0` allows none. See [Quotas](#quotas)"),
    setting("QUOTA_POLICIES", Value("20000"), "a number or `none`; see [9.9](#99-quotas)").guide("the most ABAC policies of a tenant"),
    setting("QUOTA_RULES", Value("500000"), "a number or `none`; see [9.9](#99-quotas)").guide("the most RBAC rules of a tenant, those of default roles included"),
    setting("QUOTA_RESOURCES", Value("200000"), "a number or `none`; see [9.9](#99-quotas)").guide("the most resources of a tenant"),
    setting("QUOTA_SERVICE_KEYS", Value("1000"), "a number or `none`; see [9.9](#99-quotas)").guide("the most service keys of a tenant"),
    setting("QUOTA_RESOLVERS", Value("64"), "a number or `none`; see [9.9](#99-quotas)").guide("the most resolvers of a tenant. Each takes memory for as long as the service runs"),
    setting("QUOTA_ENTITIES", Value("1000000"), "a number or `none`; see [9.9](#99-quotas)").guide("the most entities of a tenant. A million takes some 500 MB in each process that needs them"),
    setting("QUOTA_RELATIONS", Value("5000000"), "a number or `none`; see [9.9](#99-quotas)").guide("the most tuples of a tenant. A million takes some 40 MB in each process that needs them"),
    setting("QUOTA_STORED_BYTES", Value("2GiB"), "a size or `none`").guide("the most bytes of a tenant's policies, rules, resources, entities, and resolvers with their modules"),
    setting("QUOTA_PLAN_BYTES", Value("8MiB"), "a size or `none`").guide("the most bytes of rules and of policies with the named conditions that they use, on one resource or pattern, such as `doc:read`, `doc:*` or `*`. A check loads the three that match its resource, and takes some twenty times their bytes in memory meanwhile"),
    setting("RESOLVERS_DIR", Absent, "a readable directory").guide("a directory of [attribute resolvers](resolvers.md#for-every-tenant) that serve every tenant"),
    setting("RESOLVER_INSTANCES", Value("64"), "1–1,000").guide("how many resolver calls may run at once, 1 to 1000. Each call takes up to 64 MiB while it runs. One tenant may use a quarter of them"),
    setting("RESOLVER_CACHE_BYTES", Value("64MiB"), "").guide("the most memory for cached resolver answers"),
    setting("RESOLVER_COMPILER_MEMORY", Value("1GiB"), "at least 256 MiB; see [5.13](#513-limits-of-resolvers)").guide("the most memory of the process that compiles a resolver module, at least `256MiB`. At most two run at a time. Modules of JavaScript and Python take some 450 MiB"),
    setting("RESOLVER_CODE_DIR", Told("`portcullis-code` beside the SQLite file, else none"), "compiled modules; only the service may enter it").guide("the directory for compiled resolvers, so that the service need not compile them at each start. No other user may have access to it"),
    setting("PLAN_CACHE_BYTES", Value("256MiB"), "see [2.11](#211-plans-in-memory)").guide("the most memory for plans, in `KiB`, `MiB` or `GiB`. If it is full, the tenant with the most bytes loses the plans that it did not read for the longest time. Plans of drafts in shadow take at most an eighth of it, beside it"),
    setting("ENTITIES_BYTES", Value("1GiB"), "see [12.6](#126-entities-in-memory)").guide("the most memory for entities of all tenants; one tenant has at most half of it. If it is full, the tenant whose entities were not used for the longest time loses them until the next check needs them"),
    setting("MAX_STALENESS", Value("30s"), "see [2.9](#29-revisions-and-freshness)").guide("while the database is down, how long plans in memory still answer checks; after that, checks get 503"),
    setting("RATE_LIMIT_FAILURES", Value("60/m"), "a rate, or `off`; see [8.12](#812-rates-and-load)").guide("how many bad credentials one address may send; beyond it they get 429. `off` for no limit. See [Rates and load](#rates-and-load)"),
    setting("RATE_LIMIT_CHECKS", Value("off"), "`<scope>=<rate>` with commas between them, such as `tenant=1000/s,credential=100/s`, or `off`").guide("the rates of checks: `tenant=…`, `credential=…` and `address=…`, each a number and `/s`, `/m` or `/h`, with commas between them"),
    setting("RATE_LIMIT_READS", Value("off"), "`<scope>=<rate>` with commas between them, such as `tenant=1000/s,credential=100/s`, or `off`").guide("the same for reading requests of management"),
    setting("RATE_LIMIT_WRITES", Value("off"), "`<scope>=<rate>` with commas between them, such as `tenant=1000/s,credential=100/s`, or `off`").guide("the same for writing requests of management"),
    setting("TRUSTED_PROXIES", Absent, "networks with commas between them").guide("the networks of your proxies, such as `10.0.0.0/8`: only they may name the address of a client"),
    setting("MAX_CHECKS", Value("1024"), "1–1,000,000").guide("how many checks may run at once; more wait, and then get 503"),
    setting("MAX_MANAGEMENT", Value("64"), "1–1,000,000").guide("the same for management"),
    setting("MAX_UPLOADS", Value("16"), "1–1,000,000").guide("the same for uploads of resolvers"),
    setting("LOG_FORMAT", Value("text"), "`text` or `json`").guide("`text` or `json`; the log goes to standard error. Lines that nobody reads in time are dropped, and a line counts them"),
    setting("RUST_LOG", Value("info"), "a filter").guide("`portcullis=debug` writes a line per request"),
    setting("OTEL_EXPORTER_OTLP_ENDPOINT", Absent, "an http or https URL; traces are sent if one is set. These and the next ones are those of OpenTelemetry: but for endpoint and protocol, a value that cannot be used counts as absent").guide("the collector that [traces](#traces) are sent to, such as `http://localhost:4318`; none are made without it. The other variables of OpenTelemetry are in that section"),
    setting("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", Absent, "the same, for traces alone"),
    setting("OTEL_EXPORTER_OTLP_PROTOCOL", Value("http/protobuf"), "no other value"),
    setting("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", Value("http/protobuf"), "no other value"),
    setting("OTEL_EXPORTER_OTLP_HEADERS", Absent, "of traces, or of everything"),
    setting("OTEL_EXPORTER_OTLP_TRACES_HEADERS", Absent, "of traces, or of everything"),
    setting("OTEL_EXPORTER_OTLP_TIMEOUT", Value("10000"), "of traces, or of everything"),
    setting("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", Value("10000"), "of traces, or of everything"),
    setting("OTEL_EXPORTER_OTLP_COMPRESSION", Value("none"), "of traces, or of everything"),
    setting("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", Value("none"), "of traces, or of everything"),
    setting("OTEL_TRACES_SAMPLER", Value("parentbased_always_on"), "the sampler of requests; by default the caller's span decides"),
    setting("OTEL_TRACES_SAMPLER_ARG", Value("1"), "the sampler of requests; by default the caller's span decides"),
    setting("OTEL_SERVICE_NAME", Value("portcullis"), ""),
    setting("OTEL_RESOURCE_ATTRIBUTES", Absent, ""),
    setting("OTEL_BSP_SCHEDULE_DELAY", Value("5000"), ""),
    setting("OTEL_BSP_MAX_QUEUE_SIZE", Value("2048"), ""),
    setting("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", Value("512"), ""),
    setting("OTEL_PROPAGATORS", Value("tracecontext"), ""),
    setting("OTEL_TRACES_EXPORTER", Value("otlp"), ""),
    setting("OTEL_SDK_DISABLED", Value("false"), ""),
    setting("SERVICE_API_KEY", Absent, "the service key that a command sends").or_file("SERVICE_API_KEY_FILE"),
    setting("TOKEN", Absent, "the token that a command sends").or_file("TOKEN_FILE"),
];

#[cfg(test)]
mod tests;
