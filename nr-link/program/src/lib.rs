// SPDX-License-Identifier: Apache-2.0
//! nr-link: a 5G NR link in real time between TUN devices.
//!
//! [`nr_link_model`] says when each packet comes out; this program moves packets between the kernel and the model
//! and keeps time, and says how well it could.

pub mod burst;
pub mod capacity;
pub mod clock;
pub mod ending;
pub mod forward;
pub mod interface;
pub mod latency;
pub mod merge;
pub mod netns;
pub mod output;
pub mod pool;
pub mod priority;
pub mod problems;
pub mod selftest;
pub mod session;
pub mod shell;
pub mod trust;
pub mod tun;
pub mod verdict;
pub mod vnet;
pub mod wake;
