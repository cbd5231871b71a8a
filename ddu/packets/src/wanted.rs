// SPDX-License-Identifier: Apache-2.0
//! Which connections of a capture are to be kept packet by packet.

use std::net::IpAddr;

use crate::ip::Address;
use crate::packet::Packet;

/// One direction of a connection; None stands for any port.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Who sends.
    pub src: IpAddr,
    /// From which port.
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

/// What is kept of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Packets with payload.
    pub payload: bool,
    /// Packets with the ACK flag.
    pub acks: bool,
}

impl Wanted {
    fn is(&self, packet: &Packet) -> bool {
        let Some((sport, dport)) = packet.ports else {
            return false;
        };
        let version = packet.ip.version;
        self.sport.is_none_or(|port| port == sport)
            && self.dport.is_none_or(|port| port == dport)
            && same(self.src, version, packet.ip.src)
            && same(self.dst, version, packet.ip.dst)
    }
}

/// What is kept of this packet's flow: all that anybody wants of it.
pub fn keep(wanted: &[Wanted], packet: &Packet) -> Keep {
    let found = wanted.iter().filter(|wanted| wanted.is(packet));
    found.fold(Keep::default(), |keep, wanted| Keep {
        payload: keep.payload || wanted.payload,
        acks: keep.acks || wanted.acks,
    })
}

fn same(address: IpAddr, version: u8, bytes: Address) -> bool {
    match address {
        IpAddr::V4(address) => version == 4 && bytes[..4] == address.octets(),
        IpAddr::V6(address) => version == 6 && bytes == address.octets(),
    }
}
