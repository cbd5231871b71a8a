// SPDX-License-Identifier: Apache-2.0
//! The constant properties of the cell, which all UEs share.

use super::adaptation::Schemes;
use super::harq::Block;
use super::layers::Layers;
use super::pdu::Received;
use super::timing::Timing;
use crate::Direction;
use crate::config::{PerDirection, RadioConfig, Uplink};
use crate::counters::Capacity;
use crate::headers::ip_bytes_of;
use crate::ids::{CarrierId, HarqId, UeId};
use crate::radio::overhead::DataSymbols;
use crate::radio::tbs::{Allocation, transport_block_bits};
use crate::radio::{CqiTable, Duplex, SlotKind, decibel};
use crate::time::{Nanos, Slot};

/// Frames have numbers below this one (TS 38.331 clause 6.2.2, systemFrameNumber).
const FRAMES: u64 = 1024;

#[derive(Debug)]
pub(crate) struct Cell {
    pub radio: RadioConfig,
    /// Power of each uplink carrier: P_CMAX in equal parts.
    pub uplink: Uplink,
    pub timing: Timing,
    pub schemes: Schemes,
    pub cqi_table: CqiTable,
    pub layers: PerDirection<Layers>,
    /// The PRBs of the primary carrier that are scheduled: all, or as many as a change has left.
    scheduled_prb: u16,
    mtu_bytes: u32,
}

/// A slot of one carrier of the cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellSlot<'a> {
    pub cell: &'a Cell,
    pub carrier: CarrierId,
    pub slot: Slot,
}

impl CellSlot<'_> {
    /// Returns the reception of a block that was sent in the slot.
    pub fn reception(self, ue: UeId, direction: Direction, process: HarqId) -> Received {
        let numerology = self.cell.radio.carriers[self.carrier.0].numerology;
        let slots_per_frame = numerology.slots_per_frame();
        Received {
            at: self.start(),
            frame: (self.slot.0 / slots_per_frame % FRAMES) as u16,
            slot: (self.slot.0 % slots_per_frame) as u16,
            ue,
            direction,
            process: process.0 as u8,
            is_tdd: matches!(self.cell.timing.duplex(self.carrier), Duplex::Tdd(_)),
        }
    }

    /// Returns when the slot starts.
    pub fn start(self) -> Nanos {
        self.cell.timing.start(self.carrier, self.slot)
    }
}

/// The resources of one slot, carrier and direction that are still free for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FreeResources {
    pub prb: u16,
    /// PRBs that are no longer scheduled, for retransmissions of blocks that are wider than what is.
    unscheduled_prb: u16,
    symbols: DataSymbols,
}

impl FreeResources {
    /// Returns the allocation of all these resources to a UE with `layers` layers.
    pub fn for_layers(self, layers: u8) -> Allocation {
        Allocation {
            prb: self.prb,
            re_per_prb: self.symbols.re_per_prb(layers),
            layers,
        }
    }

    /// Returns the size in symbols × PRBs.
    pub fn size(self) -> u32 {
        self.part(self.prb)
    }

    /// Returns the size of `prb` of the PRBs, in symbols × PRBs.
    pub fn part(self, prb: u16) -> u32 {
        u32::from(prb) * u32::from(self.symbols.all)
    }

    /// Returns what is left after the retransmission of a block of so many PRBs; `None` if it does not fit.
    pub fn after_retransmission(self, prb: u16) -> Option<Self> {
        let beyond = prb.saturating_sub(self.prb);
        let was_wide = beyond > 0 && self.unscheduled_prb > 0;
        Some(Self {
            prb: self.prb - prb.min(self.prb),
            unscheduled_prb: match was_wide {
                true => self.unscheduled_prb.checked_sub(beyond)?,
                false if beyond > 0 => return None,
                false => self.unscheduled_prb,
            },
            ..self
        })
    }

    /// Returns a test of whether a block can be retransmitted in these resources.
    pub fn fits(self) -> impl Fn(&Block) -> bool {
        move |block| {
            self.after_retransmission(block.prb).is_some()
                && block.re_per_prb <= self.for_layers(block.layers).re_per_prb
        }
    }
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
            schemes: Schemes::new(radio),
            cqi_table: CqiTable::new(radio.mcs_table),
            scheduled_prb: radio.carriers[0].prb,
            mtu_bytes,
            radio: radio.clone(),
        }
    }

    /// Returns the resources of a slot for data in a direction; `None` if it has none.
    pub fn resources(
        &self,
        carrier: CarrierId,
        slot: Slot,
        direction: Direction,
    ) -> Option<FreeResources> {
        let kind = self.timing.kind(carrier, slot);
        let scheduled = self.scheduled_prb(carrier);
        let carrier = &self.radio.carriers[carrier.0];
        if direction == Direction::Uplink && !carrier.uplink {
            return None;
        }
        let symbols = self.symbols(carrier.prb, kind, direction);
        let unreserved = self.unreserved_prb(carrier.prb, slot, direction);
        let prb = unreserved.min(scheduled);
        (symbols.all > 0 && prb >= self.least_prb()).then_some(FreeResources {
            prb,
            unscheduled_prb: unreserved - prb,
            symbols,
        })
    }

    /// Schedules so many PRBs of the primary carrier from now on, as in a narrower bandwidth part.
    pub fn schedule(&mut self, prb: u16) {
        self.scheduled_prb = prb;
    }

    fn scheduled_prb(&self, carrier: CarrierId) -> u16 {
        match carrier {
            CarrierId::PRIMARY => self.scheduled_prb,
            other => self.radio.carriers[other.0].prb,
        }
    }

    fn symbols(&self, prb: u16, kind: SlotKind, direction: Direction) -> DataSymbols {
        match self.radio.gnb() {
            None => DataSymbols::ideal(kind, direction),
            Some(gnb) => gnb.data_symbols(prb, kind, direction),
        }
    }

    /// Returns the PRBs of a slot that one UE can have. What is reserved in the downlink lies in the middle of the
    /// carrier, and an allocation is contiguous.
    fn unreserved_prb(&self, prb: u16, slot: Slot, direction: Direction) -> u16 {
        match (self.radio.gnb(), direction) {
            (Some(gnb), Direction::Downlink) if gnb.broadcast.is_in(slot) => {
                prb.saturating_sub(gnb.broadcast.prb).div_ceil(2)
            }
            (Some(gnb), Direction::Uplink) if gnb.random_access.is_in(slot) => {
                prb.saturating_sub(gnb.random_access.prb)
            }
            _ => prb,
        }
    }

    /// Returns the fewest PRBs of an allocation.
    pub fn least_prb(&self) -> u16 {
        self.radio.gnb().map_or(1, |gnb| gnb.least_prb)
    }

    /// Returns the resources of a slot with all symbols for one direction.
    pub fn whole_slot(&self, carrier: CarrierId, direction: Direction) -> FreeResources {
        FreeResources {
            prb: self.scheduled_prb(carrier),
            unscheduled_prb: 0,
            symbols: self.symbols(
                self.radio.carriers[carrier.0].prb,
                SlotKind::Paired,
                direction,
            ),
        }
    }

    /// Returns the allocation of a whole slot to one UE.
    pub fn whole_carrier(
        &self,
        carrier: CarrierId,
        direction: Direction,
        layers: u8,
    ) -> Allocation {
        self.whole_slot(carrier, direction).for_layers(layers)
    }

    /// Returns the bytes of a block that has this allocation.
    pub fn block_bytes(&self, mcs: u8, allocation: Allocation) -> u32 {
        transport_block_bits(self.schemes.get(mcs), allocation) / 8
    }

    /// Returns the fewest PRBs of the allocation whose block holds `bytes`; all if none does.
    pub fn narrowest(&self, mcs: u8, allocation: Allocation, bytes: u64) -> Allocation {
        if u64::from(self.block_bytes(mcs, allocation)) < bytes {
            return allocation; // as under load in most slots
        }
        let (mut low, mut high) = (self.least_prb().min(allocation.prb), allocation.prb);
        while low < high {
            let middle = (low + high) / 2;
            if u64::from(self.block_bytes(mcs, allocation.with_prb(middle))) >= bytes {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        allocation.with_prb(high)
    }

    /// Returns the IP bytes in `block_bytes` bytes of a block that is full of packets of the MTU.
    pub fn ip_bytes(&self, block_bytes: f64) -> f64 {
        ip_bytes_of(block_bytes, self.mtu_bytes)
    }

    /// Returns the capacity of a slot that was not used: its block times the probability that it arrives.
    pub fn expected(&self, mcs: u8, allocation: Allocation, sinr_db: f64) -> Capacity {
        let bytes = self.block_bytes(mcs, allocation);
        let failing = self.schemes.block_error_ratio(mcs, bytes, sinr_db);
        Capacity {
            bytes: f64::from(bytes) * (1.0 - failing),
            sdu_bytes: self.ip_bytes(f64::from(bytes)) * (1.0 - failing),
        }
    }
}
