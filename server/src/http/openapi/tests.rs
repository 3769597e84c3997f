//! The document is sound, and describes what is served.
