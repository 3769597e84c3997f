//! A real S3 server on the loopback address, which keeps its objects in a temporary folder.
