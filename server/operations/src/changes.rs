//! The parts of every change of stored content: preconditions, ownership, the gate, the limit of deletions, the answer.

pub(crate) mod deletions;
pub mod etag;
pub(crate) mod gated_writes;
pub mod ownership;
pub mod written;
