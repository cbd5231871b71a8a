// SPDX-License-Identifier: Apache-2.0
//! What all UEs of the cell share and nothing changes.

use super::adaptation::Schemes;
use super::csi::layer_db;
use super::harq::Block;
use super::timing::Timing;
use crate::Direction;
use crate::config::{RadioConfig, Uplink};
use crate::headers::ip_bytes_of;
use crate::radio::bler::{CodeBlocks, block_error_ratio};
use crate::radio::tbs::{Allocation, transport_block_bits};
use crate::radio::{CqiTable, decibel, overhead};

#[derive(Debug)]
pub(crate) struct Cell {
    pub radio: RadioConfig,
    /// Power of each uplink carrier: P_CMAX in equal parts.
    pub uplink: Uplink,
    pub timing: Timing,
    pub schemes: Schemes,
    pub cqi_table: CqiTable,
    mtu_bytes: u32,
}

/// Room for data in one slot and direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    pub prb: u16,
    pub re_per_prb: u16,
    pub layers: u8,
}

impl Room {
    pub fn narrowed(self, prb: u16) -> Self {
        Self { prb, ..self }
    }

    /// Whether a block can be sent again in it.
    pub fn fits(self) -> impl Fn(&Block) -> bool {
        move |block| block.prb <= self.prb && block.re_per_prb <= self.re_per_prb
    }
}

/// What a full queue would have delivered: bytes of blocks, and of them IP bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Capacity {
    pub bytes: f64,
    pub sdu_bytes: f64,
}

impl Cell {
    pub fn new(radio: &RadioConfig, mtu_bytes: u32) -> Self {
        let sending = radio.carriers.iter().filter(|carrier| carrier.uplink);
        let uplink = Uplink {
            pcmax_dbm: radio.uplink.pcmax_dbm - decibel::from_ratio(sending.count() as f64),
            ..radio.uplink
        };
        Self {
            uplink,
            timing: Timing::new(radio),
            schemes: Schemes::new(radio.mcs_table, radio.link_adaptation),
            cqi_table: CqiTable::new(radio.mcs_table),
            mtu_bytes,
            radio: radio.clone(),
        }
    }

    /// What `slot` of a carrier has for data in a direction, if anything.
    pub fn room(&self, carrier: usize, slot: u64, direction: Direction) -> Option<Room> {
        let carrier = &self.radio.carriers[carrier];
        let kind = self.timing.kind(slot);
        let layers = *self.radio.layers.of(direction);
        let re_per_prb = match direction {
            Direction::Downlink => overhead::pdsch_re_per_prb(kind.dl_symbols(), layers),
            Direction::Uplink if carrier.uplink && kind.carries_pusch() => {
                overhead::pusch_re_per_prb(kind.ul_symbols(), layers)
            }
            Direction::Uplink => 0,
        };
        (re_per_prb > 0).then_some(Room {
            prb: carrier.prb,
            re_per_prb,
            layers,
        })
    }

    pub fn layer_db(&self, direction: Direction) -> f32 {
        layer_db(*self.radio.layers.of(direction))
    }

    /// Bytes of a block that takes all of `room`.
    pub fn block_bytes(&self, mcs: u8, room: Room) -> u32 {
        let Room {
            prb,
            re_per_prb,
            layers,
        } = room;
        transport_block_bits(
            self.schemes.get(mcs),
            Allocation {
                prb,
                re_per_prb,
                layers,
            },
        ) / 8
    }

    /// The fewest PRBs of `room` whose block has `bytes`, or all.
    pub fn narrowest(&self, mcs: u8, room: Room, bytes: u64) -> Room {
        let (mut low, mut high) = (1, room.prb);
        while low < high {
            let middle = (low + high) / 2;
            if u64::from(self.block_bytes(mcs, room.narrowed(middle))) >= bytes {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        room.narrowed(high)
    }

    /// IP bytes in so many bytes of a block that is full of packets of the MTU.
    pub fn ip_bytes(&self, block_bytes: f64) -> f64 {
        ip_bytes_of(block_bytes, self.mtu_bytes)
    }

    /// What a slot would have delivered that sent nothing: its block, less its share of failures.
    pub fn expected(&self, mcs: u8, room: Room, sinr_db: f64) -> Capacity {
        let bytes = self.block_bytes(mcs, room);
        let scheme = self.schemes.get(mcs);
        let failing = block_error_ratio(scheme, CodeBlocks::of(8 * bytes, scheme), sinr_db);
        Capacity {
            bytes: f64::from(bytes) * (1.0 - failing),
            sdu_bytes: self.ip_bytes(f64::from(bytes)) * (1.0 - failing),
        }
    }
}
