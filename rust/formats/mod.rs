//! Files that hold models: Cassandra's `.pomdp` format, read and written.

pub mod lexer;
pub mod symbols;
pub mod header;
pub mod tables;
pub mod read;
pub mod write;
