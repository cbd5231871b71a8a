// SPDX-License-Identifier: Apache-2.0
//! The carrier of packets between the hosts: the model, or a real radio.

use std::fmt::Debug;

use nr_link_model::delays::Captured;
use nr_link_model::{Ecn, Part, Port};
use serde_json::Value;

use crate::explained::Explanation;
use crate::handle::Handle;
use crate::summary::Counts;

/// A packet that enters the link.
#[derive(Debug)]
pub struct Entering {
    pub handle: Handle,
    pub bytes: u32,
    pub ecn: Ecn,
    /// The packet in its sender's capture.
    pub sent: Captured,
}

/// A packet that leaves the link.
#[derive(Debug)]
pub struct Arrival {
    pub handle: u64,
    pub device: u32,
    pub congestion_experienced: bool,
    /// The account of its delay, of a link that explains delays.
    pub explanation: Option<Explanation>,
}

/// The link, in its own time: nanoseconds since its start.
pub trait Carrier: Debug {
    /// Time 0 is `utc_ns`.
    fn start(&mut self, utc_ns: i64);

    /// The traffic has started: the times of changes count from here.
    fn traffic_started(&mut self, now: u64);

    /// The parts that the delay of a packet can have.
    fn parts(&self) -> &'static [Part];

    /// Takes a packet.
    fn enqueue(&mut self, from: Port, packet: Entering, now: u64);

    /// Runs to `now`.
    fn advance(&mut self, now: u64);

    /// When to run again if no packet comes before.
    fn next_event(&self) -> u64;

    /// The next packet that is due.
    fn dequeue(&mut self) -> Option<Arrival>;

    /// Completes its own files, and returns the account of the run.
    fn close(&mut self, counts: &Counts, now: u64) -> Value;
}

/// The device at which a packet for `port` arrives.
pub fn device_of(port: Port) -> u32 {
    match port {
        Port::Core { .. } => 0,
        Port::Ue(ue) => 1 + ue.0 as u32,
    }
}
