//! The costs of loading: compilation, code from disk, and the memory of a thousand loaded resolvers.

use std::fs;

use anyhow::{Context as _, Result};
use portcullis_workloads::measure::{median, thread_time};
use portcullis_workloads::report::{Bar, Group};
use sha2::{Digest as _, Sha256};

use crate::environment::Bench;

/// The number of timed loads.
const LOADS: u32 = 20;

/// The number of resolvers that are loaded at once.
const MANY: u32 = 1_000;

pub(crate) fn load(group: &mut Group<'_>) -> Result<()> {
    let bytes = portcullis_test_guests::component("directory")?;
    group.measurement("size of the component", kib(bytes.len()), " KiB", Bar::Shown);
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("compiled");
    let bench = Bench::new(Some(path.clone()))?;
    let compiled = timed(|index| bench.load(numbered(&bytes, index)).map(drop))?;
    group.measurement("compile and describe, all threads", compiled.0, " ms", Bar::Shown);
    // The same bytes again, whose code is on the disk now.
    let known = timed(|index| bench.load(numbered(&bytes, index)).map(drop))?;
    group.measurement("load compiled code and describe", known.0, " ms", Bar::Shown);
    group.measurement("load compiled code and describe, CPU", known.1, " ms", Bar::Shown);
    let file = fs::read_dir(&path)?.next().context("no compiled code")??;
    group.measurement("size of the code", kib(file.metadata()?.len() as usize), " KiB", Bar::Shown);
    Ok(())
}

pub(crate) fn memory(group: &mut Group<'_>) -> Result<()> {
    let bytes = portcullis_test_guests::component("directory")?;
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("compiled");
    let bench = Bench::new(Some(path.clone()))?;
    drop(bench.load(bytes.clone())?);
    // One file of code for each, without compiling a thousand times.
    let file = fs::read_dir(&path)?.next().context("no compiled code")??.path();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let suffix = name.split_once('-').context("a name without a suffix")?.1.to_owned();
    for index in 0..MANY {
        let digest = hex::encode(Sha256::digest(numbered(&bytes, index)));
        fs::copy(&file, path.join(format!("{digest}-{suffix}")))?;
    }
    let before = resident()?;
    let loaded: Vec<_> =
        (0..MANY).map(|index| bench.load(numbered(&bytes, index))).collect::<Result<_>>()?;
    let after = resident()?;
    let mib = |index: usize| (after[index] - before[index]) / 1024.0;
    group.measurement(
        format!("{MANY} resolvers: heap and dirty pages"),
        mib(0),
        " MiB",
        Bar::Shown,
    );
    group.measurement(format!("{MANY} resolvers: pages of files"), mib(1), " MiB", Bar::Shown);
    drop(loaded);
    Ok(())
}

/// Adds a custom section with a number to the component: another digest, the same behaviour.
fn numbered(bytes: &[u8], number: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    // Section 0 of 6 bytes: a name of one byte, and the number.
    bytes.extend([0, 6, 1, b'n']);
    bytes.extend(number.to_le_bytes());
    bytes
}

/// Returns the medians of wall time and of this thread's CPU time, in milliseconds.
fn timed(mut run: impl FnMut(u32) -> Result<()>) -> Result<(f64, f64)> {
    let (mut wall, mut cpu) = (vec![], vec![]);
    for index in 0..LOADS {
        let (begun, used) = (std::time::Instant::now(), thread_time());
        run(index)?;
        wall.push(begun.elapsed().as_secs_f64() * 1e3);
        cpu.push((thread_time() - used).as_secs_f64() * 1e3);
    }
    Ok((median(wall), median(cpu)))
}

/// Returns the resident anonymous memory and the resident file-backed memory, in kilobytes.
fn resident() -> Result<[f64; 2]> {
    let status = fs::read_to_string("/proc/self/status")?;
    let field = |name: &str| -> Result<f64> {
        let line =
            status.lines().find_map(|line| line.strip_prefix(name)).context("no such field")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    };
    Ok([field("RssAnon:")?, field("RssFile:")?])
}

fn kib(bytes: usize) -> f64 {
    bytes as f64 / 1024.0
}
