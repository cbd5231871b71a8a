// SPDX-License-Identifier: Apache-2.0
//! The connection of a UE among several cells (TS 38.331): measurements and their events, handover, radio link failure
//! and re-establishment. With one cell there is none of it.

mod access;
mod connection;
mod events;
mod history;
mod link_monitor;
mod measurements;
mod prescribed;
mod signalling;

pub(crate) use connection::{Action, Connection, Data, Service};
pub(crate) use events::{Level, can_enter};
pub(crate) use prescribed::Prescribed;
pub(crate) use signalling::Air;
