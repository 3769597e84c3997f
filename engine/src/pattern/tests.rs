//! Patterns: their meaning, their faults, and their budgets.

use regex_automata::meta;

use super::{MAX_MATCH_STEPS, Pattern, PatternCheck, PatternCompiler, PatternFault};

#[test]
fn a_pattern_matches_the_whole_text() {
    for (pattern, text, expected) in [
        ("a|ab", "ab", true),
        ("a", "ab", false),
        ("b", "ab", false),
        ("", "", true),
        ("", "a", false),
        ("(?x)a # comment", "a", true),
        ("(?m)^a$", "a\nb", false),
        (".*", "a\nb", false),
        ("(?s).*", "a\nb", true),
        ("a$", "a\n", false),
        ("ä+", "ää", true),
    ] {
        let compiled = Pattern::new(pattern).compile().expect("valid");
        assert_eq!(compiled.matches(text), expected, "{pattern:?} on {text:?}");
    }
    for bad in ["a)|(b", "(", "[", "a{2,1}", "\\", "(?<n>a)\\k<n>", "(?=a)"] {
        let fault = Pattern::new(bad).compile().expect_err(bad);
        assert!(matches!(fault, PatternFault::Syntax(_)), "{bad:?}");
    }
}

/// The short and the long search, both as a whole and for a part, agree with another engine.
#[test]
fn every_search_agrees_with_the_meta_engine() {
    let patterns = [
        "[ab]*a[ab]{3}",
        "\\w+@\\w+\\.(com|org)",
        "(?i)straße|ΣΑΣ",
        "^/a/[^/]+$",
        "\\bb\\b|\\Bc",
        "",
        "a*?b??",
        "(?s)x.{2,5}?y",
        "[^\\s\\d]+",
        "(a|b|ab)*c",
        "\\d{2,}|é",
        "(?m)^b$",
    ];
    let texts = [
        "",
        "a",
        "abab",
        "aabbaa",
        "ann@example.com",
        "STRASSE",
        "straße",
        "σας",
        "/a/x",
        "/a/x/y",
        "a b c",
        "xééy",
        "12",
        "é",
        "abababc",
        "a\nb\nc",
        "bc c",
    ];
    for pattern in patterns {
        let whole = meta::Regex::new(&format!("\\A(?:{pattern})\\z")).expect(pattern);
        let part = meta::Regex::new(pattern).expect(pattern);
        let (own_whole, own_part) =
            (Pattern::new(pattern).compile(), Pattern::search(pattern).compile());
        let (own_whole, own_part) = (own_whole.expect(pattern), own_part.expect(pattern));
        for text in texts {
            for text in
                [text.to_owned(), text.repeat(1_000), format!("{}{text}", "z".repeat(5_000))]
            {
                assert_eq!(
                    own_whole.matches(&text),
                    whole.is_match(&text),
                    "{pattern:?} on {text:?}"
                );
                assert_eq!(
                    own_part.matches(&text),
                    part.is_match(&text),
                    "{pattern:?} in {text:?}"
                );
            }
        }
    }
}

#[test]
fn steps_are_the_states_times_the_text() {
    let steps = |pattern: &str, bytes| Pattern::new(pattern).compile().expect("valid").steps(bytes);
    assert!((2_000_000..2_100_000).contains(&steps("[ab]*a[ab]{2000}", 999)));
    assert!(steps("[ab]*a[ab]{2000}", 1 << 20) > MAX_MATCH_STEPS);
    for everyday in ["[a-z]+@example\\.com", ".*secret.*", "/api/v[0-9]+/.*", "(?i)[a-z0-9-]+"] {
        assert!(steps(everyday, 100_000) <= MAX_MATCH_STEPS, "{everyday}");
    }
    assert!(steps("\\w+", 10_000) <= MAX_MATCH_STEPS);
}

/// Each of these would take long to parse, to translate or to compile.
#[test]
fn an_expensive_pattern_is_refused() {
    let han = |step: usize| -> String {
        (0x4E00..0x9FFF).step_by(step).filter_map(char::from_u32).rev().collect()
    };
    for (pattern, fault) in [
        ("(\\pL{100}){100}".to_owned(), PatternFault::TooLarge),
        ("(((a{1000}){1000}){1000}){1000}".to_owned(), PatternFault::TooLarge),
        ("a".repeat(65_537), PatternFault::TooLong),
        ("[\\pL]".repeat(5_000), PatternFault::PolicyBudget),
        ("\\pL".repeat(20_000), PatternFault::PolicyBudget),
        ("(?i:\\PL)".repeat(20), PatternFault::PolicyBudget),
        (format!("(?i){}", "[\\x00-\\x{10FFFF}b]".repeat(20)), PatternFault::PolicyBudget),
        (format!("[{}]", "\\pL".repeat(1_000)), PatternFault::PolicyBudget),
        (format!("[{}]", han(1)), PatternFault::PolicyBudget),
        (format!("(?i){}a{}", "[".repeat(200), "]".repeat(200)), PatternFault::PolicyBudget),
    ] {
        let start: String = pattern.chars().take(20).collect();
        assert_eq!(Pattern::new(&pattern).compile().err(), Some(fault), "{start}…");
    }
    for everyday in [
        "(?i)[\\w.-]+@[\\w.-]+",
        "[\\p{L}\\p{N}\\p{M}_]{1,30}",
        "(?i)\\p{Greek}+",
        "[^\\x00-\\x1f]*",
    ] {
        assert!(Pattern::new(everyday).compile().is_ok(), "{everyday}");
    }
    assert!(Pattern::new(&format!("[{}]", han(8))).compile().is_ok());
}

#[test]
fn patterns_of_a_policy_share_a_budget() {
    let pattern = |number: usize| Pattern::new(&format!("\\pL{{12}}{number}"));
    let mut compiler = PatternCompiler::new();
    let fits = (0..998).take_while(|number| compiler.compile(&pattern(*number)).is_ok()).count();
    assert!((10..100).contains(&fits), "{fits}");
    // The budget is spent, and those that are compiled cost nothing more.
    assert_eq!(compiler.compile(&Pattern::new("a")).err(), Some(PatternFault::PolicyBudget));
    assert!(compiler.compile(&pattern(0)).is_ok());
    compiler.begin_policy();
    assert!(compiler.compile(&Pattern::new("a")).is_ok());
    // Control: without budgets all are compiled.
    let mut unlimited = PatternCompiler::with_budgets(u64::MAX, u64::MAX);
    assert!((0..2 * fits).all(|number| unlimited.compile(&pattern(number)).is_ok()));
}

#[test]
fn many_everyday_patterns_fit_into_a_policy() {
    let mut compiler = PatternCompiler::new();
    for number in 0..999 {
        let pattern = Pattern::new(&format!("[a-z0-9.-]+@team{number}\\.example\\.(com|org)"));
        assert!(compiler.compile(&pattern).is_ok(), "{number}");
    }
}

#[test]
fn the_policies_of_a_plan_share_a_budget() {
    let mut compiler = PatternCompiler::new();
    let mut number = 0;
    let fault = loop {
        compiler.begin_policy();
        number += 1;
        if let Err(fault) = compiler.compile(&Pattern::new(&format!("\\pL{{40}}{number}"))) {
            break fault;
        }
        assert!(number < 1_000);
    };
    assert_eq!(fault, PatternFault::PlanBudget);
    assert!(compiler.weight() < 32 << 20);
}

#[test]
fn a_policy_over_its_budget_has_one_fault() {
    let mut check = PatternCheck::compile();
    let faults = (0..998)
        .filter(|number| check.check(Pattern::new(&format!("\\pL{{12}}{number}"))).is_err());
    assert_eq!(faults.count(), 1);
}

/// A search that begins again at the next byte after an empty match inside a character would take quadratic time: 10¹²
/// steps here.
#[test]
fn an_empty_match_inside_a_character_ends_the_search() {
    let pattern = Pattern::search("(?-u:\\b{start-half}\\b{end-half})").compile().expect("valid");
    let text = format!("{}éa", "a".repeat(1_000_000));
    assert!(pattern.matches(&text));
}
