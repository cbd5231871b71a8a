//! nr-link.
fn main() {}
