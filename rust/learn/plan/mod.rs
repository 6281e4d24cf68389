//! Planning in a finite model whose state is hidden: point-based plans that keep the values of all actions.

mod backup;
mod bounds;
mod model;
mod perseus;
mod walk;

pub use model::{Arrays, Model};
pub use perseus::{Plan, Settings, plan};
