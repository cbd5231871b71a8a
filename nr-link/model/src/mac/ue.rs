// SPDX-License-Identifier: Apache-2.0
//! The state of one UE at the gNB and at the UE itself.

use super::activity::{Activity, Change};
use super::beams::{Beams, Measured};
use super::bearer::Bearer;
use super::cell::Cell;
use super::drx::Drx;
use super::grants::BufferStatus;
use super::lte_leg::Legs;
use super::power::Power;
use super::report::Report;
use super::rrc_state::RrcState;
use super::serving::Serving;
use super::surroundings::Surroundings;
use crate::Direction;
use crate::channel::Channel;
use crate::config::{PerDirection, RadioConfig, ResolvedConfig};
use crate::delays::Part;
use crate::ids::{CarrierId, CellId, UeId};
use crate::radio_events::EventKind;
use crate::rlc::Buffer;
use crate::rrc::Service;
use crate::scenario::Leg;
use crate::time::Nanos;

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
    /// `None`: the UE is connected and monitors the PDCCH at all times.
    pub activity: Option<Activity>,
    /// The beam that serves the UE; `None` without candidates.
    pub beams: Option<Box<Beams>>,
    /// The legs of EN-DC; `None`: NR serves the UE at all times.
    pub legs: Option<Box<Legs>>,
}

impl<T> Ue<T> {
    /// Makes a UE with its channels: to each cell, on each component carrier. Cell 0 serves it.
    pub fn new(
        id: UeId,
        config: &ResolvedConfig,
        radio: &RadioConfig,
        channels: Vec<Vec<Channel>>,
    ) -> Self {
        let has_beams = channels.iter().flatten().any(|channel| channel.beams() > 1);
        let slot = radio.carriers[0].numerology.slot_ns();
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
            buffer_status: BufferStatus::new(radio),
            gauges: Gauges::default(),
            activity: Activity::new(radio, id.rnti()),
            beams: has_beams.then(|| Box::new(Beams::new(radio.beams, slot))),
            legs: None,
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

    /// Returns whether the serving beam has not failed.
    pub fn has_beam(&self) -> bool {
        self.beams.as_deref().is_none_or(Beams::serves)
    }

    /// Runs beam management and recovery up to a slot that starts at `now`; returns what happened. A UE that is not
    /// connected has none.
    pub fn change_beam(&mut self, now: Nanos) -> Option<EventKind> {
        let cell = self.cell.filter(|_| self.is_connected())?;
        let beams = self.beams.as_deref_mut()?;
        let channel = &self.serving[0].channel;
        let measured = beams.measures(now).then(|| {
            let own = beams.serving();
            let (rsrp_dbm, sinr_db) = channel.beam_levels(own, now);
            let others = (0..channel.beams()).filter(|&beam| beam != own);
            let others = others.map(|beam| (beam, channel.beam_levels(beam, now).0));
            Measured {
                sinr_db,
                rsrp_dbm,
                best: others.max_by(|a, b| a.1.total_cmp(&b.1)),
            }
        });
        let event = beams.advance(now, measured)?;
        let beam = beams.serving();
        self.use_beam(cell, beam);
        Some(event)
    }

    fn use_beam(&mut self, cell: CellId, beam: usize) {
        for serving in &mut self.serving {
            serving.channel.use_beam(beam);
        }
        self.surroundings.use_beam(cell, beam);
    }

    /// Returns how the network serves the UE.
    pub fn service(&self) -> Service {
        let state = self.activity.as_ref().map(Activity::state);
        match state.unwrap_or(RrcState::Connected) {
            RrcState::Connected if self.is_on_nr() => Service::Active,
            RrcState::Inactive => Service::Suspended,
            RrcState::Connected | RrcState::Idle => Service::Released,
        }
    }

    /// Returns whether the UE is in RRC_CONNECTED.
    pub fn is_connected(&self) -> bool {
        self.activity.as_ref().is_none_or(Activity::is_connected)
    }

    /// Returns whether NR serves the UE.
    pub fn is_on_nr(&self) -> bool {
        let serving = |legs: &Legs| legs.serving() == Some(Leg::Nr);
        self.legs.as_deref().is_none_or(serving)
    }

    /// Returns whether the UE is connected over NR and has a beam.
    pub fn is_served(&self) -> bool {
        self.is_connected() && self.is_on_nr() && self.has_beam()
    }

    /// Returns whether the UE monitors the PDCCH in a slot that starts at `now`.
    pub fn listens(&self, now: Nanos) -> bool {
        let listens = |activity: &Activity| activity.listens(now);
        self.is_served() && self.activity.as_ref().is_none_or(listens)
    }

    /// Returns why packets wait while NR does not serve the UE in a slot that starts at `now`; `None` if it does.
    pub fn absence(&self, now: Nanos) -> Option<Part> {
        let leg = self.legs.as_deref().map(Legs::serving);
        match leg {
            _ if self.cell.is_none() || !self.has_beam() => Some(Part::Handover),
            Some(None) => Some(Part::Handover),
            Some(Some(Leg::Lte)) if self.is_connected() => Some(Part::Service),
            _ => (!self.listens(now)).then_some(Part::Sleep),
        }
    }

    /// Returns the DRX timers, if the UE has DRX.
    pub fn drx(&mut self) -> Option<&mut Drx> {
        self.activity.as_mut().and_then(Activity::drx)
    }

    /// Ends RLC's wait for gaps whose timer has expired by `now`, in slots of any kind: a receiver's timers do not depend on what
    /// it is scheduled (TS 38.322 clause 5.2.2.2.4, TS 38.323 clause 5.2.2.3). Returns whether packets may leave.
    pub fn expire(&mut self, now: Nanos) -> bool {
        // Both, whatever the first one returns.
        self.dl.rlc.expire(now) | self.ul.rlc.expire(now)
    }

    /// Runs timers of RLC, DRX and RRC up to a slot that starts at `now`; calls `log` with what changed, and when. `moves`:
    /// the gNB keeps the UE connected, as it hands it over. Returns whether it released the UE to RRC_IDLE.
    pub fn act(
        &mut self,
        now: Nanos,
        moves: bool,
        mut log: impl FnMut(Nanos, UeId, CellId, Change),
    ) -> bool {
        self.dl.rlc.advance(now);
        self.ul.rlc.advance(now);
        let (Some(activity), Some(cell)) = (&mut self.activity, self.cell) else {
            return false;
        };
        let waiting = PerDirection {
            dl: moves || !self.dl.rlc.is_idle(),
            ul: !self.ul.rlc.is_idle(),
        };
        let before = activity.state();
        activity.advance(now, waiting, |at, change| log(at, self.id, cell, change));
        activity.state() == RrcState::Idle && before != RrcState::Idle
    }

    /// Ends the connection at `now` (TS 38.331 clause 5.3.11): "reset MAC", and "release of the RLC entity, ... and the
    /// associated PDCP entity".
    pub fn release(&mut self, radio: &RadioConfig, now: Nanos) {
        self.reset_mac(radio);
        self.dl.rlc.establish(now);
        self.ul.rlc.establish(now);
    }

    /// Resets MAC on all carriers: blocks in transmission are gone, and the gNB knows neither the channel nor of data.
    pub fn reset_mac(&mut self, radio: &RadioConfig) {
        for serving in &mut self.serving {
            serving.reset_mac(radio);
        }
        self.buffer_status = BufferStatus::new(radio);
    }

    /// Measures the channels in slots of the CSI period. "[If not in Active Time] not report CSI on PUCCH" (TS 38.321 clause
    /// 5.7); but a new connection begins with a report, since the UE has DRX from the RRCReconfiguration on.
    pub fn measure(&mut self, cell: &Cell, now: Nanos, tick: u64) {
        let Some(own) = self.cell else { return };
        let (listens, is_served) = (self.listens(now), self.is_served());
        for (carrier, serving) in self.serving.iter_mut().enumerate() {
            let reports = listens || is_served && serving.csi.lacks_report();
            let disturb = |t, seen: &mut _| {
                self.surroundings
                    .interfere(own, CarrierId(carrier), t, seen);
            };
            let measured = serving.measure(cell, tick, reports, disturb);
            if let Some(report) = measured.filter(|_| carrier == 0) {
                self.gauges.add(cell, &report);
            }
        }
    }

    /// Ends the service by a cell: what was in transmission is gone, and the gNB knows of no data.
    pub fn leave(&mut self, radio: &RadioConfig) {
        if let Some(cell) = self.cell.take() {
            self.surroundings.use_beam(cell, 0); // a neighbour from now on
            self.start_over(radio, cell);
        }
    }

    /// Begins the service by a cell at `now`, over the beam by which the UE entered it.
    pub fn join(&mut self, radio: &RadioConfig, cell: CellId, now: Nanos) {
        self.camp(radio, cell);
        self.enter_cell(now);
    }

    /// Camps on a cell, which does not serve the UE.
    pub fn camp(&mut self, radio: &RadioConfig, cell: CellId) {
        self.start_over(radio, cell);
        self.cell = Some(cell);
    }

    /// Is served again by its cell from `now` on.
    pub fn resume(&mut self, now: Nanos) {
        if let Some(cell) = self.cell {
            let beam = self.surroundings.aim(cell, now);
            self.use_beam(cell, beam);
            self.enter_cell(now);
        }
    }

    fn enter_cell(&mut self, now: Nanos) {
        if let Some(activity) = &mut self.activity {
            activity.enter_cell(now);
        }
        let beam = self.primary().channel.beam();
        if let Some(beams) = &mut self.beams {
            beams.enter_cell(beam);
        }
    }

    fn start_over(&mut self, radio: &RadioConfig, cell: CellId) {
        let channels = self.surroundings.channels(cell);
        for (serving, channel) in self.serving.iter_mut().zip(channels) {
            serving.reset(radio, channel.clone());
        }
        self.buffer_status = BufferStatus::new(radio);
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
