//! Warnings about rules and policies, most of them that these match no resource of `resources.yaml`
//! (`docs/semantics.md`, section 3.9).

use std::collections::HashSet;

use portcullis_engine::ResourcePattern;
use portcullis_engine::resource::{encoded_verb, split_resource};
use portcullis_model::policy::NewPolicy;
use portcullis_model::resource::Registration;
use portcullis_model::rule::NewRule;
use portcullis_model::warning::Warning;

/// A warning about an item of a list.
#[derive(Clone, Debug)]
pub struct ItemWarning {
    /// The place of the item in the list.
    pub index: usize,
    pub warning: Warning,
}

/// The registered resources of a folder.
#[derive(Debug)]
pub struct RegisteredNames<'b> {
    resources: HashSet<&'b str>,
    names: HashSet<&'b str>,
    verbs: HashSet<&'b str>,
}

impl<'b> RegisteredNames<'b> {
    /// Returns the names of `registrations`.
    pub fn new(registrations: impl Iterator<Item = &'b Registration> + Clone) -> Self {
        let resources = registrations.clone().map(|one| &*one.name).collect();
        let (names, verbs) = registrations.filter_map(|one| split_resource(&one.name)).unzip();
        Self { resources, names, verbs }
    }

    /// Returns the warnings about rules. Without registered resources there are none.
    pub fn warnings_of_rules(&self, rules: &[NewRule]) -> Vec<ItemWarning> {
        let mut warnings = Vec::new();
        for (index, NewRule { tuple, .. }) in rules.iter().enumerate() {
            if !self.has_resource(&tuple.obj) {
                let warning = Warning::unregistered_resource("/obj", &tuple.obj.to_string());
                warnings.push(ItemWarning { index, warning });
            }
            if tuple.act != "*" && !self.has_verb(&tuple.act) {
                let warning = Warning::unregistered_verb(&tuple.act);
                warnings.push(ItemWarning { index, warning });
            }
        }
        warnings
    }

    /// Returns the warnings about policies, those about their conditions too. Without registered resources there are none
    /// about resources.
    pub fn warnings_of_policies<'p>(
        &self,
        policies: impl IntoIterator<Item = &'p NewPolicy>,
    ) -> Vec<ItemWarning> {
        let mut warnings = Vec::new();
        for (index, policy) in policies.into_iter().enumerate() {
            if !self.has_resource(&policy.resource) {
                let pattern = policy.resource.to_string();
                let warning = Warning::unregistered_resource("/resource", &pattern);
                warnings.push(ItemWarning { index, warning });
            }
            let own = policy.rule_data.warnings.iter().cloned();
            warnings.extend(own.map(|warning| ItemWarning { index, warning }));
        }
        warnings
    }

    fn has_resource(&self, pattern: &ResourcePattern) -> bool {
        // A tenant that registers nothing gets no warnings.
        if self.resources.is_empty() {
            return true;
        }
        match pattern {
            ResourcePattern::Any => true,
            ResourcePattern::Name(name) => self.names.contains(&**name),
            ResourcePattern::Exact(resource) => self.resources.contains(&**resource),
        }
    }

    fn has_verb(&self, action: &str) -> bool {
        self.resources.is_empty()
            || self.verbs.contains(action)
            // A rule may have an action as it is sent, where the resource has its encoded form.
            || self.verbs.contains(&*encoded_verb(action))
    }
}
