// SPDX-License-Identifier: Apache-2.0
//! The connections of a capture that are kept packet by packet.

use std::net::IpAddr;

use hashbrown::HashMap;

use crate::ip::Address;
use crate::packet::Packet;

/// One direction of a connection; None stands for any port.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The sender.
    pub src: IpAddr,
    /// The port of the sender; None: any.
    pub sport: Option<u16>,
    /// To whom.
    pub dst: IpAddr,
    /// To which port.
    pub dport: Option<u16>,
    /// Keep packets with payload.
    pub payload: bool,
    /// Keep packets with the ACK flag.
    pub acks: bool,
}

/// The packets of a flow that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Packets with payload.
    pub payload: bool,
    /// Packets with the ACK flag.
    pub acks: bool,
}

/// Everything that is wanted, found by flow in a time that does not grow with it.
#[derive(Default)]
pub struct AllWanted {
    exact: HashMap<(Endpoints, u16, u16), Keep>,
    any_port: Vec<(Endpoints, Wanted)>,
}

/// IP version, source and destination.
type Endpoints = (u8, Address, Address);

impl AllWanted {
    /// All of these.
    pub fn new(wanted: Vec<Wanted>) -> Self {
        let mut all = Self::default();
        for one in wanted {
            let Some(ends) = ends(one.src, one.dst) else {
                continue; // of different versions: no packet has both
            };
            match (one.sport, one.dport) {
                (Some(sport), Some(dport)) => {
                    let keep = all.exact.entry((ends, sport, dport)).or_default();
                    *keep = keep.and(&one);
                }
                _ => all.any_port.push((ends, one)),
            }
        }
        all
    }

    /// Returns which packets of this packet's flow are kept: the union of all requests.
    pub fn keep(&self, packet: &Packet) -> Keep {
        let Some((sport, dport)) = packet.ports else {
            return Keep::default();
        };
        let ends = (packet.ip.version, packet.ip.src, packet.ip.dst);
        let exact = self.exact.get(&(ends, sport, dport)).copied();
        let is = |wanted: &Wanted| {
            wanted.sport.is_none_or(|port| port == sport)
                && wanted.dport.is_none_or(|port| port == dport)
        };
        let found = self
            .any_port
            .iter()
            .filter(|(of, one)| *of == ends && is(one));
        found.fold(exact.unwrap_or_default(), |keep, (_, one)| keep.and(one))
    }
}

impl Keep {
    fn and(self, wanted: &Wanted) -> Self {
        Self {
            payload: self.payload || wanted.payload,
            acks: self.acks || wanted.acks,
        }
    }
}

fn ends(src: IpAddr, dst: IpAddr) -> Option<Endpoints> {
    let (version, src) = bytes(src);
    let (other, dst) = bytes(dst);
    (version == other).then_some((version, src, dst))
}

/// An IPv4 address fills the first four bytes, as in [`crate::ip`].
fn bytes(address: IpAddr) -> (u8, Address) {
    match address {
        IpAddr::V4(address) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&address.octets());
            (4, bytes)
        }
        IpAddr::V6(address) => (6, address.octets()),
    }
}
