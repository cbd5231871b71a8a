//! socket-sampler.
fn main() {}
