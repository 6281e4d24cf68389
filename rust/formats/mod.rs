//! Files that hold models: Cassandra's `.pomdp` format, read and written.

mod lexer;
mod symbols;
mod header;
mod tables;
pub mod read;
pub mod write;
