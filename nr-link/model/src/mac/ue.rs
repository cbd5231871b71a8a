// SPDX-License-Identifier: Apache-2.0
//! The state of one UE at the gNB and at the UE itself.

use super::bearer::Bearer;
use super::cell::Cell;
use super::grants::BufferStatus;
use super::power::Power;
use super::report::Report;
use super::serving::Serving;
use super::surroundings::Surroundings;
use crate::Direction;
use crate::channel::Channel;
use crate::config::{RadioConfig, ResolvedConfig};
use crate::ids::{CarrierId, CellId, UeId};
use crate::rlc::Buffer;

/// Measurements of the sample interval, and the last reports.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gauges {
    pub rsrp_dbm: Mean,
    pub sinr_db: Mean,
    pub ul_snr_db: Mean,
    pub rssi_dbm: Mean,
    /// Number of measurements since the start.
    pub measurements: u64,
    pub headroom_db: Option<f64>,
}

impl Gauges {
    /// Adds a report of the primary carrier.
    fn add(&mut self, cell: &Cell, report: &Report) {
        self.measurements += 1;
        self.rsrp_dbm.add(report.rsrp_dbm);
        self.sinr_db.add(report.sinr_db);
        // SRS over the whole carrier.
        let power = Power::of(cell.uplink, report, cell.radio.carriers[0].prb);
        let snr_db = power.expected_snr_db(report);
        self.ul_snr_db
            .add(cell.layers.ul.each_db(snr_db, report.rank.ul));
    }
}

/// A running mean.
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

#[derive(Debug)]
pub(crate) struct Ue<T> {
    pub id: UeId,
    pub dl: Bearer<T>,
    pub ul: Bearer<T>,
    /// One for each component carrier, the primary one first.
    pub serving: Vec<Serving>,
    pub buffer_status: BufferStatus,
    pub gauges: Gauges,
    /// The cell that serves the UE; `None` while none does.
    pub cell: Option<CellId>,
    pub surroundings: Surroundings,
}

impl<T> Ue<T> {
    /// Makes a UE with its channels: to each cell, on each component carrier. Cell 0 serves it.
    pub fn new(
        id: UeId,
        config: &ResolvedConfig,
        radio: &RadioConfig,
        channels: Vec<Vec<Channel>>,
    ) -> Self {
        let bearer = |direction| Bearer::new(Buffer::of(config, id, direction), radio.rlc);
        let serving =
            |(carrier, channel)| Serving::new(config.seed, id, CarrierId(carrier), radio, channel);
        let first = channels[0].clone().into_iter();
        let load = radio.neighbour_load;
        Self {
            id,
            cell: Some(CellId(0)),
            surroundings: Surroundings::new(channels, load, config.seed, id),
            dl: bearer(Direction::Downlink),
            ul: bearer(Direction::Uplink),
            serving: first.enumerate().map(serving).collect(),
            buffer_status: BufferStatus::new(radio.gnb()),
            gauges: Gauges::default(),
        }
    }

    /// Returns the state on the primary carrier.
    pub fn primary(&self) -> &Serving {
        &self.serving[0]
    }

    /// Returns whether a slot changes measurements and capacity only.
    pub fn is_idle(&self) -> bool {
        self.dl.rlc.is_idle()
            && self.ul.rlc.is_idle()
            && self.buffer_status.is_idle()
            && self.serving.iter().all(Serving::is_idle)
    }

    /// Measures the channels in slots of the CSI period.
    pub fn measure(&mut self, cell: &Cell, tick: u64) {
        let Some(own) = self.cell else { return };
        for (carrier, serving) in self.serving.iter_mut().enumerate() {
            let disturb = |t, seen: &mut _| {
                self.surroundings
                    .interfere(own, CarrierId(carrier), t, seen);
            };
            let measured = serving.measure(cell, tick, disturb);
            if let Some(report) = measured.filter(|_| carrier == 0) {
                self.gauges.add(cell, &report);
            }
        }
    }

    /// Ends the service by a cell: what was in transmission is gone, and the gNB knows of no data.
    pub fn leave(&mut self, radio: &RadioConfig) {
        if let Some(cell) = self.cell.take() {
            self.start_over(radio, cell);
        }
    }

    /// Begins the service by a cell.
    pub fn join(&mut self, radio: &RadioConfig, cell: CellId) {
        self.start_over(radio, cell);
        self.cell = Some(cell);
    }

    fn start_over(&mut self, radio: &RadioConfig, cell: CellId) {
        let channels = self.surroundings.channels(cell);
        for (serving, channel) in self.serving.iter_mut().zip(channels) {
            serving.reset(radio, channel.clone());
        }
        self.buffer_status = BufferStatus::new(radio.gnb());
    }

    /// Returns the gauges of the interval that ends, and starts new ones.
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
