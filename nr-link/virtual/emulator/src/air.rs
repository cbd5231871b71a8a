// SPDX-License-Identifier: Apache-2.0
//! The channel of a scenario between a gNB and its UEs, as impulse responses between samples.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nr_link_model::channel::{Channel, Observation, Propagation};
use nr_link_model::radio::decibel::{from_ratio, to_ratio};
use num_complex::Complex64;

use crate::fractional::{Fractional, LEAD, LENGTH};
use crate::{Impulses, Response, STEP};

/// Instants for which the taps are evaluated, per second; linear between them, they err by -40 dB at most at 360 Hz of Doppler.
const INSTANTS_A_SECOND: f64 = 8000.0;
/// Power of the rounding to integers, I and Q together.
const ROUNDING: f64 = 1.0 / 6.0;
const NANOSECONDS: f64 = 1e9;

/// When a scenario begins, for all that share it.
#[derive(Debug, Clone)]
pub struct Start(Arc<AtomicU64>);

impl Start {
    const NEVER: u64 = u64::MAX;

    /// Makes a start that has not come.
    pub fn never() -> Self {
        Self(Arc::new(AtomicU64::new(Self::NEVER)))
    }

    /// Has the scenario begin at a sample.
    pub fn begin(&self, at: u64) {
        self.0.store(at, Ordering::Release);
    }

    fn begun(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Acquire)).filter(|start| *start != Self::NEVER)
    }
}

/// The meaning of the modems' samples in power and frequency.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Samples a second.
    pub rate_hz: f64,
    /// Width of the carrier.
    pub occupied_hz: f64,
    /// Power of a resource element as it is sent, by an FFT that keeps power, in units of samples.
    pub element_power: f64,
    /// Gain before the scenario begins, while there is neither fading nor noise, dB.
    pub attach_gain_db: f64,
}

/// The power of UEs, which is controlled to a target at the gNB (TS 38.213 clause 7.1.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerControl {
    /// SNR at the gNB before fading, dB.
    pub target_snr_db: f64,
    /// Most power of a UE, P_CMAX, over the whole carrier, dBm per resource element.
    pub most_dbm: f64,
}

/// The direction of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Direction {
    /// The gNB sends to a UE.
    Downlink,
    /// UEs send to the gNB; without control of their power, each with the SNR of its downlink.
    Uplink(Option<PowerControl>),
}

/// The channel of one UE at one time.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Time since the scenario began, s.
    pub radio_s: f64,
    /// SS-RSRP as the scenario has it, dBm.
    pub rsrp_dbm: f64,
    /// SINR of the carrier's mean power at the receiver, dB.
    pub snr_db: f64,
    /// Gain of the samples before fading, dB.
    pub gain_db: f64,
    /// Noise that was added, dB of units of samples; none: not finite.
    pub noise_db: f64,
    /// Delay in ns and gain of each path.
    pub paths: Vec<(f64, Complex64)>,
}

/// The channel between a gNB and UEs in one direction.
#[derive(Debug, Clone)]
pub struct Air {
    /// The channels of each UE: those of the gNB's first antenna to each of the UE's, then those of its second.
    ues: Vec<Vec<Channel>>,
    gnb_antennas: usize,
    direction: Direction,
    scale: Scale,
    fractional: Fractional,
    longest: usize,
    interval: u64,
    start: Start,
}

impl Air {
    /// Makes the way from the gNB to a UE, or from UEs to it. Until `start` has come there
    /// is only the attaching's gain.
    pub fn new(
        ues: Vec<Vec<Channel>>,
        gnb_antennas: usize,
        direction: Direction,
        scale: Scale,
        start: Start,
    ) -> Self {
        let delays_s = ues.iter().flatten().map(Channel::longest_delay_s);
        let delay_samples = delays_s.fold(0.0, f64::max) * scale.rate_hz;
        let steps = (scale.rate_hz / INSTANTS_A_SECOND / STEP as f64).floor();
        Self {
            ues,
            gnb_antennas,
            direction,
            fractional: Fractional::new(scale.occupied_hz / scale.rate_hz),
            longest: delay_samples.ceil() as usize + LENGTH,
            interval: steps.max(1.0) as u64 * STEP as u64,
            start,
            scale,
        }
    }

    /// Returns the time of a sample since the scenario began, ns.
    fn time(&self, at: u64, start: u64) -> u64 {
        (at.saturating_sub(start) as f64 * (NANOSECONDS / self.scale.rate_hz)).round() as u64
    }

    /// Returns the power of the noise, in units of samples, for what is received with the SNR `snr_db` before fading. Samples
    /// keep their size, as behind a receiver's gain control.
    fn noise_power(&self, seen: &Propagation, snr_db: f64) -> f64 {
        let fading: f64 = seen.paths.iter().map(|path| path.gain.norm_sqr()).sum();
        let noise = self.scale.element_power * (to_ratio(-snr_db) + seen.evm_power * fading);
        (noise - ROUNDING).max(0.0)
    }

    /// Returns the SNR before fading at `t` of what a UE receives or the gNB receives from it, dB.
    fn snr_db(&self, channel: &Channel, seen: &Propagation, t: u64) -> f64 {
        let of_downlink = seen.signal_dbm - seen.noise_dbm;
        match self.direction {
            Direction::Downlink | Direction::Uplink(None) => of_downlink,
            Direction::Uplink(Some(control)) => {
                let mut observation = Observation::default();
                channel.observe(t, &mut observation);
                let loss_db = observation.path_loss_db;
                let most_db = control.most_dbm - loss_db - channel.noise_ul_dbm_per_re(t);
                control.target_snr_db.min(most_db)
            }
        }
    }

    /// Returns the channel of each UE at a sample after the scenario's begin.
    pub fn states(&self, at: u64) -> Vec<State> {
        let Some(start) = self.start.begun() else {
            return Vec::new();
        };
        let t = self.time(at, start);
        let mut observation = Observation::default();
        let (all, strongest) = self.seen(t);
        let strongest_db = all[strongest].snr_db;
        let noise_power = self.noise_power(&all[strongest].paths[0], strongest_db);
        let states = self.ues.iter().zip(&all).map(|(channels, ue)| {
            let seen = &ue.paths[0];
            channels[0].observe(t, &mut observation);
            // What noise there is of the downlink's SINR is as much more or less as the SNR says.
            let noise = to_ratio(seen.signal_dbm - seen.noise_dbm - ue.snr_db);
            let sinr = observation.sinr_db.iter().map(|&db| {
                let inverse = 1.0 / to_ratio(f64::from(db));
                1.0 / ((inverse - seen.evm_power).max(0.0) * noise + seen.evm_power)
            });
            let sinr = sinr.sum::<f64>() / observation.sinr_db.len() as f64;
            State {
                radio_s: t as f64 / NANOSECONDS,
                rsrp_dbm: seen.rsrp_dbm,
                snr_db: from_ratio(sinr),
                gain_db: ue.snr_db - strongest_db,
                noise_db: from_ratio(noise_power),
                paths: seen
                    .paths
                    .iter()
                    .map(|path| (path.delay_s * NANOSECONDS, path.gain))
                    .collect(),
            }
        });
        states.collect()
    }

    /// Returns the channel of all pairs of antennas of each UE at `t`, and the UE with the best SNR.
    fn seen(&self, t: u64) -> (Vec<Seen>, usize) {
        let each = |channels: &Vec<Channel>| {
            let paths: Vec<_> = channels.iter().map(|one| one.propagation(t)).collect();
            Seen {
                snr_db: self.snr_db(&channels[0], &paths[0], t),
                paths,
            }
        };
        let all: Vec<Seen> = self.ues.iter().map(each).collect();
        let strongest = (0..all.len()).max_by(|&a, &b| all[a].snr_db.total_cmp(&all[b].snr_db));
        (all, strongest.expect("there is a UE"))
    }

    /// Returns the share of the paths' mean energy that comes later than `delay_s` after the first path, over the first
    /// `duration_s` of the scenario.
    pub fn energy_after(&self, delay_s: f64, duration_s: f64) -> f64 {
        const INSTANTS: u64 = 1000;
        let (mut late, mut all) = (0.0, 0.0);
        for channel in self.ues.iter().map(|channels| &channels[0]) {
            for n in 0..INSTANTS {
                let t = duration_s * NANOSECONDS * n as f64 / INSTANTS as f64;
                let seen = channel.propagation(t as u64);
                let delays = seen.paths.iter().map(|path| path.delay_s);
                let first = delays.fold(f64::INFINITY, f64::min);
                for path in &seen.paths {
                    let energy = path.gain.norm_sqr();
                    all += energy;
                    late += if path.delay_s - first > delay_s {
                        energy
                    } else {
                        0.0
                    };
                }
            }
        }
        if all > 0.0 { late / all } else { 0.0 }
    }

    /// Adds the paths to an impulse response.
    fn add_paths(&self, seen: &Propagation, gain: f64, response: &mut [Complex64]) {
        for path in &seen.paths {
            let (whole, filter) = self.fractional.of(path.delay_s * self.scale.rate_hz);
            for (tap, coefficient) in response[whole..].iter_mut().zip(filter) {
                *tap += path.gain * (gain * coefficient);
            }
        }
    }

    /// Before the scenario begins: every antenna hears its counterpart.
    fn attaching(&self, seen: &mut Impulses) {
        let (transmitting, _) = self.antennas();
        let gain = to_ratio(self.scale.attach_gain_db).sqrt();
        for (pair, response) in seen.pairs.iter_mut().enumerate() {
            let (receiving, transmitting) = (pair / transmitting, pair % transmitting);
            if transmitting % self.own_antennas() == receiving {
                response[LEAD] = Complex64::new(gain, 0.0);
            }
        }
    }

    /// Returns the number of antennas of one transmitter.
    fn own_antennas(&self) -> usize {
        match self.direction {
            Direction::Uplink(_) => self.ue_antennas(),
            Direction::Downlink => self.gnb_antennas,
        }
    }

    fn ue_antennas(&self) -> usize {
        self.ues[0].len() / self.gnb_antennas
    }

    fn scenario(&self, t: u64, seen: &mut Impulses) {
        let (transmitting, _) = self.antennas();
        // A gNB has one noise for all UEs: the strongest keeps its size, and their SNRs are the gains of the others.
        let (all, strongest) = self.seen(t);
        let strongest = &all[strongest];
        seen.noise = (self.noise_power(&strongest.paths[0], strongest.snr_db) / 2.0).sqrt();
        for (pair, response) in seen.pairs.iter_mut().enumerate() {
            let (receiver, transmitter) = (pair / transmitting, pair % transmitting);
            let (ue, gnb_antenna, ue_antenna) = match self.direction {
                Direction::Uplink(_) => {
                    let own = self.own_antennas();
                    (transmitter / own, receiver, transmitter % own)
                }
                Direction::Downlink => (0, transmitter, receiver),
            };
            let of_pair = &all[ue].paths[gnb_antenna * self.ue_antennas() + ue_antenna];
            let gain = to_ratio(all[ue].snr_db - strongest.snr_db).sqrt();
            // Without fading, or with taps of a file, pairs are alike: two layers need one that is not.
            let sign = if gnb_antenna * ue_antenna == 1 {
                -1.0
            } else {
                1.0
            };
            self.add_paths(of_pair, sign * gain, response);
        }
    }
}

/// The channel of a UE at one time.
#[derive(Debug)]
struct Seen {
    /// Before fading, dB.
    snr_db: f64,
    /// The channel of each pair of antennas.
    paths: Vec<Propagation>,
}

impl Response for Air {
    fn antennas(&self) -> (usize, usize) {
        match self.direction {
            Direction::Uplink(_) => (self.ues.len() * self.ue_antennas(), self.gnb_antennas),
            Direction::Downlink => (self.gnb_antennas, self.ue_antennas()),
        }
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn interval(&self) -> u64 {
        self.interval
    }

    fn at(&self, at: u64, of: u64, seen: &mut Impulses) {
        let (transmitting, receiving) = self.antennas();
        seen.pairs.resize(transmitting * receiving, Vec::new());
        for response in &mut seen.pairs {
            response.clear();
            response.resize(self.longest + 1, Complex64::ZERO);
        }
        seen.noise = 0.0;
        match self.start.begun() {
            Some(start) if of >= start => self.scenario(self.time(at, start), seen),
            _ => self.attaching(seen),
        }
    }

    fn noise_time(&self, at: u64) -> Option<u64> {
        at.checked_sub(self.start.begun()?)
    }
}
