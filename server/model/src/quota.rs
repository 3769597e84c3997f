//! Quotas: the most that a tenant may have of each kind (`docs/semantics.md`, section 9.9).

use std::fmt;

use strum::{EnumString, IntoStaticStr, VariantArray};

/// A kind of record, or the bytes of records, of which a tenant may have a limited number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Quota {
    Webhooks,
    /// ABAC policies that are not deleted.
    Policies,
    /// RBAC rules, including the rules of default roles.
    Rules,
    Resources,
    ServiceKeys,
    Resolvers,
    /// Entities of the directory.
    Entities,
    /// Tuples of the directory.
    Relations,
    /// The bytes of policies, rules, resources, entities, tuples, and resolvers with their modules.
    StoredBytes,
    /// The bytes of rules and policies on one resource or pattern, which every plan of it loads.
    PlanBytes,
}

/// A value for each quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerQuota<T>([T; Quota::VARIANTS.len()]);

impl<T: Copy> PerQuota<T> {
    /// Returns the value for `quota`.
    pub fn get(&self, quota: Quota) -> T {
        self.0[quota as usize]
    }

    /// Returns the value for `quota`, to change it.
    pub fn get_mut(&mut self, quota: Quota) -> &mut T {
        &mut self.0[quota as usize]
    }

    /// Returns the values with another one for `quota`.
    #[must_use]
    pub const fn with(mut self, quota: Quota, value: T) -> Self {
        self.0[quota as usize] = value;
        self
    }
}

/// The limits of each tenant. `None` means no limit.
pub type Quotas = PerQuota<Option<u64>>;

impl Quotas {
    /// No limits.
    pub const NONE: Self = Self([None; Quota::VARIANTS.len()]);

    /// The limits of a service whose operator sets none. They are far above what a tenant needs; each bounds the cost
    /// that one tenant can cause to others.
    pub const STANDARD: Self = Self::NONE
        // An event is written once for each webhook, in one transaction.
        .with(Quota::Webhooks, Some(50))
        .with(Quota::Policies, Some(20_000))
        .with(Quota::Rules, Some(500_000))
        .with(Quota::Resources, Some(200_000))
        .with(Quota::ServiceKeys, Some(1_000))
        // Each takes memory for as long as the service runs.
        .with(Quota::Resolvers, Some(64))
        // A million takes some 500 MB of memory in each process.
        .with(Quota::Entities, Some(1_000_000))
        // As many take some 200 MB of memory in each process.
        .with(Quota::Relations, Some(5_000_000))
        // 64 modules of 16 MiB, and as much again.
        .with(Quota::StoredBytes, Some(2 << 30))
        // A plan takes some twenty times its text in memory while it is compiled.
        .with(Quota::PlanBytes, Some(8 << 20));
}

/// A write that would exceed a quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaExcess {
    pub quota: Quota,
    pub limit: u64,
    /// The number before the write.
    pub used: u64,
    /// The resource or pattern on which there is too much; `None` for a quota of the whole tenant.
    pub pattern: Option<String>,
}

impl fmt::Display for QuotaExcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quota, limit, used, pattern } = self;
        let quota = quota.into_str();
        let owner = pattern.as_ref().map_or("the tenant".to_owned(), |on| format!("`{on}`"));
        write!(f, "the quota `{quota}` of {owner} is {limit}, and it uses {used}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quota_has_its_own_value() {
        let mut values = PerQuota::<usize>::default();
        for (index, quota) in Quota::VARIANTS.iter().copied().enumerate() {
            *values.get_mut(quota) = index;
        }
        for (index, quota) in Quota::VARIANTS.iter().copied().enumerate() {
            assert_eq!(values.get(quota), index, "{}", quota.into_str());
        }
    }
}
