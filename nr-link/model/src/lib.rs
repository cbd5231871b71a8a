// SPDX-License-Identifier: Apache-2.0
//! A 5G NR link between one gNB and its UEs, as a model: packets go in, and come out when such a
//! link would have delivered them.
//!
//! The model knows no clock, thread or device. Time is a parameter: [`Nanos`] since the link
//! began. Whoever drives it calls [`Link::enqueue`] when a packet comes, [`Link::advance`] when
//! time has passed and [`Link::dequeue`] until nothing is due. The same configuration, seed and
//! arrivals give the same deliveries and samples, to the byte, on every machine.
//!
//! `docs/nr-link-model.md` says what is modelled, from which sources, and what is left out.

pub mod capacity;
pub mod channel;
pub mod config;
mod headers;
pub mod link;
mod mac;
pub mod packet;
mod path;
pub mod problem;
pub mod radio;
mod random;
mod rlc;
pub mod samples;
pub mod scenario;
mod timeline;
mod yaml;

pub use config::ResolvedConfig;
pub use link::{Held, Link, NextEvent, Source};
pub use mac::account::Totals;
pub use packet::{Delivery, Direction, Ecn, Packet, Port};
pub use path::CrossTotals;
pub use problem::{Place, Problem, Violation};
pub use samples::MacSample;

/// Nanoseconds since the link began.
pub type Nanos = u64;
