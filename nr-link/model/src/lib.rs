//! The NR link model.
