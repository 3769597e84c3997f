//! Behaviour of `saas` mode alone, where the operator creates tenants and the issuer of a token decides
//! which one its bearer belongs to.

mod domains;
mod keys;
mod providers;
mod tenants;
