// SPDX-License-Identifier: Apache-2.0
//! All cells around one UE: its channel to each, and the interference of those that do not serve it.
//!
//! Neighbours on the serving carrier's frequency transmit with their own power and fading in a share of all slots and
//! groups of PRBs, their load, drawn for each independently. It is the same at any time that is asked, as everything of
//! the channel. The SSB is always sent, so that measurements of RSRP do not depend on the load.

use crate::channel::{Channel, Observation};
use crate::config::Uplink;
use crate::ids::{CarrierId, CellId, UeId};
use crate::radio::Constellation;
use crate::radio::decibel;
use crate::radio::grid::SUBCARRIERS_PER_PRB;
use crate::random::{Purpose, Stream, seed_of_ue};
use crate::{Direction, Nanos};

/// Bits per symbol of the messages of RRC: QPSK.
const QPSK: u8 = 2;

#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The channels to each cell, one for each component carrier.
    channels: Vec<Vec<Channel>>,
    /// The share of resources in which each neighbour transmits.
    load: f64,
    seed: u64,
    /// The draws of messages of RRC.
    pub draws: Stream,
    /// Kept so that no slot allocates memory.
    signal_mw: Vec<f64>,
    interference_mw: Vec<f64>,
    seen: Observation,
}

impl Surroundings {
    /// Takes the channels of a UE to all cells. `seed` draws when neighbours transmit, and which messages are lost.
    pub fn new(channels: Vec<Vec<Channel>>, load: f64, seed: u64, ue: UeId) -> Self {
        Self {
            channels,
            load,
            seed: seed_of_ue(seed, ue),
            draws: Stream::new(seed, Purpose::Signalling, ue, Direction::Downlink),
            signal_mw: Vec::new(),
            interference_mw: Vec::new(),
            seen: Observation::default(),
        }
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> usize {
        self.channels.len()
    }

    /// Returns cellIndividualOffset of a cell, dB.
    pub fn offset_db(&self, cell: CellId) -> f64 {
        self.channels[cell.0][0].individual_offset_db()
    }

    /// Returns the channels of a cell, one for each component carrier.
    pub fn channels(&self, cell: CellId) -> &[Channel] {
        &self.channels[cell.0]
    }

    /// Observes a cell over this beam from now on.
    pub fn use_beam(&mut self, cell: CellId, beam: usize) {
        for channel in &mut self.channels[cell.0] {
            channel.use_beam(beam);
        }
    }

    /// Selects the beam by which the UE enters a cell at `t`, that of the strongest SSB (TS 38.321 clause 5.1.2); returns it.
    pub fn aim(&mut self, cell: CellId, t: Nanos) -> usize {
        let beam = self.channels[cell.0][0].strongest_beam(t);
        self.use_beam(cell, beam);
        beam
    }

    /// Adds the neighbours' interference at `t` to what the UE observes of its serving cell.
    pub fn interfere(
        &mut self,
        serving: CellId,
        carrier: CarrierId,
        t: Nanos,
        seen: &mut Observation,
    ) {
        if self.load <= 0.0 {
            return;
        }
        let own = &self.channels[serving.0][carrier.0];
        for powers_mw in [&mut self.signal_mw, &mut self.interference_mw] {
            powers_mw.clear();
            powers_mw.resize(seen.sinr_db.len(), 0.0);
        }
        own.add_received_mw(t, &mut self.signal_mw, |_| true);
        for (number, carriers) in self.channels.iter().enumerate() {
            let other = &carriers[carrier.0];
            if number == serving.0 || !other.shares_frequency(own) {
                continue;
            }
            let active = |group| {
                let draw = drawn(
                    self.seed,
                    [number as u64, carrier.0 as u64, t, group as u64],
                );
                draw < self.load
            };
            other.add_received_mw(t, &mut self.interference_mw, active);
        }
        own.add_interference(t, &self.signal_mw, &self.interference_mw, seen);
    }

    /// Returns RSRP of a cell over one SSB at `t`, unfiltered, dBm.
    pub fn rsrp_dbm(&self, cell: CellId, t: Nanos) -> f64 {
        self.channels[cell.0][0].ssb_rsrp_dbm(t)
    }

    /// Returns the centre frequency of a cell's primary carrier, Hz.
    pub fn carrier_hz(&self, cell: CellId) -> f64 {
        self.channels[cell.0][0].carrier_hz()
    }

    /// Returns the downlink SINR of a message of RRC from a cell at `t`, dB.
    pub fn downlink_sinr_db(&mut self, cell: CellId, t: Nanos) -> f64 {
        let mut seen = std::mem::take(&mut self.seen);
        self.channels[cell.0][0].observe(t, &mut seen);
        self.interfere(cell, CarrierId::PRIMARY, t, &mut seen);
        let sinr_db = Constellation::of(QPSK).effective_db(&seen.sinr_db);
        self.seen = seen;
        sinr_db
    }

    /// Returns the uplink SNR at a cell of a message over `prb` PRBs at `t`, dB. The UE's power follows the cell's path
    /// loss, up to P_CMAX (TS 38.213 clause 7.1.1).
    pub fn uplink_snr_db(&mut self, cell: CellId, t: Nanos, prb: u16, uplink: Uplink) -> f64 {
        if uplink.as_downlink {
            return self.downlink_sinr_db(cell, t);
        }
        let channel = &self.channels[cell.0][0];
        channel.observe(t, &mut self.seen);
        let noise_dbm = channel.noise_ul_dbm_per_re(t);
        let width_db = decibel::from_ratio(f64::from(u32::from(prb) * SUBCARRIERS_PER_PRB));
        let wanted_dbm = uplink.target_snr_db + noise_dbm + self.seen.path_loss_db;
        let sent_dbm = wanted_dbm.min(uplink.pcmax_dbm - width_db);
        sent_dbm - self.seen.instant_loss_db - noise_dbm
    }
}

/// Returns a number in [0, 1) that the words determine: SplitMix64 (Steele, Lea, Flood 2014) of each in turn.
fn drawn(seed: u64, words: [u64; 4]) -> f64 {
    let mix = |state: u64, word: u64| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mixed = words.into_iter().fold(mix(seed, 0), mix);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::drawn;

    #[test]
    fn draws_are_uniform_and_repeatable() {
        let draws = (0..100_000u64).map(|slot| drawn(1, [1, 0, slot * 500_000, slot % 14]));
        let (mut mean, mut below) = (0.0, 0);
        for draw in draws {
            mean += draw / 100_000.0;
            below += u32::from(draw < 0.3);
        }
        // Standard errors: 0.29/√n = 0.0009 and √(0.3·0.7 n) = 145.
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
        assert!(below.abs_diff(30_000) < 600, "{below}");
        assert_eq!(
            drawn(7, [1, 2, 3, 4]).to_bits(),
            drawn(7, [1, 2, 3, 4]).to_bits()
        );
    }
}
