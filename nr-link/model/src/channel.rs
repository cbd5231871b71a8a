// SPDX-License-Identifier: Apache-2.0
//! The radio channel of a scenario, as one UE observes it over time.
//!
//! Three parts determine the received signal, each in its own module: the large-scale level
//! (distance, shadowing, blockage: `large_scale`), small-scale fading (multipath: `fading`), and
//! noise. All three are periodic with the scenario, so that it repeats without a discontinuity, and
//! are drawn once from a seed. An observation is thus a pure function of scenario, grid, seed and
//! time.
//!
//! RSRP is a measurement: the power over the 20 PRBs of the SSB, sampled every 20 ms and filtered
//! by layer 3 of the UE. The SINR is the exact instantaneous value of each group of PRBs.

mod beams;
mod cells;
mod fading;
mod large_scale;
mod odometer;
mod path_loss;
mod phasor;
mod propagation;
mod random_streams;
mod ray;
mod rsrp;
mod tap_table;
mod tdl;
mod time_grid;
mod tr38901;

use std::sync::Arc;

use crate::Nanos;
use crate::problem::{Problem, violation};
use crate::radio::Grid;
use crate::radio::decibel::{from_ratio, to_ratio};
use crate::scenario::{CarrierRange, Radio, Scenario};
use beams::{Beam, Common};
use fading::{Moment, Multipath};
use odometer::Odometer;
pub use propagation::{Path, Propagation};
use random_streams::Streams;
use time_grid::TimeGrid;

/// The lowest RSRP that a UE can report (TS 38.133 table 10.1.6.1-1).
const NO_SIGNAL_DBM: f64 = -156.0;
/// Far below the threshold of any MCS.
const LOWEST_SINR_DB: f32 = -60.0;

/// The longest distance: six hours at 463 m/s. Beyond it the phases of the waves lose precision.
const LONGEST_DISTANCE_M: f64 = 1e7;

/// Returns the PRBs of a subband: the smaller sizes of TS 38.214 table 5.2.1.4-2.
const fn subband_prb(prb: u16) -> usize {
    match prb {
        0..=72 => 4,
        73..=144 => 8,
        _ => 16,
    }
}

/// The channel that a UE observes at one time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// SS-RSRP as the UE would report it, dBm per resource element.
    pub rsrp_dbm: f64,
    /// Instantaneous downlink SINR, dB, of groups of PRBs of equal width across the carrier, lowest
    /// frequency first.
    pub sinr_db: Vec<f32>,
    /// Path loss as the UE estimates it for power control, dB: the power of the SSB less RSRP (TS
    /// 38.213 clause 7.1.1).
    pub path_loss_db: f64,
    /// Instantaneous path loss, dB, averaged over the carrier. It includes blockage and fading that
    /// the filtered RSRP does not show yet.
    pub instant_loss_db: f64,
}

/// A radio channel between one gNB and one UE.
#[derive(Debug, Clone)]
pub struct Channel {
    ticks: TimeGrid,
    odometer: Arc<Odometer>,
    /// The strongest beam, and candidates for when it is blocked.
    beams: Arc<[Beam]>,
    /// The index of the beam that is observed.
    beam: usize,
    multipath: Arc<Multipath>,
    ss_pbch_block_power_dbm: f64,
    evm_power: f64,
    carrier_hz: f64,
    individual_offset_db: f64,
}

impl Channel {
    /// Makes the channel of `scenario` on the carrier of `grid`, drawn from `seed`.
    ///
    /// # Errors
    /// The scenario has no radio channel, or its geometry is outside the range of TR 38.901 for
    /// this carrier.
    pub fn new(scenario: &Scenario, grid: &Grid, seed: u64) -> Result<Self, Problem> {
        Self::of(scenario, grid, Streams::new(seed))
    }

    /// Makes the channels of one UE on all component carriers, the primary one first. They share
    /// the UE's movement and the draw of shadowing; fading is independent. Carriers with the
    /// frequency and subcarrier spacing of the primary one also share its level, noise and RSRP.
    ///
    /// # Errors
    /// As [`Channel::new`].
    pub fn on_carriers(
        scenario: &Scenario,
        grids: &[Grid],
        seed: u64,
    ) -> Result<Vec<Self>, Problem> {
        Self::with_streams(scenario, grids, Streams::new(seed))
    }

    fn with_streams(
        scenario: &Scenario,
        grids: &[Grid],
        streams: Streams,
    ) -> Result<Vec<Self>, Problem> {
        let mut channels: Vec<Self> = Vec::with_capacity(grids.len());
        for (grid, carrier) in grids.iter().zip(0..) {
            let streams = streams.on_carrier(carrier);
            channels.push(match channels.first() {
                Some(primary) if grid.has_levels_of(&grids[0]) => {
                    primary.with_own_fading(scenario, grid, &streams)
                }
                _ => Self::of(scenario, grid, streams)?,
            });
        }
        Ok(channels)
    }

    /// Makes the channels between `pairs` pairs of a gNB's and a UE's antennas. They share everything but fading, which is
    /// independent; that of the first pair is [`Channel::new`]'s. Taps read from a file are those of every pair.
    ///
    /// # Errors
    /// As [`Channel::new`]; the scenario has several cells.
    pub fn on_antennas(
        scenario: &Scenario,
        grid: &Grid,
        seed: u64,
        pairs: u64,
    ) -> Result<Vec<Self>, Problem> {
        if scenario.cells().len() > 1 {
            return Err(violation!(
                "the scenario has several cells, and the channel of samples has one",
                "Choose a scenario with one cell"
            )
            .at_key("radio.cells"));
        }
        let first = Self::new(scenario, grid, seed)?;
        let streams = Streams::new(seed);
        let others = (1..pairs)
            .map(|pair| first.with_own_fading(scenario, grid, &streams.on_antennas(pair)));
        Ok(std::iter::once(first.clone()).chain(others).collect())
    }

    /// Makes the channel of another carrier or pair of antennas that differs in fading only.
    fn with_own_fading(&self, scenario: &Scenario, grid: &Grid, streams: &Streams) -> Self {
        let fading = scenario
            .radio
            .as_ref()
            .and_then(|radio| radio.fading.as_ref());
        let multipath = Multipath::new(fading, grid, &self.ticks, self.odometer.loop_m(), streams);
        Self {
            multipath: Arc::new(multipath),
            ..self.clone()
        }
    }

    fn of(scenario: &Scenario, grid: &Grid, streams: Streams) -> Result<Self, Problem> {
        let Some(radio) = &scenario.radio else {
            return Err(violation!(
                "the scenario has capacity and no radio channel",
                "Choose a scenario with radio"
            )
            .at_key("radio"));
        };
        check_loaded(radio)?;
        check_carrier(radio, grid)?;
        let ticks = TimeGrid::new(scenario.duration_s.get(), scenario.at_end);
        let odometer = Arc::new(Odometer::new(radio.mobility.as_ref(), &ticks, &streams));
        check_distance(&odometer)?;
        let multipath = Arc::new(Multipath::new(
            radio.fading.as_ref(),
            grid,
            &ticks,
            odometer.loop_m(),
            &streams,
        ));
        let common = Common {
            radio,
            grid,
            ticks: &ticks,
            odometer: &odometer,
            streams: &streams,
            multipath: &multipath,
        };
        let beams = common.beams()?;
        Ok(Self {
            beams: beams.into(),
            beam: 0,
            ticks,
            odometer,
            multipath,
            ss_pbch_block_power_dbm: radio.ss_pbch_block_power_dbm.get(),
            evm_power: radio
                .tx_evm_percent
                .map_or(0.0, |evm| (evm.get() / 100.0).powi(2)),
            carrier_hz: grid.carrier_hz,
            individual_offset_db: 0.0,
        })
    }

    /// Returns the number of beams; without candidates 1.
    pub fn beams(&self) -> usize {
        self.beams.len()
    }

    /// Returns the beam that is observed.
    pub fn beam(&self) -> usize {
        self.beam
    }

    /// Observes this beam from now on.
    pub fn use_beam(&mut self, beam: usize) {
        self.beam = beam;
    }

    /// Returns the beam whose SSB is strongest at `t` without fading; of equal ones, the first.
    pub fn strongest_beam(&self, t: Nanos) -> usize {
        let level_dbm = |beam: &usize| self.beam_levels(*beam, t).0;
        let beams = (0..self.beams()).rev();
        beams
            .max_by(|a, b| level_dbm(a).total_cmp(&level_dbm(b)))
            .unwrap_or(0)
    }

    /// Returns RSRP and SINR of a beam at `t` without fading, dBm and dB, as an average over the SSBs of one burst.
    pub fn beam_levels(&self, beam: usize, t: Nanos) -> (f64, f64) {
        let Some(position) = self.ticks.position(t) else {
            return (NO_SIGNAL_DBM, LOWEST_SINR_DB.into());
        };
        let levels = &self.beams[beam].levels;
        let signal_dbm = levels.signal_dbm(position);
        (signal_dbm, signal_dbm - levels.noise_dbm(position))
    }

    /// Observes the channel at `t` after the start of the scenario. Takes about a microsecond.
    pub fn observe(&self, t: Nanos, seen: &mut Observation) {
        match self.ticks.position(t) {
            Some(position) => self.observe_at(position, seen),
            None => self.observe_no_signal(seen),
        }
        seen.path_loss_db = self.ss_pbch_block_power_dbm - seen.rsrp_dbm;
    }

    /// Returns noise and interference at the gNB at `t`, dBm per resource element. They continue
    /// after the scenario ends.
    pub fn noise_ul_dbm_per_re(&self, t: Nanos) -> f64 {
        let position = self.ticks.position(t).unwrap_or(self.ticks.last());
        self.served().levels.noise_ul_dbm(position)
    }

    /// Returns the centre frequency, Hz.
    pub(crate) fn carrier_hz(&self) -> f64 {
        self.carrier_hz
    }

    /// Returns the received power without fading at each tick, dBm per resource element. Cells of one scenario have the same
    /// ticks.
    pub(crate) fn levels_dbm(&self) -> &[f32] {
        self.served().levels.signals_dbm()
    }

    /// Returns cellIndividualOffset of the cell, dB.
    pub(crate) fn individual_offset_db(&self) -> f64 {
        self.individual_offset_db
    }

    /// Returns whether another cell's carrier has the same frequency.
    pub(crate) fn shares_frequency(&self, other: &Self) -> bool {
        self.carrier_hz == other.carrier_hz
    }

    /// Returns the power of the strongest beam's SSB at `t`, unfiltered, dBm per resource element: "the highest beam
    /// measurement quantity value" (TS 38.331 clause 5.5.3.3).
    pub(crate) fn ssb_rsrp_dbm(&self, t: Nanos) -> f64 {
        let Some(position) = self.ticks.position(t) else {
            return NO_SIGNAL_DBM;
        };
        let faded = self.multipath.ssb_power(self.moment(position));
        let beams = self.beams.iter();
        let levels_dbm = beams.map(|beam| beam.levels.signal_dbm(position));
        let strongest_dbm = levels_dbm.fold(f64::NEG_INFINITY, f64::max);
        (strongest_dbm + from_ratio(faded)).max(NO_SIGNAL_DBM)
    }

    /// Adds the power that is received at `t` in each group of PRBs that is `active`, mW per resource element.
    pub(crate) fn add_received_mw(
        &self,
        t: Nanos,
        received_mw: &mut [f64],
        active: impl Fn(usize) -> bool,
    ) {
        let Some(position) = self.ticks.position(t) else {
            return;
        };
        let signal_mw = to_ratio(self.served().levels.signal_dbm(position));
        let mut group = 0;
        self.multipath.each_group(self.moment(position), |power| {
            if active(group) {
                received_mw[group] += signal_mw * power;
            }
            group += 1;
        });
    }

    /// Adds interference to what was observed at `t`; powers are those in each group of PRBs. At a strong `signal_mw` the SINR is that
    /// of the transmitter's errors, and not that of the noise.
    pub(crate) fn add_interference(
        &self,
        t: Nanos,
        signal_mw: &[f64],
        interference_mw: &[f64],
        seen: &mut Observation,
    ) {
        let Some(position) = self.ticks.position(t) else {
            return;
        };
        let noise_mw = to_ratio(self.served().levels.noise_dbm(position));
        let powers = signal_mw.iter().zip(interference_mw);
        for (sinr_db, (signal_mw, interference_mw)) in seen.sinr_db.iter_mut().zip(powers) {
            let disturbed_mw = noise_mw + interference_mw + self.evm_power * signal_mw;
            *sinr_db = (from_ratio(signal_mw / disturbed_mw) as f32).max(LOWEST_SINR_DB);
        }
    }

    /// Returns the beam that is observed.
    fn served(&self) -> &Beam {
        &self.beams[self.beam]
    }

    fn moment(&self, position: time_grid::GridPosition) -> Moment {
        Moment {
            t_s: position.t_s,
            distance_m: self.odometer.distance_m(position.t_s),
        }
    }

    fn observe_at(&self, position: time_grid::GridPosition, seen: &mut Observation) {
        let beam = self.served();
        let levels = &beam.levels;
        let signal_dbm = levels.signal_dbm(position);
        let snr = to_ratio(signal_dbm - levels.noise_dbm(position));
        let moment = self.moment(position);
        seen.rsrp_dbm = beam.rsrp_dbm(position);
        seen.sinr_db.clear();
        let mut sum = 0.0;
        self.multipath.each_group(moment, |power| {
            sum += power;
            let signal = snr * power;
            let sinr = signal / (1.0 + self.evm_power * signal);
            seen.sinr_db
                .push((from_ratio(sinr) as f32).max(LOWEST_SINR_DB));
        });
        let received_dbm = signal_dbm + from_ratio(sum / self.multipath.groups() as f64);
        seen.instant_loss_db = self.ss_pbch_block_power_dbm - received_dbm.max(NO_SIGNAL_DBM);
    }

    fn observe_no_signal(&self, seen: &mut Observation) {
        seen.rsrp_dbm = NO_SIGNAL_DBM;
        seen.instant_loss_db = self.ss_pbch_block_power_dbm - NO_SIGNAL_DBM;
        seen.sinr_db.clear();
        seen.sinr_db.resize(self.multipath.groups(), LOWEST_SINR_DB);
    }
}

fn check_loaded(radio: &Radio) -> Result<(), Problem> {
    if radio.is_loaded() {
        Ok(())
    } else {
        Err(violation!(
            "a series lies in a file that was not read",
            "Load the scenario from its file"
        )
        .at_key("radio"))
    }
}

fn check_carrier(radio: &Radio, grid: &Grid) -> Result<(), Problem> {
    let ghz = grid.carrier_hz / 1e9;
    match radio.carrier_ghz {
        Some(CarrierRange { min, max }) if !(min.get()..=max.get()).contains(&ghz) => {
            let (min, max) = (min.get(), max.get());
            Err(violation!(
                "the scenario is for carriers of {min} to {max} GHz, not of {ghz} GHz",
                "Set the link's radio.carrier_ghz to {min} to {max}"
            )
            .at_key("radio.carrier_ghz"))
        }
        _ => Ok(()),
    }
}

fn check_distance(odometer: &Odometer) -> Result<(), Problem> {
    let loop_m = odometer.loop_m();
    if loop_m <= LONGEST_DISTANCE_M {
        return Ok(());
    }
    Err(violation!(
        "the UE moves {loop_m:.0} m until the scenario ends, which is more than {LONGEST_DISTANCE_M} m",
        "Reduce its speed, or use a shorter part that loops"
    )
    .at_key("radio.mobility"))
}

fn wavelength_m(grid: &Grid) -> f64 {
    299_792_458.0 / grid.carrier_hz
}
