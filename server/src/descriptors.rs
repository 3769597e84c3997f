//! File descriptors: as many as the system allows, and a part of them for everything but connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Most connections if the process may open enough files; more would take much memory.
const MAX_CONNECTIONS: usize = 10_000;
/// Descriptors for the database, deliveries (256), resolvers, key sets, log and files.
const RESERVED: usize = 512;

/// Raises the number of files that this process may open to the limit that the system allows. Returns the number.
pub(crate) fn raise_limit() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised.current,
        // Some systems allow less than the limit that they name.
        Err(_) => limit.current,
    };
    // No limit is `None`.
    current.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX)
}

/// Returns the most connections of a process that may open `files` files. A part of the files is for everything else:
/// without it, connections would keep the service from its database.
pub(crate) fn connections(files: usize) -> usize {
    let reserved = RESERVED.min(files / 2);
    (files - reserved).clamp(1, MAX_CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_everything_else() {
        for (files, expected) in [
            (usize::MAX, 10_000),
            (1 << 20, 10_000),
            (4_096, 3_584),
            (1_024, 512),
            (256, 128),
            (1, 1),
        ] {
            assert_eq!(connections(files), expected, "{files}");
        }
    }

    #[test]
    fn the_limit_is_raised_to_what_the_system_allows() {
        let files = raise_limit();
        assert_eq!(getrlimit(Resource::Nofile).current.map(|files| files as usize), Some(files));
        assert_eq!(getrlimit(Resource::Nofile).current, getrlimit(Resource::Nofile).maximum);
    }
}
