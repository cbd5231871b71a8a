// SPDX-License-Identifier: Apache-2.0
//! The channel of a scenario on the samples that pass: what rfsim's numbers mean, and what is kept of it.
//!
//! `docs/channel-emulator.md` says where the numbers come from.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use nr_link_channel_emulator::{
    Air, Direction, PowerControl, Receiver, Response, Sample, Scale, Start, State,
};
use nr_link_model::channel::Channel;
use nr_link_model::config::Carrier;
use nr_link_model::radio::decibel::from_ratio;
use nr_link_model::{ResolvedLink, Violation};
use nr_link_virtual_plan::radio::{self, PerUe};

use crate::sample_block::Block;

/// Amplitudes of a resource element as gNB and UE send it (OpenAirInterface's AMP).
const ELEMENT_AMPLITUDES: [f64; 2] = [519.0, 512.0];
/// The gain of OpenAirInterface's own channel model, with which modems are known to attach.
const ATTACH_GAIN_DB: f64 = 20.0;
/// Length of the normal cyclic prefix in subcarrier periods (TS 38.211 table 5.3.1-1: 144 of 2048).
const CYCLIC_PREFIX: f64 = 144.0 / 2048.0;
const SUBCARRIERS_PER_PRB: f64 = 12.0;
/// UEs for which the emulator was tried.
const MOST_UES: usize = 4;
/// The share of each antenna's samples that rfsim's receiver adds to those of its other antenna, where it has no channel model.
const RFSIM_CROSSTALK: f64 = 0.2;
/// The part of a scenario whose delays are looked at, s.
const EXAMINED_S: f64 = 600.0;
/// A row of the record each 10 ms of 30 kHz.
const SLOTS_A_ROW: u64 = 20;

/// Antennas of gNB and UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Antennas {
    gnb: usize,
    ue: usize,
}

impl FromStr for Antennas {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|count| (1..=2).contains(count));
        let numbers = text.split_once('x');
        let numbers = numbers.and_then(|(gnb, ue)| Some((number(gnb)?, number(ue)?)));
        let (gnb, ue) = numbers.ok_or("write antennas of gNB and UE, 1 or 2 each, such as 2x2")?;
        Ok(Self { gnb, ue })
    }
}

/// The UEs of a radio, and their antennas.
#[derive(Debug, Clone, Copy)]
pub struct Ues {
    pub count: usize,
    /// Antennas of the gNB and of each UE; `None`: any, as there is no channel.
    pub antennas: Option<(usize, usize)>,
}

/// The channel of a link's configuration, from which the ways of each connection are made.
#[derive(Debug)]
pub struct Emulation {
    cyclic_prefix_s: f64,
    seed: u64,
    start: Start,
    antennas: Antennas,
    /// The channel from the gNB to each UE.
    downlinks: PerUe<Air>,
    /// The channel from all UEs to the gNB.
    uplink: Air,
    record: Option<Record>,
}

impl Emulation {
    /// Loads the configuration and its scenario, for modems with `rate_hz` samples a second; `uplink_target_db`: the SNR to which the
    /// power of UEs is controlled.
    ///
    /// # Errors
    /// A file breaks a rule, or cannot be read or made; the scenario has no radio; the rate is too low for the carrier.
    pub fn load(
        link: &Path,
        antennas: Antennas,
        rate_hz: f64,
        uplink_target_db: Option<f64>,
        record: Option<PathBuf>,
    ) -> Result<Self> {
        let mut resolved = ResolvedLink::load(link)?;
        let pairs = antennas.gnb * antennas.ue;
        let ues = resolved.antenna_channels(pairs as u64)?;
        if ues.len() > MOST_UES {
            let rule = format!(
                "there are {} UEs, and the radio takes {MOST_UES}",
                ues.len()
            );
            let problem = Violation::new(rule, "Leave the others out").at_key("devices.ue");
            return Err(problem.or_in_file(link).into());
        }
        let seed = resolved
            .config
            .scenario_seed
            .unwrap_or(resolved.config.seed);
        let carrier: Carrier = resolved.config.radio()?.carriers[0].clone();
        let scs_hz = f64::from(carrier.numerology.scs_khz()) * 1e3;
        let occupied_hz = f64::from(carrier.prb) * SUBCARRIERS_PER_PRB * scs_hz;
        if occupied_hz > rate_hz {
            let rule = format!(
                "{} PRB need {} MS/s, and the modems have {} MS/s",
                carrier.prb,
                occupied_hz / 1e6,
                rate_hz / 1e6
            );
            let fix = "Correct radio.prb, or --slot-samples";
            return Err(Violation::new(rule, fix)
                .at_key("radio.prb")
                .or_in_file(link)
                .into());
        }
        let start = Start::never();
        let subcarriers = f64::from(carrier.prb) * SUBCARRIERS_PER_PRB;
        let pcmax_dbm = resolved.config.radio()?.uplink.pcmax_dbm;
        let control = uplink_target_db.map(|target_snr_db| PowerControl {
            target_snr_db,
            most_dbm: pcmax_dbm - from_ratio(subcarriers),
        });
        let air = |ues: PerUe<Vec<Channel>>, direction: Direction| {
            let uplink = direction != Direction::Downlink;
            let scale = Scale {
                rate_hz,
                occupied_hz,
                element_power: ELEMENT_AMPLITUDES[usize::from(uplink)].powi(2) / 2.0,
                attach_gain_db: ATTACH_GAIN_DB,
            };
            Air::new(ues, antennas.gnb, direction, scale, start.clone())
        };
        Ok(Self {
            record: record.map(Record::create).transpose()?,
            cyclic_prefix_s: CYCLIC_PREFIX / scs_hz,
            seed,
            antennas,
            downlinks: ues
                .iter()
                .map(|ue| air(vec![ue.clone()], Direction::Downlink))
                .collect(),
            uplink: air(ues, Direction::Uplink(control)),
            start,
        })
    }

    /// Returns the UEs that it has a channel for.
    pub fn ues(&self) -> Ues {
        Ues {
            count: self.downlinks.len(),
            antennas: Some((self.antennas.gnb, self.antennas.ue)),
        }
    }

    /// Returns the way from the gNB to a UE for a new connection.
    pub fn downlink(&self, ue: usize) -> Way {
        Way::over(self.downlinks[ue].clone(), self.noise_seed(ue, false))
    }

    /// Returns the way from all UEs to the gNB for a new connection.
    pub fn uplink(&self) -> Way {
        Way::over(self.uplink.clone(), self.noise_seed(0, true))
    }

    /// Returns the seed of a receiver's noise: each has noise of its own.
    fn noise_seed(&self, ue: usize, uplink: bool) -> u64 {
        let of_direction = self.seed.wrapping_mul(2).wrapping_add(u64::from(uplink));
        of_direction ^ (ue as u64) << 60
    }

    /// Returns the share of energy that comes later than the cyclic prefix.
    pub fn late_energy_ratio(&self) -> f64 {
        self.uplink.energy_after(self.cyclic_prefix_s, EXAMINED_S)
    }

    /// Has the scenario begin at a sample.
    pub fn begin(&self, at: u64) {
        self.start.begin(at);
    }

    /// Records the channel before a slot, which begins at sample `at` and hosts' time `utc_ns`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(&mut self, slot: u64, at: u64, utc_ns: i64) -> Result<()> {
        let Some(record) = &mut self.record else {
            return Ok(());
        };
        if !slot.is_multiple_of(SLOTS_A_ROW) {
            return Ok(());
        }
        let states = self.downlinks.iter().flat_map(|air| air.states(at));
        let states: PerUe<(State, State)> = states.zip(self.uplink.states(at)).collect();
        record.write(&states, utc_ns)
    }
}

/// The way of samples to one receiver.
#[derive(Debug)]
pub struct Way {
    receiver: Receiver<Air>,
    out: Vec<Sample>,
    processor_s: f64,
}

impl Way {
    fn over(air: Air, noise_seed: u64) -> Self {
        Self {
            receiver: Receiver::new(air, noise_seed),
            out: Vec::new(),
            processor_s: 0.0,
        }
    }

    /// Turns the samples of a block, of all transmit antennas, into those that are received.
    pub fn carry(&mut self, block: &Block) -> Block {
        let (_, receiving) = self.receiver.response().antennas();
        let began_s = processor_s();
        self.receiver
            .receive(block.first(), &block.values(), &mut self.out);
        if receiving == 2 {
            undo_crosstalk(&mut self.out);
        }
        let received = block.with(block.first(), receiving as u32, &self.out);
        self.processor_s += processor_s() - began_s;
        received
    }

    /// Returns the account until now.
    pub fn account(&self) -> radio::Channel {
        let account = self.receiver.account();
        let mean_db = |sum: f64| {
            let db = from_ratio(sum / account.samples as f64);
            Some(db).filter(|db| db.is_finite())
        };
        radio::Channel {
            samples: account.samples,
            saturated_samples: account.saturated_samples,
            limited_samples: account.limited_samples,
            missing_samples: account.missing_samples,
            mean_power_db: mean_db(account.power),
            mean_noise_db: mean_db(account.noise_power),
            processor_s: self.processor_s,
        }
    }
}

/// Turns the samples of two antennas into those that a receiver of rfsim turns back: it adds to each a share of the other.
fn undo_crosstalk(samples: &mut [Sample]) {
    let apart = 1.0 / (1.0 - RFSIM_CROSSTALK * RFSIM_CROSSTALK);
    let (pairs, _) = samples.as_chunks_mut::<2>();
    for [first, second] in pairs {
        for (one, other) in first.iter_mut().zip(second) {
            let (mine, theirs) = (f64::from(*one), f64::from(*other));
            *one = (apart * (mine - RFSIM_CROSSTALK * theirs)).round() as i16;
            *other = (apart * (theirs - RFSIM_CROSSTALK * mine)).round() as i16;
        }
    }
}

/// Returns the processor's time of this thread, s.
fn processor_s() -> f64 {
    use nix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    now.map_or(0.0, |now| now.tv_sec() as f64 + now.tv_nsec() as f64 * 1e-9)
}

/// The file of the channel over time (docs/run-directory.md).
#[derive(Debug)]
struct Record {
    path: PathBuf,
    file: BufWriter<File>,
    /// Number of paths, known from the first row on.
    paths: Option<usize>,
}

impl Record {
    fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        Ok(Self {
            file: BufWriter::new(file),
            paths: None,
            path,
        })
    }

    /// Writes downlink and uplink of each UE.
    fn write(&mut self, states: &[(State, State)], utc_ns: i64) -> Result<()> {
        let mut rows = String::new();
        let paths = *self.paths.get_or_insert_with(|| {
            let paths = states.iter().map(|(dl, _)| dl.paths.len()).max();
            rows += "utc_ns,radio_s,ue,rsrp_dbm,sinr_db,gain_db,noise_db";
            rows += ",ul_sinr_db,ul_gain_db,ul_noise_db";
            for path in 1..=paths.unwrap_or(0) {
                rows += &format!(",delay_ns_{path},re_{path},im_{path}");
            }
            rows.push('\n');
            paths.unwrap_or(0)
        });
        for (ue, (dl, ul)) in states.iter().enumerate() {
            rows += &format!("{utc_ns},{:.4},{ue},{:.2}", dl.radio_s, dl.rsrp_dbm);
            rows += &(level(dl) + &level(ul) + &taps(dl, paths) + "\n");
        }
        let written = self.file.write_all(rows.as_bytes());
        let written = written.and_then(|()| self.file.flush());
        written.with_context(|| self.path.display().to_string())
    }
}

/// Returns the columns of SINR, gain and noise.
fn level(state: &State) -> String {
    let noise_db = match state.noise_db.is_finite() {
        true => format!("{:.2}", state.noise_db),
        false => String::new(),
    };
    format!(",{:.2},{:.2},{noise_db}", state.snr_db, state.gain_db)
}

/// Returns the columns of so many paths.
fn taps(state: &State, paths: usize) -> String {
    let columns = (0..paths).map(|path| {
        // After a scenario that stops there are none, and other UEs may have more.
        let (delay_ns, gain) = state.paths.get(path).copied().unwrap_or_default();
        format!(",{delay_ns:.1},{:.5},{:.5}", gain.re, gain.im)
    });
    columns.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what rfsim makes of the samples: it adds shares that are cut to an integer.
    fn with_crosstalk([first, second]: [Sample; 2]) -> [Sample; 2] {
        let sum = |one: i16, other: i16| one + (f64::from(other) * RFSIM_CROSSTALK) as i16;
        let add = |one: Sample, other: Sample| [0, 1].map(|part| sum(one[part], other[part]));
        [add(first, second), add(second, first)]
    }

    #[test]
    fn a_receiver_of_two_antennas_gets_what_each_receives() {
        let received = [[[1000, -2000], [-700, 300]], [[0, 1], [20_000, -20_000]]];
        let mut sent = received.concat();
        undo_crosstalk(&mut sent);
        let (sent, _) = sent.as_chunks::<2>();
        for (sent, received) in sent.iter().zip(received) {
            let got = with_crosstalk(*sent);
            for (got, wanted) in got.as_flattened().iter().zip(received.as_flattened()) {
                assert!((got - wanted).abs() <= 2, "{got} for {wanted}");
            }
        }
        assert_ne!(with_crosstalk(received[1]), received[1]);
    }
}
