// SPDX-License-Identifier: Apache-2.0
//! A 5G NR link between one gNB and its UEs, as a model: packets go in, and come out when such a
//! link would have delivered them.
//!
//! The model has no clock, thread or device. Time is a parameter: [`Nanos`] since the link began. A driver calls
//! [`Link::enqueue`] when a packet arrives, [`Link::advance`] when time has passed, and [`Link::dequeue`] until no
//! packet is due. The same configuration, seed and arrivals give byte-identical deliveries and samples on every
//! machine.
//!
//! `docs/nr-link-model.md` describes the model, its sources and its limits.

#![cfg_attr(test, allow(clippy::disallowed_methods))] // tests compute independently

pub mod aqm;
pub mod capacity;
pub mod channel;
pub mod config;
mod correlated_process;
mod counters;
pub mod decimal;
pub mod delays;
mod headers;
mod ids;
pub mod input_file;
pub mod link;
mod mac;
pub mod mac_pcap;
pub mod packet;
mod path;
mod pdcp;
pub mod problem;
pub mod radio;
mod radio_events;
mod random;
mod range;
mod rlc;
mod rrc;
pub mod samples;
pub mod scenario;
mod time;
pub mod yaml;

pub use config::ResolvedConfig;
pub use counters::Totals;
pub use delays::{Delays, Part};
pub use ids::UeId;
pub use link::{Contents, Link, NextEvent, ResolvedLink, Source};
pub use mac::adaptation::SettledMcs;
pub use mac::pdu::MacPdu;
pub use packet::{Delivery, Direction, Ecn, Packet, Port};
pub use path::CrossTotals;
pub use problem::{Place, Problem, Violation};
pub use radio_events::{EventKind, RadioEvent};
pub use range::within;
pub use samples::{ConnectionState, MacSample};
pub use time::{Nanos, Slot};
