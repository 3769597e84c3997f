//! A network namespace for a replica: its way to the database can be cut, and its clients still reach it.

use std::process::Command;

/// The addresses of the machine's side: clients are at `10.213.<n>.1`, the database at `10.214.<n>.1`. The replica is at
/// `.2` of both.
pub(super) struct Network {
    name: String,
    number: u32,
}

impl Network {
    /// Makes the namespace. Says so where that is not possible, and returns `None`.
    pub(super) fn make() -> Option<Self> {
        let number = std::process::id() % 250;
        let network = Self { name: format!("portcullis-{number}"), number };
        match network.set_up() {
            Ok(()) => Some(network),
            Err(fault) => {
                eprintln!(
                    "no network namespace, the test of a replica that is cut off is SKIPPED: {fault}"
                );
                None
            }
        }
    }

    fn set_up(&self) -> Result<(), String> {
        let (name, number) = (&self.name, self.number);
        run(&format!("netns add {name}"))?;
        run(&format!("-n {name} link set lo up"))?;
        for (link, net) in [(format!("pcc{number}"), 213), (self.database_link(), 214)] {
            run(&format!("link add {link} type veth peer name {link} netns {name}"))?;
            run(&format!("address add 10.{net}.{number}.1/30 dev {link}"))?;
            run(&format!("link set {link} up"))?;
            run(&format!("-n {name} address add 10.{net}.{number}.2/30 dev {link}"))?;
            run(&format!("-n {name} link set {link} up"))?;
        }
        Ok(())
    }

    fn database_link(&self) -> String {
        format!("pcd{}", self.number)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The address at which the database must listen.
    pub(super) fn database_address(&self) -> String {
        format!("10.214.{}.1", self.number)
    }

    /// The address at which the replica must listen.
    pub(super) fn replica_address(&self) -> String {
        format!("10.213.{}.2", self.number)
    }

    /// Cuts the way to the database: packets vanish, and nobody learns of it.
    #[track_caller]
    pub(super) fn cut(&self) {
        run(&format!("link set {} down", self.database_link())).expect("the link is there");
    }

    #[track_caller]
    pub(super) fn heal(&self) {
        run(&format!("link set {} up", self.database_link())).expect("the link is there");
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // The links go with the namespace.
        let _ = run(&format!("netns delete {}", self.name));
    }
}

/// Runs `ip` with these arguments.
fn run(arguments: &str) -> Result<(), String> {
    let done = Command::new("ip").args(arguments.split(' ')).output();
    let done = done.map_err(|fault| format!("`ip`: {fault}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("`ip {arguments}`: {}", String::from_utf8_lossy(&done.stderr).trim())),
    }
}
