//! The memory and the CPU time of a process, as Linux reports them (proc(5)).

use std::time::Duration;

/// Returns a field of `/proc/<process>/status` such as `VmRSS:`, in KiB; `None` if the process has ended.
pub(crate) fn memory(process: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the CPU time that a running process has used, in user and kernel mode.
#[track_caller]
pub(crate) fn cpu_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("the process runs");
    // The name of the program, in parentheses, may contain spaces. User and system time are fields 14 and 15.
    let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
    let fields: Vec<_> = fields.split(' ').collect();
    let ticks = |index: usize| fields[index].parse::<u64>().expect("clock ticks");
    // Linux reports 100 ticks per second to user space.
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// Returns the CPU time of the threads that a running process has, in nanoseconds and not in clock ticks. A thread that ends
/// takes its time with it.
#[track_caller]
pub(crate) fn cpu_time_of_threads(process: u32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("the process runs");
    let times = threads.flatten().filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(times.sum())
}

/// Returns the CPU time of all processes of PostgreSQL on this machine. Nothing else that uses PostgreSQL may run.
pub(crate) fn cpu_time_of_postgres() -> Duration {
    let processes = std::fs::read_dir("/proc").expect("a folder").flatten();
    let ids = processes.filter_map(|one| one.file_name().to_str()?.parse::<u32>().ok());
    let is_postgres = |id: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{id}/comm"));
        name.is_ok_and(|name| name.trim() == "postgres")
    };
    ids.filter(is_postgres).map(cpu_time).sum()
}
