// SPDX-License-Identifier: Apache-2.0
//! Captures as Arrow columns: the packets for `ddu.packets`, the socket samples for `ddu.sockets`.
//!
//! file → [`source`] (bytes, decompressed) → [`capture`] ([`pcap`], [`pcapng`]: records) → [`packet`] ([`link`],
//! [`ip`], [`tcp`], [`gtp`]) → [`flows`] and [`columns`] → [`reader`] (batches) → Python.
//! Samples go from their records through [`netlink`] and [`socket_fields`] to [`sockets`].

mod addresses;
pub mod bytes;
pub mod capture;
pub mod columns;
pub mod error;
pub mod flows;
pub mod gtp;
pub mod ip;
pub mod link;
mod netlink;
pub mod packet;
mod pcap;
mod pcapng;
#[cfg(feature = "python")]
mod python;
pub mod reader;
pub mod socket_fields;
pub mod sockets;
mod source;
mod sparse;
mod table;
pub mod tcp;
