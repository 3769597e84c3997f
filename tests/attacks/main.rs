//! `cargo bench -p portcullis-server --bench attacks [-- NUMBER …]`
//!
//! Runs the attacks of `docs/security.md` ("What one caller can cost others") against the release build, and prints
//! attack, bound and measured cost as a table. Ends with exit code 1 if a cost exceeds its bound. Each defence also has
//! a test without a clock, with a control; this command shows the real costs.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "an attack that cannot be made has failed"
)]

/// The set-up of this binary.
mod setup {
    pub(crate) fn is_saas() -> bool {
        false
    }

    pub(crate) fn is_postgres() -> bool {
        false
    }
}

#[expect(unused_imports, reason = "the black-box tests use all of it")]
#[path = "../support/mod.rs"]
mod support;

mod answers;
mod bodies;
mod compile;
mod cost;
mod denials;
mod edge;
mod exports;
mod items;
mod names;
mod operator;
mod overload;
mod patterns;
mod plans;
mod quotas;
mod record_reads;
mod records;
mod relations;
mod reports;
mod strangers;
mod trust;
mod unread;
mod writes;

use cost::Figure;

/// An attack: its number in `docs/security.md`, what the caller does, and the function that does it.
struct Attack {
    number: &'static str,
    name: &'static str,
    run: fn() -> Vec<Figure>,
}

/// Every attack, in the order of `docs/security.md`.
const ATTACKS: &[Attack] = &[
    Attack { number: "1", name: "very many faults below long names", run: answers::errors },
    Attack {
        number: "2",
        name: "modules that cost their compiler far more than their size",
        run: compile::costly_modules,
    },
    Attack {
        number: "3",
        name: "500 unfinished bodies without a credential",
        run: edge::unfinished_bodies,
    },
    Attack { number: "4", name: "patterns that are expensive to compile", run: patterns::compile },
    Attack { number: "5", name: "a pattern that is expensive to match", run: patterns::matching },
    Attack { number: "6", name: "1,100 idle connections", run: edge::idle_connections },
    Attack { number: "7", name: "27,000 denied checks for one webhook", run: denials::flood },
    Attack { number: "8", name: "3,000 webhooks of one tenant", run: quotas::webhooks },
    Attack { number: "9", name: "a list of 24 MB for 20 clients", run: answers::pages },
    Attack {
        number: "10",
        name: "a member invents resources, in a tenant with 1,000 policies for all of them",
        run: plans::invented_resources,
    },
    Attack { number: "11", name: "a stop during #5", run: patterns::stop },
    Attack { number: "12", name: "guessed credentials", run: overload::guesses },
    Attack {
        number: "13",
        name: "a tenant without a provider goes on by its bootstrap key",
        run: operator::stopped_tenant,
    },
    Attack {
        number: "14",
        name: "an old encryption key stays for ever",
        run: operator::old_encryption_key,
    },
    Attack {
        number: "15",
        name: "a check demands a revision that never comes",
        run: plans::future_revision,
    },
    Attack {
        number: "16",
        name: "a key without the right to write rules removes some",
        run: trust::default_roles,
    },
    Attack { number: "17", name: "reading the database file", run: edge::database_files },
    Attack { number: "18", name: "`dev` under a foreign name", run: trust::foreign_hosts },
    Attack { number: "19", name: "answers without their headers", run: trust::missing_headers },
    Attack { number: "vouch", name: "a member that vouches for itself", run: trust::own_tuples },
    Attack {
        number: "items",
        name: "lists of 50,000 items, with a thousand tests and patterns",
        run: items::many_items,
    },
    Attack {
        number: "named",
        name: "names that double forty times, and 2,000 policies on one name",
        run: items::many_names,
    },
    Attack { number: "20", name: "a key set that is wrong in many ways", run: answers::key_sets },
    Attack { number: "21", name: "200 bulk registrations of 1 MiB at once", run: writes::bulk },
    Attack {
        number: "49",
        name: "three policies of 42 KB whose tests walk many relations",
        run: relations::walks,
    },
    Attack {
        number: "50",
        name: "a deny by group, and tokens whose claim does not say the groups",
        run: relations::unsaid_groups,
    },
    Attack { number: "plan", name: "46 MiB of policies on `*`", run: plans::large_plan },
    Attack { number: "trees", name: "large bodies that become trees", run: bodies::trees },
    Attack {
        number: "22",
        name: "1,000 answers that nobody reads, on every route without a credential",
        run: unread::without_credential,
    },
    Attack { number: "23", name: "50 batches whose answers nobody reads", run: unread::batches },
    Attack {
        number: "51",
        name: "keys in the header of a token, and a `kid` of several keys",
        run: strangers::foreign_keys,
    },
    Attack {
        number: "52",
        name: "idle connections of HTTP/1 and HTTP/2, and requests at a stop",
        run: edge::idle_times,
    },
    Attack { number: "53", name: "standard error that nobody reads", run: edge::unread_log },
    Attack {
        number: "54",
        name: "1,000 requests without a credential that demand spans",
        run: strangers::traces,
    },
    Attack {
        number: "matrix",
        name: "a matrix whose body of 267 KB names 200,000,000 cells",
        run: reports::multiplied_counts,
    },
    Attack {
        number: "permissions",
        name: "permissions and a matrix by 200 large plans",
        run: reports::large_plans,
    },
    Attack { number: "exports", name: "24 exports of 24 MB at once", run: exports::many },
    Attack {
        number: "judged",
        name: "applies with 1,000 cases and `impact`, and syncs of 10,000 entities",
        run: writes::judged,
    },
    Attack {
        number: "names",
        name: "50 webhooks of a tenant with names that nobody resolves",
        run: names::silent_name_server,
    },
    Attack {
        number: "39",
        name: "checks with 400,000 items that are to be hashed",
        run: records::hashed_items,
    },
    Attack { number: "40", name: "a claim nested 126 deep", run: records::nested_claim },
    Attack {
        number: "41",
        name: "batches of 0.9 MB beside another tenant's durable checks",
        run: records::batches,
    },
    Attack {
        number: "42",
        name: "checks of 0.4 MB with hashed attributes",
        run: records::hashed_attributes,
    },
    Attack {
        number: "43",
        name: "20 connections and 8 streams of a member beside its manager",
        run: record_reads::scans_of_a_member,
    },
    Attack {
        number: "44",
        name: "48 reads of large records by id at once",
        run: record_reads::large_records_by_id,
    },
    Attack {
        number: "45",
        name: "pages of large records",
        run: record_reads::pages_of_large_records,
    },
    Attack {
        number: "46",
        name: "four replays with 48 MB of policies, and their deletion",
        run: record_reads::replays_of_large_policies,
    },
    Attack {
        number: "47",
        name: "a member invents resources that parity and statistics count",
        run: record_reads::invented_names,
    },
    Attack { number: "48", name: "200 erasures, 32 at once", run: record_reads::erasures },
    Attack {
        number: "statistics",
        name: "statistics about large records",
        run: record_reads::statistics_of_large_records,
    },
    Attack {
        number: "replays",
        name: "four replays of large records",
        run: record_reads::replays_of_large_records,
    },
    Attack { number: "cost", name: "the limits on a check", run: overload::cost_of_limits },
    Attack {
        number: "load",
        name: "three times the capacity",
        run: overload::three_times_the_capacity,
    },
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!("| # | Attack | Cost | Bound | Measured | |");
    println!("|---|---|---|---|---|---|");
    let mut exceeded = 0;
    for attack in ATTACKS {
        if !wanted.is_empty() && !wanted.iter().any(|number| number == attack.number) {
            continue;
        }
        for figure in (attack.run)() {
            let verdict = if figure.holds() { "holds" } else { "**exceeded**" };
            exceeded += usize::from(!figure.holds());
            println!("| {} | {} | {figure} | {verdict} |", attack.number, attack.name);
        }
    }
    if exceeded > 0 {
        eprintln!("{exceeded} costs exceed their bounds");
        std::process::exit(1);
    }
}
