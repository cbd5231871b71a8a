// SPDX-License-Identifier: Apache-2.0
//! What all UEs of the cell share and nothing changes.

use super::adaptation::Schemes;
use super::harq::Block;
use super::layers::Layers;
use super::timing::Timing;
use crate::Direction;
use crate::config::{PerDirection, RadioConfig, Uplink};
use crate::headers::ip_bytes_of;
use crate::radio::bler::{CodeBlocks, block_error_ratio};
use crate::radio::tbs::{Allocation, transport_block_bits};
use crate::radio::{CqiTable, SlotKind, decibel, overhead};

#[derive(Debug)]
pub(crate) struct Cell {
    pub radio: RadioConfig,
    /// Power of each uplink carrier: P_CMAX in equal parts.
    pub uplink: Uplink,
    pub timing: Timing,
    pub schemes: Schemes,
    pub cqi_table: CqiTable,
    pub layers: PerDirection<Layers>,
    mtu_bytes: u32,
}

/// What one slot and direction of a carrier has left for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    pub prb: u16,
    symbols: u8,
    direction: Direction,
}

impl Space {
    /// All of it, for a UE with so many layers.
    pub fn room(self, layers: u8) -> Room {
        Room {
            prb: self.prb,
            re_per_prb: overhead::data_re_per_prb(self.symbols, self.direction, layers),
            layers,
        }
    }

    /// Its symbols of a PRB.
    pub fn size(self) -> u32 {
        self.part(self.prb)
    }

    /// The same of so many of its PRBs.
    pub fn part(self, prb: u16) -> u32 {
        u32::from(prb) * u32::from(self.symbols)
    }

    /// Whether a block can be sent again in it.
    pub fn fits(self) -> impl Fn(&Block) -> bool {
        move |block| block.prb <= self.prb && block.re_per_prb <= self.room(block.layers).re_per_prb
    }
}

/// Room for one UE's data in one slot and direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    pub prb: u16,
    pub re_per_prb: u16,
    pub layers: u8,
}

impl Room {
    /// Resource elements, those of every layer counted.
    pub fn elements(self) -> f64 {
        f64::from(self.prb) * f64::from(self.re_per_prb) * f64::from(self.layers)
    }

    pub fn narrowed(self, prb: u16) -> Self {
        Self { prb, ..self }
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
        let layers = |most| Layers::new(most, radio.adapts_rank, radio.layer_isolation_db);
        Self {
            uplink,
            layers: PerDirection {
                dl: layers(radio.layers.dl),
                ul: layers(radio.layers.ul),
            },
            timing: Timing::new(radio),
            schemes: Schemes::new(radio.mcs_table, radio.link_adaptation),
            cqi_table: CqiTable::new(radio.mcs_table),
            mtu_bytes,
            radio: radio.clone(),
        }
    }

    /// What a slot of a carrier has for data in a direction, if anything.
    pub fn space(&self, carrier: usize, slot: u64, direction: Direction) -> Option<Space> {
        let kind = self.timing.kind(carrier, slot);
        let carrier = &self.radio.carriers[carrier];
        let symbols = match direction {
            Direction::Uplink if !carrier.uplink => 0,
            _ => overhead::shared_symbols(kind, direction),
        };
        (symbols > 0).then_some(Space {
            prb: carrier.prb,
            symbols,
            direction,
        })
    }

    /// A whole slot of a carrier.
    pub fn whole_slot(&self, carrier: usize, direction: Direction) -> Space {
        Space {
            prb: self.radio.carriers[carrier].prb,
            symbols: overhead::shared_symbols(SlotKind::Paired, direction),
            direction,
        }
    }

    /// The same for one UE's data.
    pub fn widest(&self, carrier: usize, direction: Direction, layers: u8) -> Room {
        self.whole_slot(carrier, direction).room(layers)
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
