//! Each event, and its `data`.
