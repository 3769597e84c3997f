//! Makes texts that match a pattern, and addresses of a network.

use fastrand::Rng;
use portcullis_engine::operator::Networks;
use portcullis_engine::pattern::Pattern;
use portcullis_engine::witnesses::addresses;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The number of tries. A try can fail, because it ignores assertions such as `\b`.
const TRIES: usize = 16;
/// The largest number of repetitions above the minimum of the pattern.
const MORE: u32 = 2;
/// The longest text, in bytes: a pattern can demand thousands of repetitions.
const LONGEST: usize = 1_024;
/// Texts that hardly any pattern matches.
const ODD: [&str; 3] = ["~", "", "no such text"];

/// Returns a text that matches the pattern, or one that does not; `None` if none is found.
pub(super) fn matching(pattern: &Pattern, wanted: bool, rng: &mut Rng) -> Option<String> {
    let automaton = pattern.compile().ok()?;
    if !wanted {
        // Few patterns match all of these, and for one that does the attribute stays as it is.
        let odd = ODD.iter().find(|text| !automaton.matches(text))?;
        return Some((*odd).to_owned());
    }
    let hir = regex_syntax::parse(pattern.source()).ok()?;
    (0..TRIES)
        .map(|_| {
            let mut text = String::new();
            write(&hir, rng, &mut text);
            text
        })
        // Assertions such as word boundaries are not generated, so a text may fail to match.
        .find(|text| automaton.matches(text))
}

/// Returns an address in one of the networks, or in none of them.
pub(super) fn address(networks: &Networks, wanted: bool, rng: &mut Rng) -> Option<String> {
    let addresses = addresses([networks]).into_iter().map(|address| address.to_string());
    let fitting = addresses.filter(|address| networks.contain(address) == Some(wanted));
    rng.choice(fitting.collect::<Vec<_>>())
}

/// Appends a text that matches the expression.
fn write(hir: &Hir, rng: &mut Rng, text: &mut String) {
    if text.len() > LONGEST {
        return;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.extend(character(class, rng)),
        HirKind::Capture(capture) => write(&capture.sub, rng, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, rng, text)),
        HirKind::Alternation(parts) => {
            if let Some(part) = rng.choice(parts) {
                write(part, rng, text);
            }
        }
        HirKind::Repetition(repetition) => {
            // Open repetitions end soon, so that texts stay short.
            let most = repetition.max.unwrap_or(u32::MAX).min(repetition.min.saturating_add(MORE));
            for _ in 0..rng.u32(repetition.min..=most).min(LONGEST as u32) {
                write(&repetition.sub, rng, text);
            }
        }
    }
}

/// Returns a character of the class, preferably a printable one of ASCII.
fn character(class: &Class, rng: &mut Rng) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
    };
    let printable = ranges.iter().filter_map(|(start, end)| {
        // Printable ASCII is preferred, because people can read it in reports.
        let (start, end) = (*start.max(&' '), *end.min(&'~'));
        (start <= end).then_some((start, end))
    });
    let printable: Vec<(char, char)> = printable.collect();
    let (start, end) = rng.choice(printable).or_else(|| rng.choice(&ranges).copied())?;
    Some(rng.char(start..=end))
}

#[cfg(test)]
mod tests {
    use portcullis_engine::operator::parse_network;

    use super::*;

    #[test]
    fn texts_match_their_patterns_or_do_not() {
        let mut rng = Rng::with_seed(1);
        for source in ["(?s)\\pL.{9,}", "a|b", "v[0-9]+(\\.[0-9]+){2}", "\\d{4}-\\d{2}", "ä+", "x?"]
        {
            let pattern = Pattern::new(source);
            let automaton = pattern.compile().expect("a pattern");
            let text = matching(&pattern, true, &mut rng).expect(source);
            assert!(automaton.matches(&text), "`{source}` and `{text}`");
            let text = matching(&pattern, false, &mut rng).expect(source);
            assert!(!automaton.matches(&text), "`{source}` and `{text}`");
        }
        let everything = Pattern::new("(?s).*");
        assert_eq!(matching(&everything, false, &mut rng), None);
        let nothing = Pattern::new("a\\bb");
        assert_eq!(matching(&nothing, true, &mut rng), None);
    }

    #[test]
    fn addresses_are_in_their_networks_or_not() {
        let mut rng = Rng::with_seed(1);
        let parse = |texts: &[&str]| {
            Networks::new(&texts.iter().filter_map(|text| parse_network(text)).collect::<Vec<_>>())
        };
        let networks = parse(&["10.20.0.0/16", "203.0.113.0/24", "2001:db8:20::/48"]);
        for wanted in [true, false] {
            let address = address(&networks, wanted, &mut rng).expect("an address");
            assert_eq!(networks.contain(&address), Some(wanted), "{address}");
        }
        assert_eq!(address(&parse(&["0.0.0.0/0", "::/0"]), false, &mut rng), None);
    }
}
