//! The limits of structure: a component at each limit, and one beyond it.

use portcullis_test_guests::{CostlyFunctions, component};

use super::*;

const FEW: CostlyFunctions = CostlyFunctions { count: 3, parameters: 2, locals: 8, loops: 2 };

fn judged(functions: CostlyFunctions, limits: &StructureLimits) -> Result<(), String> {
    let directory = component("directory").expect("it builds");
    judge(&functions.added_to(&directory), limits).map_err(|error| error.to_string())
}

#[test]
fn costly_functions_are_refused_by_name() {
    let limits = StructureLimits::default();
    let none = StructureLimits {
        functions: u64::MAX,
        function_bytes: u64::MAX,
        function_locals: u64::MAX,
        locals: u64::MAX,
        parameters: u64::MAX,
        function_joins: u64::MAX,
        ..limits
    };
    for (functions, fault) in [
        (
            CostlyFunctions { locals: 9_999, ..FEW },
            "function 0 of core module 3 has 10001 parameters and locals: at most 10000 are accepted",
        ),
        (
            CostlyFunctions { parameters: 101, ..FEW },
            "a type of core module 3 has 101 parameters: at most 100 are accepted",
        ),
        (
            CostlyFunctions { locals: 5_000, loops: 2_000, ..FEW },
            "function 0 of core module 3 has 20008000 locals times branches: at most 2000000 are accepted",
        ),
        (
            CostlyFunctions { locals: 2_000, count: 501, loops: 0, ..FEW },
            "locals: at most 1000000 are accepted",
        ),
    ] {
        let error = judged(functions, &limits).expect_err(fault);
        assert!(error.contains(fault), "{error}");
        // Control: without the limits the component goes to the compiler.
        assert_eq!(judged(functions, &none), Ok(()), "{fault}");
    }
}

#[test]
fn real_components_and_costly_ones_within_the_limits_pass() {
    let limits = StructureLimits::default();
    for name in ["behaviours", "curious", "directory", "handles", "stuck"] {
        let bytes = component(name).expect("it builds");
        assert!(judge(&bytes, &limits).is_ok(), "{name}");
    }
    assert_eq!(judged(CostlyFunctions { locals: 9_998, ..FEW }, &limits), Ok(()));
    assert_eq!(judged(CostlyFunctions { parameters: 100, ..FEW }, &limits), Ok(()));
}

#[test]
fn every_count_has_a_limit() {
    let most = StructureLimits::default();
    let one = |limits: StructureLimits, fault: &str| {
        let error = judged(FEW, &limits).expect_err(fault);
        assert!(error.contains(fault), "{error}");
    };
    one(StructureLimits { components: 1, ..most }, "has 2 components: at most 1");
    one(StructureLimits { depth: 1, ..most }, "has 2 components inside each other: at most 1");
    one(StructureLimits { modules: 3, ..most }, "has 4 core modules: at most 3");
    one(StructureLimits { types: 3, ..most }, " types: at most 3");
    one(StructureLimits { declarations: 3, ..most }, " other declarations: at most 3");
    one(StructureLimits { functions: 3, ..most }, " functions: at most 3");
    one(StructureLimits { function_bytes: 3, ..most }, " bytes: at most 3");
    one(StructureLimits { function_locals: 3, ..most }, " parameters and locals: at most 3");
    one(StructureLimits { locals: 3, ..most }, " locals: at most 3");
    one(StructureLimits { parameters: 3, ..most }, " parameters: at most 3");
    one(StructureLimits { results: 0, ..most }, " results: at most 0");
    one(StructureLimits { function_joins: 3, ..most }, " locals times branches: at most 3");
}

#[test]
fn imports_and_exports_are_those_of_a_resolver() {
    let limits = StructureLimits::default();
    let files = component("files").expect("it builds");
    let Err(LoadError::Imports(names)) = judge(&files, &limits) else { panic!("it is refused") };
    assert!(names.iter().all(|name| name.starts_with("wasi:filesystem/")), "{names:?}");
    let error = judge(b"\0asm\x0d\0\x01\0", &limits).expect_err("it exports nothing");
    assert!(matches!(error, LoadError::Contract(_)), "{error}");
}
