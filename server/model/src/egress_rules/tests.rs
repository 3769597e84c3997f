//! The rules against every range of the registries, and every spelling of an address that is known to
//! slip past a check of the text.

use super::*;

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn allowing(networks: &[&str]) -> EgressRules {
    let allow = networks.iter().map(|net| net.parse().expect("a network")).collect();
    EgressRules { allow, ..EgressRules::default() }
}

#[track_caller]
fn check(rules: &EgressRules, text: &str, permitted: bool) {
    assert_eq!(rules.permits(address(text)), permitted, "{text}");
}

/// The addresses just before and just after `net`, where there are any.
fn neighbours(net: IpNet) -> [Option<IpAddr>; 2] {
    match net {
        IpNet::V4(net) => {
            let (first, last) = (u32::from(net.network()), u32::from(net.broadcast()));
            [first.checked_sub(1), last.checked_add(1)]
                .map(|bits| bits.map(|bits| Ipv4Addr::from(bits).into()))
        }
        IpNet::V6(net) => {
            let (first, last) = (u128::from(net.network()), u128::from(net.broadcast()));
            [first.checked_sub(1), last.checked_add(1)]
                .map(|bits| bits.map(|bits| Ipv6Addr::from(bits).into()))
        }
    }
}

const OPEN: bool = true;
const SHUT: bool = false;

/// Every range of the registries that is not marked as globally reachable, each with the verdicts on the
/// address before it and the address after it.
const REFUSED: [(&str, bool, bool); 44] = [
    ("0.0.0.0/8", SHUT, OPEN),
    ("10.0.0.0/8", OPEN, OPEN),
    ("100.64.0.0/10", OPEN, OPEN),
    ("127.0.0.0/8", OPEN, OPEN),
    ("169.254.0.0/16", OPEN, OPEN),
    ("172.16.0.0/12", OPEN, OPEN),
    ("192.0.0.0/24", OPEN, OPEN),
    ("192.0.2.0/24", OPEN, OPEN),
    ("192.88.99.0/24", OPEN, OPEN),
    ("192.168.0.0/16", OPEN, OPEN),
    ("198.18.0.0/15", OPEN, OPEN),
    ("198.51.100.0/24", OPEN, OPEN),
    ("203.0.113.0/24", OPEN, OPEN),
    ("224.0.0.0/4", OPEN, SHUT),
    ("240.0.0.0/4", SHUT, SHUT),
    ("255.255.255.255/32", SHUT, SHUT),
    // Unspecified, loopback, IPv4-compatible, IPv4-mapped, NAT64, and all else in ::/8.
    ("::/128", SHUT, SHUT),
    ("::1/128", SHUT, SHUT),
    ("::/96", SHUT, SHUT),
    ("::ffff:0:0/96", SHUT, SHUT),
    ("64:ff9b::/96", SHUT, SHUT),
    ("64:ff9b:1::/48", SHUT, SHUT),
    ("::/8", SHUT, SHUT),
    // Discard-only, and its dummy prefix.
    ("100::/64", SHUT, SHUT),
    ("100:0:0:1::/64", SHUT, SHUT),
    // What lies below the global unicast addresses, and above.
    ("200::/7", SHUT, SHUT),
    ("400::/6", SHUT, SHUT),
    ("800::/5", SHUT, SHUT),
    ("1000::/4", SHUT, OPEN),
    ("4000::/2", OPEN, SHUT),
    // Teredo, benchmarking, ORCHID, and all of their block.
    ("2001::/32", OPEN, SHUT),
    ("2001:2::/48", SHUT, SHUT),
    ("2001:10::/28", SHUT, SHUT),
    ("2001::/23", OPEN, OPEN),
    ("2001:db8::/32", OPEN, OPEN),
    ("2002::/16", OPEN, OPEN),
    ("3fff::/20", OPEN, OPEN),
    // Segment routing, unassigned, unique local, link-local, site-local, multicast.
    ("5f00::/16", SHUT, SHUT),
    ("8000::/2", SHUT, SHUT),
    ("c000::/3", SHUT, SHUT),
    ("fc00::/7", SHUT, SHUT),
    ("fe80::/10", SHUT, SHUT),
    ("fec0::/10", SHUT, SHUT),
    ("ff00::/8", SHUT, SHUT),
];

#[test]
fn every_special_range_is_refused_from_its_first_address_to_its_last() {
    let rules = EgressRules::default();
    for (range, before, after) in REFUSED {
        let net: IpNet = range.parse().expect("a network");
        assert!(!rules.permits(net.network()), "the first of {range}");
        assert!(!rules.permits(net.broadcast()), "the last of {range}");
        for (neighbour, expected) in neighbours(net).into_iter().zip([before, after]) {
            if let Some(neighbour) = neighbour {
                assert_eq!(rules.permits(neighbour), expected, "{neighbour}, beside {range}");
            }
        }
    }
}

#[test]
fn an_allowed_network_opens_exactly_itself() {
    for (range, before, after) in REFUSED {
        let net: IpNet = range.parse().expect("a network");
        // Addresses of this form are judged as IPv4: networks of IPv6 say nothing about them.
        if range == "::ffff:0:0/96" {
            continue;
        }
        let rules = allowing(&[range]);
        assert!(rules.permits(net.network()), "the first of {range}");
        assert!(rules.permits(net.broadcast()), "the last of {range}");
        for (neighbour, expected) in neighbours(net).into_iter().zip([before, after]) {
            if let Some(neighbour) = neighbour {
                assert_eq!(rules.permits(neighbour), expected, "{neighbour}, beside {range}");
            }
        }
    }
}

#[test]
fn public_addresses_are_permitted() {
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "93.184.215.14",
        // Rows of the registries that are marked as globally reachable.
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.1",
        "2620:4f:8000::1",
        "2000::",
        "2001:4860:4860::8888",
        "2606:4700:4700::1111",
        "2a00:1450:4001:82f::200e",
    ] {
        check(&EgressRules::default(), text, true);
    }
}

#[test]
fn every_form_that_embeds_an_ipv4_address_is_refused_with_it() {
    let rules = EgressRules::default();
    for text in [
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "::8.8.8.8",
        "64:ff9b::127.0.0.1",
        "64:ff9b::8.8.8.8",
        "64:ff9b:1::10.0.0.1",
        // 6to4 of 127.0.0.1 and 8.8.8.8.
        "2002:7f00:1::",
        "2002:808:808::1",
        // Teredo whose client is 127.0.0.1, inverted.
        "2001:0:808:808::80ff:fffe",
    ] {
        check(&rules, text, false);
    }
    // An IPv4-mapped address is nothing but the IPv4 address.
    check(&rules, "::ffff:8.8.8.8", true);
}

#[test]
fn an_allowed_network_wins() {
    let rules = allowing(&["127.0.0.0/8", "fd00:1::/32", "64:ff9b::/96"]);
    for text in ["127.0.0.1", "::ffff:127.0.0.1", "fd00:1::1", "64:ff9b::8.8.8.8", "8.8.8.8"] {
        check(&rules, text, true);
    }
    for text in ["10.0.0.1", "::1", "::127.0.0.1", "fd00:2::1", "64:ff9b:1::1"] {
        check(&rules, text, false);
    }
    // To open all of IPv6 does not open IPv4 loopback by another name.
    check(&allowing(&["::/0"]), "::ffff:127.0.0.1", false);
}

/// Spellings that an HTTP client connects to without asking a resolver, each with the network that it
/// reaches.
const SPELLINGS: [(&str, &str); 26] = [
    ("127.0.0.1", "127.0.0.0/8"),
    ("127.0.0.1.", "127.0.0.0/8"),
    ("2130706433", "127.0.0.0/8"),
    ("2130706433.", "127.0.0.0/8"),
    ("0x7f000001", "127.0.0.0/8"),
    ("0x7f.1", "127.0.0.0/8"),
    ("0X7F.0x0.0.1", "127.0.0.0/8"),
    ("017700000001", "127.0.0.0/8"),
    ("0177.0.0.1", "127.0.0.0/8"),
    ("127.1", "127.0.0.0/8"),
    ("127.0.1", "127.0.0.0/8"),
    ("127.65535", "127.0.0.0/8"),
    ("①②⑦.0.0.1", "127.0.0.0/8"),
    ("127。0。0。1", "127.0.0.0/8"),
    ("１２７．０．０．１", "127.0.0.0/8"),
    ("%31%32%37.0.0.1", "127.0.0.0/8"),
    ("0", "0.0.0.0/8"),
    ("0x", "0.0.0.0/8"),
    ("0.0.0.0", "0.0.0.0/8"),
    ("169.254.169.254", "169.254.0.0/16"),
    ("0xa9fea9fe", "169.254.0.0/16"),
    ("[::ffff:127.0.0.1]", "127.0.0.0/8"),
    ("[::ffff:7f00:1]", "127.0.0.0/8"),
    ("[0:0:0:0:0:FFFF:7f00:0001]", "127.0.0.0/8"),
    ("[::1]", "::1/128"),
    ("[fd00:ec2::254]", "fc00::/7"),
];

#[test]
fn an_address_is_refused_however_it_is_spelled() {
    for (host, network) in SPELLINGS {
        for text in [format!("https://{host}/hook"), format!("https://{host}:8443")] {
            let url = Url::parse(&text).expect("a URL");
            let refused = EgressRules::default().check_url(&url).expect_err(&text);
            assert!(refused.starts_with("a public address"), "{refused}");
            // The address alone is at fault: where its network is open, the same URL is accepted.
            assert_eq!(allowing(&[network]).check_url(&url), Ok(()), "{text}");
        }
    }
}

#[test]
fn a_url_has_a_scheme_that_is_allowed_a_host_and_no_user_info() {
    let strict = EgressRules::default();
    let with_http = EgressRules { allow_http: true, ..EgressRules::default() };
    let user_info = Err("a URL without user info");
    for (rules, text, expected) in [
        (&strict, "https://hooks.example/a?b=c#d", Ok(())),
        (&strict, "HTTPS://hooks.example.:8443", Ok(())),
        (&strict, "https://8.8.8.8/", Ok(())),
        (&strict, "https://[2606:4700:4700::1111]/", Ok(())),
        // Names are judged when they are resolved.
        (&strict, "https://localhost/", Ok(())),
        (&strict, "http://hooks.example/", Err("an `https` URL")),
        (&with_http, "http://hooks.example/", Ok(())),
        (&with_http, "https://hooks.example/", Ok(())),
        (&with_http, "http://127.0.0.1/", Err("a public address")),
        (&with_http, "ftp://hooks.example/", Err("an `https` or `http` URL")),
        (&strict, "ws://hooks.example/", Err("an `https` URL")),
        (&strict, "file:///etc/passwd", Err("an `https` URL")),
        (&strict, "data:,x", Err("an `https` URL")),
        (&strict, "https://user@hooks.example/", user_info),
        (&strict, "https://user:password@hooks.example/", user_info),
        (&strict, "https://:password@hooks.example/", user_info),
        (&strict, "https://user@127.0.0.1/", user_info),
        (&strict, "https://8.8.8.8@hooks.example/", user_info),
    ] {
        let checked = rules.check_url(&Url::parse(text).expect("a URL"));
        match expected {
            Ok(()) => assert_eq!(checked, Ok(()), "{text}"),
            Err(start) => assert!(checked.expect_err(text).starts_with(start), "{text}"),
        }
    }
}

#[test]
fn a_refusal_shows_the_address_and_nothing_else_of_the_url() {
    let url = Url::parse("https://0x7f.1/hook?token=hidden").expect("a URL");
    let refused = EgressRules::default().check_url(&url).expect_err("loopback");
    assert_eq!(refused, "a public address, but `127.0.0.1` is not public");
}
