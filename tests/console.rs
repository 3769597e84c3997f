//! The console: sign-in, sessions, headers and pages, as a browser meets them.

mod access;
mod addresses;
mod ask;
mod attacks;
pub(crate) mod browser;
mod carried;
mod changes;
mod decisions;
mod defences;
mod desk;
mod links;
mod pages;
mod policies;
mod providers;
mod scripts;
mod sign_in;
mod strangers;
mod streams;
mod tabs;
mod tokens;
mod walk;

use std::sync::Arc;

use serde_json::Value;

use crate::setup;
use crate::support::{Provider, Server, Settings, Tenant, eventually};
use browser::Browser;

/// A server that records decisions, with a tenant.
struct Console {
    server: Arc<Server>,
    settings: Settings,
    tenant: Tenant<'static>,
}

impl Console {
    #[track_caller]
    fn start() -> Self {
        Self::with(Self::settings())
    }

    fn settings() -> Settings {
        Settings::new(Provider::shared()).recording()
    }

    #[track_caller]
    fn with(settings: Settings) -> Self {
        let server = Arc::new(settings.start());
        Self::on(server, settings, "ward")
    }

    /// Another tenant of the server of `console`.
    #[track_caller]
    fn of(console: &Self, name: &str) -> Self {
        Self::on(Arc::clone(&console.server), console.settings.clone(), name)
    }

    #[track_caller]
    fn on(server: Arc<Server>, settings: Settings, name: &str) -> Self {
        let tenant = Tenant::with_provider(&server, Provider::shared(), name);
        // In `selfhost` mode the first write makes the tenant.
        tenant.resource("chart:read");
        Self { server, settings, tenant }
    }

    /// The name of the tenant in URLs.
    fn name(&self) -> String {
        if setup::is_saas() { format!("the-{}", self.tenant.name) } else { self.tenant.id.clone() }
    }

    /// The path of a page of the tenant.
    fn page(&self, page: &str) -> String {
        format!("/console/{}/{page}", self.name())
    }

    /// The path of a new link.
    #[track_caller]
    fn link(&self, subject: &str, roles: &[&str]) -> String {
        let name = self.name();
        let roles = roles.join(",");
        let mut arguments = vec!["console", "link", "--tenant", &name, "--as", subject];
        if !roles.is_empty() {
            arguments.extend(["--roles", &roles]);
        }
        let printed = self.settings.run(&arguments);
        assert_eq!(printed.code, Some(0), "{}", printed.err);
        let url = printed.out.trim();
        url.find("/console/").and_then(|at| url.get(at..)).expect("a path").to_owned()
    }

    /// Sends a check, and gives the id of its decision when it is on disk.
    #[track_caller]
    fn recorded(&self, check: &Value) -> String {
        let reply = self.tenant.check(check).is(200);
        let id = reply.header("x-decision-id").expect("it is recorded").to_owned();
        let route = format!("/api/v1/decisions/{id}");
        eventually("the record is on disk", || self.tenant.get(&route).status == 200);
        id
    }

    /// A browser in which somebody is signed in.
    #[track_caller]
    fn signed_in(&self, subject: &str, roles: &[&str]) -> Browser {
        let mut browser = Browser::new(self.server.address);
        let link = self.link(subject, roles);
        let page = browser.get(&link).is(200);
        browser.post(&link, &page, &[]).is(303);
        browser
    }
}
