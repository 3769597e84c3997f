//! Loaded modules, refused modules, and the words of each refusal.

use std::sync::Arc;
use std::time::Duration;

use portcullis_resolver_host::limits::MODULE_BYTES;
use portcullis_resolver_host::{
    CallError, ConfigKey, Grant, GrantError, Kind, Limits, LoadError, Module,
};

use super::no_endpoints::NoEndpoints;
use super::support::{GENEROUS, answers, assert_healthy, component, directory, grant, host, load};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_says_what_it_is_and_what_it_can_call() {
    let host = host();
    let bytes = component("directory");
    let module = load(&host, bytes.clone()).await.unwrap();
    assert_eq!(module.size, bytes.len());
    let digest = module.digest.to_string();
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");

    let descriptor = &module.descriptor;
    assert_eq!((&descriptor.name[..], &descriptor.version[..]), ("directory", "1.0.0"));
    let attributes: Vec<_> =
        descriptor.attributes.iter().map(|spec| (&spec.name[..], spec.kind)).collect();
    assert_eq!(attributes, [("department", Kind::Text), ("manager", Kind::Boolean)]);
    let key = ConfigKey { name: "department".to_owned(), required: true };
    assert_eq!(descriptor.config_keys, [key]);

    // The component sends no requests, so it does not import `http`.
    let imports = |name: &str| module.imports.iter().any(|import| import == name);
    assert!(imports("portcullis:resolver/config@1.0.0"));
    assert!(!imports("portcullis:resolver/http@1.0.0"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_and_sockets_are_refused_by_name() {
    let host = host();
    for (guest, import) in [("files", "wasi:filesystem/types@"), ("sockets", "wasi:sockets/tcp@")] {
        let error = load(&host, component(guest)).await.unwrap_err();
        let LoadError::Imports(names) = &error else { panic!("{error}") };
        assert!(names.iter().any(|name| name.starts_with(import)), "{error}");
        let refused = |name: &String| {
            name.starts_with("wasi:filesystem/") || name.starts_with("wasi:sockets/")
        };
        assert!(names.iter().all(refused), "{error}");
        assert!(error.to_string().contains(import), "{error}");
    }
    assert_healthy(&host, &directory(&host).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_not_a_component_are_refused_with_the_reason() {
    let host = host();
    let good = component("directory");
    let noise = |header: &[u8]| {
        let mut random = fastrand::Rng::with_seed(16);
        let noise = std::iter::repeat_with(move || random.u8(..));
        header.iter().copied().chain(noise).take(MODULE_BYTES).collect::<Vec<_>>()
    };
    const MAGIC: &str = "the bytes do not begin with `\\0asm`";
    let rows = [
        ("empty", vec![], MAGIC),
        ("text", b"(component)".to_vec(), MAGIC),
        ("code for the processor", b"\x7fELF\x02\x01\x01".to_vec(), MAGIC),
        ("noise", noise(b""), MAGIC),
        ("noise with a header", noise(&good[..8]), "at offset 0x"),
        ("a core module", b"\0asm\x01\0\0\0".to_vec(), "this is a core module"),
        ("half a header", good[..6].to_vec(), "the header is cut off or unknown"),
        ("an unknown layer", b"\0asm\x0d\0\x07\0".to_vec(), "the header is cut off or unknown"),
        ("cut in the middle", good[..good.len() / 2].to_vec(), "unexpected end"),
        ("cut at the end", good[..good.len() - 1].to_vec(), "unexpected end"),
    ];
    for (what, bytes, expected) in rows {
        let error = load(&host, bytes).await.unwrap_err();
        let (LoadError::NotAComponent(why) | LoadError::Compile(why)) = &error else {
            panic!("{what}: {error:?}")
        };
        assert!(why.contains(expected), "{what}: {why}");
    }
    let error = load(&host, vec![0; MODULE_BYTES + 1]).await.unwrap_err();
    assert!(matches!(error, LoadError::TooLarge(_)), "{error}");
    assert_healthy(&host, &directory(&host).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_component_of_another_contract_is_refused() {
    let host = host();
    let error = load(&host, b"\0asm\x0d\0\x01\0".to_vec()).await.unwrap_err();
    assert!(matches!(error, LoadError::Contract(_)), "{error:?}");
    assert!(error.to_string().contains("resolver@1.0.0"), "{error}");

    // Each differs from the component in one letter of a field's name, or in one digit of a version.
    let rows = [("absent", "absend"), ("resolver/log@1.0.0", "resolver/log@2.0.0")];
    for (from, to) in rows {
        let error = load(&host, replaced(&component("directory"), from, to)).await.unwrap_err();
        assert!(matches!(error, LoadError::Contract(_)), "{from}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_must_describe_itself_and_do_nothing_else() {
    let host = host();
    let error = load(&host, component("stuck")).await.unwrap_err();
    let LoadError::Describe(CallError::TimedOut(_)) = error else { panic!("{error:?}") };
    let error = load(&host, component("curious")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`describe` failed: refused: `describe` may log, and nothing else"
    );
    let nameless = replaced(&component("directory"), "manager", "manag\0r");
    let error = load(&host, nameless).await.unwrap_err();
    assert!(matches!(error, LoadError::Descriptor(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manifest_must_fit_its_module() {
    let host = host();
    let directory = load(&host, component("directory")).await.unwrap();
    let behaviours = load(&host, component("behaviours")).await.unwrap();
    let department = ("department", "sales");
    let bind = |module: &Arc<Module>, config: &[(&str, &str)], limits| {
        host.bind(module.clone(), grant(config, answers()), limits, "acme").map(drop)
    };
    let named = |name: &str| name.to_owned();
    assert_eq!(bind(&directory, &[], GENEROUS), Err(GrantError::MissingKey(named("department"))));
    let unknown = bind(&directory, &[department, ("colour", "red")], GENEROUS);
    assert_eq!(unknown, Err(GrantError::UnknownKey(named("colour"))));
    assert_eq!(bind(&behaviours, &[], GENEROUS), Ok(()));

    let none = Grant { config: Default::default(), endpoints: Arc::new(NoEndpoints) };
    let ungranted = host.bind(behaviours, none, GENEROUS, "acme").map(drop);
    assert_eq!(ungranted, Err(GrantError::MissingEndpoint(named("source"))));

    let limits = [
        Limits { timeout: Duration::ZERO, ..GENEROUS },
        Limits { timeout: Duration::from_secs(31), ..GENEROUS },
        Limits { memory_bytes: 0, ..GENEROUS },
        Limits { memory_bytes: (64 << 20) + 1, ..GENEROUS },
    ];
    for limits in limits {
        let error = bind(&directory, &[department], limits).unwrap_err();
        assert!(matches!(error, GrantError::Limit(_)), "{error}");
    }
}

/// Replaces every `from` by a `to` of the same length.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut found = 0;
    for start in 0..bytes.len() - from.len() {
        let part = &mut bytes[start..start + from.len()];
        if part == from.as_bytes() {
            part.copy_from_slice(to.as_bytes());
            found += 1;
        }
    }
    assert!(found > 0, "no `{from}`");
    bytes
}
