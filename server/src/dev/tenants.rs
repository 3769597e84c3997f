//! The tenants that `portcullis dev` serves, as their files are now.

use std::path::PathBuf;
use std::sync::Arc;

use portcullis_bundle::{Bundle, SampleUser};
use tokio::sync::watch;

/// A served tenant.
#[derive(Debug)]
pub(super) struct ServedTenant {
    pub(super) bundle: Bundle,
    pub(super) source: Source,
}

/// The place of a tenant's files.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    /// The binary itself.
    Embedded,
    Folder(PathBuf),
}

/// The served tenants. The development issuer and the examples read them while a reload replaces them.
#[derive(Clone, Debug)]
pub(super) struct ServedTenants(watch::Sender<Vec<Arc<ServedTenant>>>);

/// The reason why a name finds no user.
#[derive(Debug, PartialEq)]
pub(super) enum NoUser {
    /// The names of all users.
    Unknown(Vec<String>),
    /// The names that are unique.
    Ambiguous(Vec<String>),
}

impl ServedTenants {
    pub(super) fn new(tenants: Vec<Arc<ServedTenant>>) -> Self {
        Self(watch::Sender::new(tenants))
    }

    /// Returns the tenants, in the order of their folders.
    pub(super) fn all(&self) -> Vec<Arc<ServedTenant>> {
        self.0.borrow().clone()
    }

    /// Replaces the tenants.
    pub(super) fn replace(&self, tenants: Vec<Arc<ServedTenant>>) {
        self.0.send_replace(tenants);
    }

    /// Calls `read` with the user of this name: a `sub`, or `sub@tenant` if several tenants have the `sub`.
    pub(super) fn with_user<T>(
        &self,
        name: &str,
        read: impl FnOnce(&SampleUser) -> T,
    ) -> Result<T, NoUser> {
        let tenants = self.all();
        let users = tenants.iter().flat_map(|tenant| {
            tenant.bundle.users.iter().map(|user| (&*tenant.bundle.tenant, user))
        });
        let users: Vec<(&str, &SampleUser)> = users.collect();
        // A full name is unique, and goes before a `sub` that looks like one.
        if let Some((_, user)) = users.iter().find(|one| full_name(one) == name) {
            return Ok(read(user));
        }
        let named: Vec<_> = users.iter().filter(|(_, user)| user.sub == name).collect();
        match &*named {
            [(_, user)] => Ok(read(user)),
            [] => Err(NoUser::Unknown(users.iter().map(|(_, user)| user.sub.clone()).collect())),
            _ => Err(NoUser::Ambiguous(named.into_iter().map(full_name).collect())),
        }
    }

    /// Returns the name of a user of `tenant` that [`Self::with_user`] understands.
    pub(super) fn name_of(&self, tenant: &str, sub: &str) -> String {
        match self.with_user(sub, |_| ()) {
            Err(NoUser::Ambiguous(_)) => format!("{sub}@{tenant}"),
            _ => sub.to_owned(),
        }
    }
}

fn full_name((tenant, user): &(&str, &SampleUser)) -> String {
    format!("{}@{tenant}", user.sub)
}

impl std::fmt::Display for NoUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(known) => write!(f, "the users are {}", known.join(", ")),
            Self::Ambiguous(names) => {
                write!(f, "several tenants have this user; name one of {}", names.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_finds_one_user_or_says_which_there_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let served = ["acme", "zeta"].map(|tenant| {
            let path = folder.path().join(tenant);
            portcullis_test_tenants::write_tenant(&path);
            for file in ["tenant.yaml", "cases.yaml"] {
                let text = std::fs::read_to_string(path.join(file)).expect("readable");
                std::fs::write(path.join(file), text.replace("acme", tenant)).expect("writable");
            }
            let bundle = Bundle::read_folder(&path).expect("sound");
            Arc::new(ServedTenant { bundle, source: Source::Folder(path) })
        });
        let [acme, zeta] = served;
        let tenants = ServedTenants::new(vec![Arc::clone(&acme)]);
        assert_eq!(tenants.with_user("ann", |user| user.sub.clone()), Ok("ann".to_owned()));
        assert_eq!(tenants.name_of("acme", "ann"), "ann");
        assert_eq!(tenants.with_user("eve", |_| ()), Err(NoUser::Unknown(vec!["ann".to_owned()])));
        tenants.replace(vec![acme, zeta]);
        let names = ["ann@acme", "ann@zeta"].map(str::to_owned).to_vec();
        assert_eq!(tenants.with_user("ann", |_| ()), Err(NoUser::Ambiguous(names)));
        assert_eq!(tenants.name_of("zeta", "ann"), "ann@zeta");
        let claims = tenants.with_user("ann@zeta", |user| user.claims.to_string());
        assert!(claims.expect("a user").contains(r#""dom":"zeta""#));
    }
}
