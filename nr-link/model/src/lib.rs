//! The NR link model.

pub mod scenario;
