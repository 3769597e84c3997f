//! The rules of one revision, or of a candidate, with their plans.

use std::sync::{Arc, OnceLock};

use ahash::HashMap;
use parking_lot::Mutex;
use portcullis_bundle::Rulebook;
use portcullis_engine::{DEFAULT_DENY, Plan};
use portcullis_model::decision::Treatment;
use portcullis_model::decision_log::DecisionLogSettings;
use portcullis_model::relation_declaration::RelationDeclarations;
use uuid::Uuid;

/// The most plans in memory.
const MAX_PLANS: usize = 4_096;
/// The most bytes of the plans in memory, of each side.
const MAX_BYTES: usize = 64 << 20;

/// The rules of one revision, or of a candidate. Each plan is compiled once, while there is room.
#[derive(Debug)]
pub struct Side {
    rulebook: Rulebook,
    /// The relations of the types, by type.
    relations: Vec<(String, RelationDeclarations)>,
    /// The attributes that a record has only if the plan read them, by path.
    only_if_read: Vec<String>,
    /// The names of rules and policies.
    names: HashMap<Uuid, Arc<str>>,
    default: Arc<str>,
    plans: Mutex<Plans>,
}

#[derive(Debug, Default)]
struct Plans {
    by_resource: HashMap<Box<str>, Arc<OnceLock<Plan>>>,
    bytes: usize,
}

impl Side {
    /// Takes the rules that decide, with the source that goes first, the relations of the types, and the tenant's terms
    /// for its record.
    pub fn new(
        rulebook: Rulebook,
        relations: Vec<(String, RelationDeclarations)>,
        recording: &DecisionLogSettings,
    ) -> Self {
        let names = rulebook.named().map(|(id, name)| (id, name.into())).collect();
        let treatments = recording.attributes.iter();
        let reads = treatments.filter(|(_, treatment)| **treatment == Treatment::Reads);
        let only_if_read = reads.map(|(path, _)| path.clone()).collect();
        let (default, plans) = (DEFAULT_DENY.into(), Mutex::default());
        Self { rulebook, relations, only_if_read, names, default, plans }
    }

    /// Calls `use_it` with the plan of `resource`.
    pub fn with_plan<T>(&self, resource: &str, use_it: impl FnOnce(&Plan) -> T) -> T {
        let entry = self.entry(resource);
        // The lock is not held while a plan compiles: whoever wants the same plan waits at its cell alone.
        let mut bytes = 0;
        let plan = entry.get_or_init(|| {
            let plan = self.rulebook.plan(resource);
            bytes = plan.weight();
            plan
        });
        // Only the thread that compiled the plan counts it.
        if bytes > 0 {
            self.add(resource, &entry, bytes);
        }
        use_it(plan)
    }

    fn entry(&self, resource: &str) -> Arc<OnceLock<Plan>> {
        let mut plans = self.plans.lock();
        if let Some(known) = plans.by_resource.get(resource) {
            return Arc::clone(known);
        }
        if plans.by_resource.len() >= MAX_PLANS {
            // Whoever uses a plan has it by an `Arc`, so that it can be forgotten.
            *plans = Plans::default();
        }
        Arc::clone(plans.by_resource.entry(resource.into()).or_default())
    }

    /// Counts a plan that was compiled. Begins anew with it if all are too large.
    fn add(&self, resource: &str, plan: &Arc<OnceLock<Plan>>, bytes: usize) {
        let mut plans = self.plans.lock();
        plans.bytes += bytes;
        if plans.bytes > MAX_BYTES {
            let by_resource = [(resource.into(), Arc::clone(plan))].into_iter().collect();
            *plans = Plans { by_resource, bytes };
        }
    }

    /// Returns the name of the rule or policy of a decision; `None` is the default.
    pub(crate) fn name(&self, id: Option<Uuid>) -> &Arc<str> {
        id.and_then(|id| self.names.get(&id)).unwrap_or(&self.default)
    }

    /// Returns whether the objects of both sides have the same relations by the same stored tuples.
    pub(crate) fn has_relations_of(&self, other: &Self) -> bool {
        self.relations == other.relations
    }

    /// Returns whether a record may lack the attribute because the plan did not read it.
    pub(crate) fn is_only_if_read(&self, namespace: &str, name: &str) -> bool {
        self.only_if_read.iter().any(|path| path.split_once('.') == Some((namespace, name)))
    }
}
