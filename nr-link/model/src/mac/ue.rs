// SPDX-License-Identifier: Apache-2.0
//! One UE as the cell sees it.

use super::bearer::Bearer;
use super::cell::{Capacity, Cell, Room};
use super::csi::Csi;
use super::grants::BufferStatus;
use super::power::Power;
use crate::channel::{Channel, Observation};
use crate::config::{RadioConfig, ResolvedConfig};
use crate::random::{Purpose, Stream};
use crate::rlc::Buffer;
use crate::{Direction, Nanos};

/// What was measured in the interval, and the last reports.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gauges {
    pub rsrp_dbm: Mean,
    pub sinr_db: Mean,
    pub ul_snr_db: Mean,
    /// Since the start.
    pub measurements: u64,
    pub headroom_db: Option<f64>,
}

/// A mean in the making.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    pub fn get(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// What an idle slot would have carried, kept until what it depends on changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleCapacity {
    pub room: Room,
    pub versions: (u64, u64),
    pub capacity: Capacity,
}

#[derive(Debug)]
pub(crate) struct Ue<T> {
    pub index: usize,
    pub channel: Channel,
    pub csi: Csi,
    pub dl: Bearer<T>,
    pub ul: Bearer<T>,
    pub buffer_status: BufferStatus,
    pub gauges: Gauges,
    pub idle_dl: Option<IdleCapacity>,
    pub idle_ul: Option<IdleCapacity>,
    /// Kept, so that no slot allocates.
    pub seen: Observation,
}

impl<T> Ue<T> {
    pub fn new(
        index: usize,
        config: &ResolvedConfig,
        radio: &RadioConfig,
        channel: Channel,
    ) -> Self {
        let bearer = |direction: Direction| {
            let errors = Stream::new(config.seed, Purpose::BlockError, index, direction);
            let buffer = Buffer::of(config, index, direction);
            Bearer::new(buffer, radio.rlc, radio.link_adaptation, errors)
        };
        Self {
            index,
            channel,
            csi: Csi::new(
                radio.csi_period_slots,
                radio.csi_delay_slots,
                radio.layers.dl,
            ),
            dl: bearer(Direction::Downlink),
            ul: bearer(Direction::Uplink),
            buffer_status: BufferStatus::default(),
            gauges: Gauges::default(),
            idle_dl: None,
            idle_ul: None,
            seen: Observation::default(),
        }
    }

    /// Whether slots change nothing but measurements and capacity.
    pub fn is_idle(&self) -> bool {
        self.dl.is_idle() && self.ul.is_idle() && self.buffer_status.is_idle()
    }

    /// Measures the channel when it is time.
    pub fn measure(&mut self, cell: &Cell, slot: u64, start: Nanos) {
        let measured = self
            .csi
            .run(slot, start, &self.channel, &cell.cqi_table, &mut self.seen);
        if let Some(report) = measured {
            self.gauges.measurements += 1;
            self.gauges.rsrp_dbm.add(report.rsrp_dbm);
            self.gauges.sinr_db.add(report.sinr_db);
            // SRS over the whole carrier.
            let power = Power::of(cell.radio.uplink, &report, cell.radio.prb);
            let snr_db = power.expected_snr_db(&report, cell.layer_db(Direction::Uplink));
            self.gauges.ul_snr_db.add(snr_db);
        }
    }

    /// The gauges of the interval that ends.
    pub fn take_gauges(&mut self) -> Gauges {
        let Gauges {
            measurements,
            headroom_db,
            ..
        } = self.gauges;
        std::mem::replace(
            &mut self.gauges,
            Gauges {
                measurements,
                headroom_db,
                ..Gauges::default()
            },
        )
    }
}
