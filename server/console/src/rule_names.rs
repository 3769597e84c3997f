//! The names of the rules and policies that decide, for people.

use std::collections::BTreeMap;

use portcullis_auth::Manager;
use portcullis_operations::{policies, rules};
use portcullis_runtime::error::OperationError;
use uuid::Uuid;

use crate::visit::Visit;

/// The name of a rule or policy.
#[derive(Clone, Debug)]
pub(crate) struct NamedRule {
    pub(crate) name: String,
    /// The address of its page; `None` if it has none.
    pub(crate) page: Option<String>,
}

/// Finds names of rules and policies, each once.
pub(crate) struct RuleNames<'v> {
    visit: &'v Visit,
    manager: &'v Manager,
    found: BTreeMap<String, NamedRule>,
}

impl<'v> RuleNames<'v> {
    pub(crate) fn new(visit: &'v Visit, manager: &'v Manager) -> Self {
        Self { visit, manager, found: BTreeMap::new() }
    }

    /// Returns the name of the rule or policy with this id. One that is gone has its id.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) async fn find(&mut self, id: &str) -> Result<NamedRule, OperationError> {
        if let Some(found) = self.found.get(id) {
            return Ok(found.clone());
        }
        let found = match Uuid::parse_str(id) {
            Ok(uuid) => self.read(uuid).await?,
            Err(_) => NamedRule { name: "default deny".to_owned(), page: None },
        };
        self.found.insert(id.to_owned(), found.clone());
        Ok(found)
    }

    async fn read(&self, id: Uuid) -> Result<NamedRule, OperationError> {
        let app = &self.visit.app;
        match policies::get(app, self.manager, id).await {
            Ok(policy) => {
                let page = Some(self.visit.page(&format!("policies/{id}")));
                return Ok(NamedRule { name: policy.name, page });
            }
            // It may be a rule.
            Err(OperationError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
        let name = match rules::get(app, self.manager, id).await {
            Ok(rule) => format!("rule {}", rule.tuple),
            Err(OperationError::NotFound(_)) => id.to_string(),
            Err(error) => return Err(error),
        };
        Ok(NamedRule { name, page: None })
    }
}
