//! Attacks 51 and 54: what somebody without a credential writes into headers: keys of its own, and a trace.

use serde_json::json;

use crate::cost::Figure;
use crate::support::keys::Key;
use crate::support::receiver::Receiver;
use crate::support::{Provider, Request, Settings, Tenant};

/// Attack 51: a token that names or brings along its key, and one whose `kid` several keys have.
pub(crate) fn foreign_keys() -> Vec<Figure> {
    let (own, twin) = (Key::p256("twice"), Key::p256("twice"));
    let provider = Provider::new(vec![Key::p256("once"), own, twin]);
    let server = Settings::new(&provider).start();
    let tenant = Tenant::with_provider(&server, &provider, "acme");
    let (stranger, trap) = (Key::p256("once"), Receiver::start());
    let claims = tenant.claims("boss", &["admin"]);
    let mut tokens = vec![provider.key(1).token(&provider.key(1).header(), &claims)];
    for (name, value) in [
        ("jku", json!(trap.url("/keys"))),
        ("x5u", json!(trap.url("/chain"))),
        ("jwk", stranger.jwk()),
        ("x5c", json!(["MIIB"])),
    ] {
        let mut header = stranger.header();
        header[name] = value;
        tokens.push(stranger.token(&header, &claims));
    }
    let ask = |token: &str| tenant.send(&Request::new("GET /api/v1/resources").token(token));
    let accepted = tokens.iter().filter(|token| ask(token).status != 401).count();
    // The same header does no harm to a token that the provider signed.
    let mut header = provider.key(0).header();
    header["jku"] = json!(trap.url("/keys"));
    let good = ask(&provider.key(0).token(&header, &claims));
    vec![
        Figure::count("forged or ambiguous tokens that are accepted", accepted, 0),
        Figure::count("requests to an address of the header", trap.count(), 0),
        Figure::count("good tokens refused", usize::from(good.status != 200), 0),
    ]
}

/// Attack 54: 1,000 requests without a valid credential that demand spans.
pub(crate) fn traces() -> Vec<Figure> {
    let (forced, known) = ("4bf92f3577b34da6a3ce929d0e0e4736", "5bf92f3577b34da6a3ce929d0e0e4736");
    let collector = Receiver::start();
    let server = Settings::new(Provider::shared())
        .set("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url(""))
        .set("OTEL_TRACES_SAMPLER", "parentbased_always_off")
        .set("OTEL_BSP_SCHEDULE_DELAY", "20")
        .start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let traced = |request: Request, trace: &str| {
        request.header("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"))
    };
    for number in 0..1_000 {
        let request = Request::new(["GET /healthz/live", "GET /api/v1/resources"][number % 2]);
        tenant.send(&traced(request.token("a.b.c"), forced));
    }
    tenant.send(&traced(tenant.managing("GET /api/v1/resources"), known)).is(200);
    let bytes = |trace: &str| hex::decode(trace).expect("hexadecimal");
    let has = |body: &[u8], trace: &[u8]| body.windows(trace.len()).any(|part| part == trace);
    let (forced, known) = (bytes(forced), bytes(known));
    let all = collector.wait_until("the span of a known caller", |all| {
        all.iter().any(|batch| has(&batch.body, &known))
    });
    let spans = all.iter().filter(|batch| has(&batch.body, &forced)).count();
    vec![Figure::count("batches with spans that strangers forced", spans, 0)]
}
