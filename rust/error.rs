//! Every way a call can be refused. Variants carry the numbers, so that the message can name them.

use std::fmt;

/// The outcome of a call that can be refused.
pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// A parameter outside its range: argument, what was given, what to do.
    Argument { name: &'static str, given: String, remedy: String },
    /// A step of a data set that cannot be: where it is and what is wrong with it.
    Step { episode: usize, step: usize, problem: String },
    /// Episode offsets that do not cut the step arrays into episodes.
    Offsets { index: usize, problem: String },
    /// A row of a model that is not a probability distribution.
    Distribution { table: &'static str, row: String, problem: String },
    /// The machine, or the limit set on this process, lacks memory: for what, and for how many entries of it.
    Memory { what: &'static str, entries: usize },
    /// The data cannot support the request; numerical, not a misuse.
    Numerical(String),
    /// The user pressed Ctrl-C; the binding layer replaces this by the pending exception.
    Interrupted,
    /// A bug in this crate, caught before it could reach the caller as a panic.
    Internal(String),
}

impl Error {
    pub(crate) fn argument(name: &'static str, given: impl fmt::Display, remedy: impl Into<String>) -> Self {
        Error::Argument { name, given: given.to_string(), remedy: remedy.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Argument { name, given, remedy } => write!(f, "{name} = {given}: {remedy}"),
            Error::Step { episode, step, problem } => {
                write!(f, "episode {episode}, step {step}: {problem}")
            }
            Error::Offsets { index, problem } => write!(f, "offsets[{index}]: {problem}"),
            Error::Distribution { table, row, problem } => write!(f, "{table}[{row}]: {problem}"),
            Error::Memory { what, entries } => {
                write!(f, "{what} needs memory for {entries} entries, more than there is")
            }
            Error::Numerical(message) => f.write_str(message),
            Error::Interrupted => f.write_str("interrupted"),
            Error::Internal(message) => write!(f, "internal error, please report it: {message}"),
        }
    }
}

impl std::error::Error for Error {}
