//! The inputs that a plan reads, for the records of its decisions (`docs/semantics.md`, section 17).

use super::Plan;
use super::program::Operation;
use crate::condition::AttributePath;
use crate::relation::RELATION;
use crate::resolution::ResolverRef;

impl Plan {
    /// Returns whether a policy reads the attribute `<namespace>.<name>`.
    pub fn reads(&self, namespace: &str, name: &str) -> bool {
        self.layers.iter().any(|layer| layer.abac.slots.reads(namespace, name))
    }

    /// Returns the namespace and the name of each attribute that a policy reads, but for attributes of `request`. A
    /// changed plan may give an attribute several times.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        let paths = self.layers.iter().flat_map(|layer| layer.abac.slots.paths());
        paths.filter_map(|path| match path {
            AttributePath::User(name) => Some(("user", &**name)),
            AttributePath::Resource(name) => Some(("resource", &**name)),
            AttributePath::Action(name) => Some(("action", &**name)),
            AttributePath::Context(name) => Some(("context", &**name)),
            AttributePath::Token(path) => Some(("token", &**path)),
            AttributePath::Resolver(own) => Some((&*own.namespace, &*own.name)),
            AttributePath::Request(_) | AttributePath::Item => None,
        })
    }

    /// Returns the attributes of orders that are undetermined because one side is a declared date-time, such as `user.until`.
    pub fn unordered(&self) -> impl Iterator<Item = &AttributePath> {
        self.layers.iter().flat_map(|layer| {
            let nodes = layer.abac.program.nodes().iter();
            let slots = nodes.flat_map(Operation::unordered);
            slots.map(|slot| layer.abac.slots.path(slot)).filter(|path| path.is_sent())
        })
    }

    /// Returns the tenant's resolver for a namespace that a policy reads; `None` if it has none.
    pub fn resolver(&self, namespace: &str) -> Option<ResolverRef> {
        let all = self.layers.iter().flat_map(|layer| layer.abac.slots.namespaces());
        all.filter(|known| *known.name == *namespace).find_map(|known| known.resolver)
    }

    /// Returns the names of the relations that policies and rules read, without the namespace. A name can occur twice.
    pub fn relations(&self) -> impl Iterator<Item = &str> {
        let all = self.layers.iter().flat_map(|layer| layer.abac.slots.namespaces());
        let own = all.filter(|namespace| *namespace.name == *RELATION);
        own.flat_map(|namespace| namespace.attributes()).map(|(name, _)| name)
    }

    /// Returns the dotted paths of the claims that a policy reads, each once.
    pub fn claims(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().enumerate().flat_map(move |(number, layer)| {
            let earlier = self.layers.iter().take(number);
            layer.abac.slots.claims().filter(move |path| {
                !earlier.clone().any(|layer| layer.abac.slots.reads("token", path))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use crate::plan::Plan;
    use crate::policy::{Format, Policy};
    use crate::rbac::Effect;
    use crate::resource::ResourcePattern;

    #[test]
    fn a_plan_knows_what_its_policies_read() {
        let condition = r#"{"expression": "user.age >= 18 && token.org.unit == resource.unit && geo.country == 'DE'"}"#;
        let policy = Policy {
            id: Uuid::from_u128(1),
            name: "p".to_owned(),
            resource: ResourcePattern::Any,
            effect: Effect::Allow,
            priority: 0,
            condition: Policy::stored_condition(Format::Expression, condition),
        };
        let plan = Plan::compile("chart:read", 1, &[], [policy]);
        for (namespace, name, expected) in [
            ("user", "age", true),
            ("user", "unit", false),
            ("resource", "unit", true),
            ("token", "org.unit", true),
            ("geo", "country", true),
            ("geo", "city", false),
            ("map", "country", false),
        ] {
            assert_eq!(plan.reads(namespace, name), expected, "{namespace}.{name}");
        }
        assert_eq!(plan.claims().collect::<Vec<_>>(), ["org.unit"]);
        let mut all: Vec<_> = plan.attributes().collect();
        all.sort_unstable();
        let expected =
            [("geo", "country"), ("resource", "unit"), ("token", "org.unit"), ("user", "age")];
        assert_eq!(all, expected);
    }
}
