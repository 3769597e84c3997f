//! The resolvers that stay in memory.

use super::*;
use crate::limits::RegistryLimits;

impl Stage {
    /// Returns those of `references` of `acme` that are in memory.
    fn in_memory(&self, references: &[ResolverRef]) -> Vec<u128> {
        let is_there = |one: &&ResolverRef| self.resolvers.tenants.has("acme", **one);
        references.iter().filter(is_there).map(|one| one.id.as_u128()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn the_resolvers_that_nobody_needs_make_room() {
    let mut stage = Stage::new();
    let all = [1, 2, 3].map(|id| reference(id, 1));
    let module = component("directory");
    let module = stage.resolvers.runtime.admit("acme", module.into()).await.expect("is admitted");
    let put = |stage: &Stage, one| stage.put_module("acme", one, &module, &directory());
    stage.resolvers.limits = RegistryLimits { resolvers: 2, ..RegistryLimits::default() };
    for one in all {
        put(&stage, one);
        tokio::time::advance(std::time::Duration::from_mins(2)).await;
    }
    assert_eq!(stage.in_memory(&all), [2, 3]);
    let asked = stage.ask("acme", Some(all[1]), "ann", "department").await;
    assert_eq!(asked.resolved, text("sales"));
    put(&stage, all[0]);
    assert_eq!(stage.in_memory(&all), [1, 2], "the third was not used since");
    // Resolvers with one module share its bytes.
    let module_bytes = module.memory_bytes();
    stage.resolvers.limits = RegistryLimits { module_bytes, ..RegistryLimits::default() };
    put(&stage, all[2]);
    assert_eq!(stage.in_memory(&all), [1, 2, 3]);
    // Not even one of them fits beside another module.
    drop(module);
    let other = reference(4, 1);
    stage.put("acme", other, "behaviours", &behaviours(1)).await;
    assert_eq!(stage.in_memory(&[all[0], all[1], all[2], other]), [4]);
}

#[tokio::test(start_paused = true)]
async fn the_resolvers_that_nobody_needs_for_an_hour_go() {
    let stage = Stage::new();
    let (idle, used) = (reference(1, 1), reference(2, 1));
    stage.put("acme", idle, "directory", &directory()).await;
    stage.put("acme", used, "directory", &directory()).await;
    tokio::time::advance(std::time::Duration::from_mins(59)).await;
    stage.ask("acme", Some(used), "ann", "department").await;
    stage.resolvers.tenants.tidy(stage.resolvers.runtime.now());
    assert_eq!(stage.in_memory(&[idle, used]), [1, 2]);
    tokio::time::advance(std::time::Duration::from_mins(1)).await;
    stage.resolvers.tenants.tidy(stage.resolvers.runtime.now());
    assert_eq!(stage.in_memory(&[idle, used]), [2]);
}
