//! A resolver that behaves as the request's subject says. Most behaviours are attacks that a host must survive.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use portcullis_guest_sdk::{
    Attribute, AttributeSpec, ConfigKey, Descriptor, Error, Failure, FailureKind, Host,
    HttpRequest, Kind, Level, Request, Resolution, Resolver, Value, export_resolver,
};

struct Behaviours;

impl Resolver for Behaviours {
    fn describe() -> Descriptor {
        Descriptor {
            attributes: vec![
                AttributeSpec::new("text", Kind::Text, 1_000),
                AttributeSpec::new("number", Kind::Number, 1_000),
                AttributeSpec::new("numbers", Kind::Numbers, 1_000),
            ],
            inputs: vec!["subject".to_owned()],
            config_keys: vec![ConfigKey::optional("greeting")],
            endpoints: vec!["source".to_owned()],
            ..Descriptor::new("behaviours", "1.0.0")
        }
    }

    fn resolve(request: &Request, host: &impl Host) -> Result<Resolution, Error> {
        behave(&request.subject, host)
    }
}

export_resolver!(Behaviours);

fn behave(subject: &str, host: &impl Host) -> Result<Resolution, Error> {
    match subject {
        // Allowed behaviour.
        "greet" => text(host.config("greeting").unwrap_or_default()),
        "other key" => text(format!("{:?}", host.config("other"))),
        "fetch" => {
            let response = host.send("source", &HttpRequest::get("/a"))?.success()?;
            text(String::from_utf8_lossy(&response.body))
        }
        "absent" => Ok(Resolution::new(vec![], vec!["text".to_owned()])),
        "leave marks" => {
            leave_marks();
            text("left")
        }
        "find marks" => text(find_marks().to_string()),
        "leave and find marks" => {
            leave_marks();
            text((find_marks() > 0).to_string())
        }
        "silent" => Ok(Resolution::new(vec![], vec![])),
        "standard library" => standard_library(),

        // Failures that are values.
        "invalid" => Err(Error::Invalid("no such person".to_owned())),
        "unavailable" => Err(Error::Unavailable(Failure {
            kind: FailureKind::Unreachable,
            message: "the directory is down".to_owned(),
        })),
        "internal" => Err(Error::Internal("no idea".to_owned())),

        // Answers that break the contract.
        "undeclared" => Ok(Attribute::new("shoe_size", Value::Number(43.0)).into()),
        "undeclared absent" => Ok(Resolution::new(vec![], vec!["shoe_size".to_owned()])),
        "mistyped" => Ok(Attribute::new("text", Value::Number(1.0)).into()),
        "unwanted" => Ok(Attribute::new("number", Value::Number(1.0)).into()),
        "unwanted absent" => Ok(Resolution::new(vec![], vec!["number".to_owned()])),
        "nan" => Ok(Attribute::new("number", Value::Number(f64::NAN)).into()),
        "infinity" => {
            Ok(Attribute::new("numbers", Value::Numbers(vec![1.0, f64::INFINITY])).into())
        }
        "twice" => {
            let attribute = Attribute::new("text", Value::Text("a".to_owned()));
            Ok(Resolution::new(vec![attribute.clone(), attribute], vec![]))
        }
        "both" => {
            let attribute = Attribute::new("text", Value::Text("a".to_owned()));
            Ok(Resolution::new(vec![attribute], vec!["text".to_owned()]))
        }
        "100 MB" => text("x".repeat(100_000_000)),
        "50 MB" => text("x".repeat(50_000_000)),
        "list of 50 MB" => {
            Ok(Attribute::new("numbers", Value::Numbers(vec![1.0; 6_000_000])).into())
        }

        // Attacks on time, memory and the stack.
        "loop" => loop {
            black_box(());
        },
        "sleep" => {
            std::thread::sleep(std::time::Duration::from_secs(3_600));
            text("awake")
        }
        "recurse" => text(recurse(1).to_string()),
        "recurse with large frames" => text(recurse_with_large_frames(1).to_string()),
        "memory" => {
            let mut kept = Vec::new();
            loop {
                kept.push(black_box(vec![1_u8; 1 << 20]));
            }
        }
        "panic" => panic!("the sky is falling"),
        "long panic" => panic!("{}", "x".repeat(100_000)),
        "exit" => std::process::exit(7),

        // Floods.
        "log" => {
            for line in 0..1_000 {
                host.log(Level::Info, &format!("line {line} {}", "é".repeat(10_000)));
            }
            text("logged")
        }
        "log for ever" => loop {
            host.log(Level::Info, "again");
        },
        "log 50 MB" => {
            host.log(Level::Info, &"x".repeat(50_000_000));
            text("logged")
        }
        "config for ever" => loop {
            black_box(host.config("greeting"));
        },
        "print for ever" => loop {
            println!("again");
        },
        "request too many" => loop {
            host.send("source", &HttpRequest::get("/a"))?;
        },
        "request of 50 MB" => {
            let body = Some(vec![0; 50_000_000]);
            host.send("source", &HttpRequest { body, ..HttpRequest::get("/a") })?;
            text("sent")
        }
        "elsewhere" => match host.send("elsewhere", &HttpRequest::get("/a")) {
            Ok(_) => text("sent"),
            Err(_) => Ok(Resolution::new(vec![], vec!["text".to_owned()])),
        },
        "path" => {
            // Tries to mistake a refusal for an answer, which must not be possible.
            let _ = host.send("source", &HttpRequest::get("/refused"));
            Ok(Resolution::new(vec![], vec!["text".to_owned()]))
        }
        other => text(other),
    }
}

fn text(text: impl Into<String>) -> Result<Resolution, Error> {
    Ok(Attribute::new("text", Value::Text(text.into())).into())
}

/// Uses the parts of WASI behind std: random seeds, clocks, the environment, arguments, standard streams.
fn standard_library() -> Result<Resolution, Error> {
    let map: HashMap<_, _> = std::env::vars().chain([("a".to_owned(), "b".to_owned())]).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
    let elapsed = Instant::now().elapsed().as_secs();
    eprintln!("nobody reads this");
    text(format!("{} {} {now} {elapsed}", map.len(), std::env::args().count()))
}

/// The bits of a mark are not in memory until a guest writes marks.
const INVERTED_MARK: u32 = !0x5ec2_e75e;

/// Data that the module begins with, which a guest overwrites.
static DATA: AtomicU32 = AtomicU32::new(1);

/// Writes marks into the data of the module, its stack, and 4 MiB of its heap.
fn leave_marks() {
    let mark = !black_box(INVERTED_MARK);
    DATA.store(mark, Ordering::Relaxed);
    black_box([mark; 4_096]);
    black_box(vec![mark; 1 << 20].leak());
}

/// Returns the number of marks in the whole memory, which grows by 4 MiB first.
fn find_marks() -> usize {
    core::arch::wasm32::memory_grow::<0>(64);
    let end = core::arch::wasm32::memory_size::<0>() << 16;
    // SAFETY: each address is aligned, and below the size of the memory.
    let word = |address: usize| unsafe { (address as *const u32).read_volatile() };
    (16..end).step_by(4).filter(|address| !word(*address) == black_box(INVERTED_MARK)).count()
}

/// Exhausts the WebAssembly stack, which has parameters and locals.
#[expect(unconditional_recursion, reason = "the host ends it")]
#[inline(never)]
fn recurse(depth: u64) -> u64 {
    recurse(depth.wrapping_mul(3)) ^ recurse(depth + 1) ^ depth
}

/// Exhausts the stack in linear memory, which has every variable whose address is taken.
#[expect(unconditional_recursion, reason = "the host ends it")]
fn recurse_with_large_frames(depth: u64) -> u64 {
    let frame = black_box([depth; 512]);
    recurse_with_large_frames(frame[3] + 1) + frame[5]
}
