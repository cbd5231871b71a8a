// SPDX-License-Identifier: Apache-2.0
//! Captures as Arrow columns: the packets for `ddu.packets`, the socket samples for `ddu.sockets`.
//!
//! file → [`source`] (bytes, decompressed) → [`capture`] ([`pcap`], [`pcapng`]: records) → [`packet`] ([`link`],
//! [`ip`], [`tcp`], [`gtp`]) → [`flows`] and [`columns`] → [`reader`] (batches) → Python.

mod addresses;
mod bytes;
pub mod capture;
pub mod columns;
pub mod error;
pub mod flows;
pub mod gtp;
pub mod ip;
pub mod link;
pub mod packet;
mod pcap;
mod pcapng;
#[cfg(feature = "python")]
mod python;
pub mod reader;
mod source;
mod sparse;
mod table;
pub mod tcp;
