// SPDX-License-Identifier: Apache-2.0
//! nr-link: a 5G NR link in real time between TUN devices.
//!
//! [`nr_link_model`] computes when each packet leaves; this program moves packets between the
//! kernel and the model in time, and reports how punctual it was.

pub mod burst;
pub mod capacity;
pub mod clock;
pub mod exit;
pub mod explained;
pub mod forward;
pub mod interface;
pub mod latency;
pub mod merge;
pub mod netns;
pub mod output;
pub mod pool;
pub mod priority;
pub mod problems;
pub mod resolved;
pub mod selftest;
pub mod session;
pub mod shell;
pub mod trust;
pub mod tun;
pub mod verdict;
pub mod vnet;
pub mod wake;
