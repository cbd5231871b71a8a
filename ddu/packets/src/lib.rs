// SPDX-License-Identifier: Apache-2.0
//! Captures as Arrow columns: the packets for `ddu.readers.packets`, the socket samples for `ddu.readers.sockets`.
//!
//! file → [`source`] (bytes, decompressed) → [`capture`] ([`pcap`], [`pcapng`]: [`record`]s) → [`packet`] ([`link`],
//! [`ip`], [`tcp`], [`gtp`]) → [`flows`] and [`columns`] → [`reader`] (batches) → Python, or → [`split`] (the
//! [`wanted`] connections, each with its [`rows`]) → Python.
//! Samples go from their records through [`netlink`] and [`socket_fields`] to [`sockets`].

mod addresses;
pub mod bytes;
pub mod capture;
pub mod columns;
pub mod digest;
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
pub mod quic;
pub mod reader;
pub mod record;
pub mod rows;
pub mod socket_fields;
pub mod sockets;
mod source;
mod sparse;
pub mod split;
mod table;
pub mod tcp;
pub mod wanted;
