// SPDX-License-Identifier: Apache-2.0
//! Requests to a radio that runs slot by slot (`nr-link radio`), one JSON value a line, over its Unix socket.
//! Each request gets one answer.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A packet on its way into the radio: its number among those of its UE and direction, and its length in bytes.
pub type Sent = (u64, u32);

/// A value for each UE, in the order in which they connect.
pub type PerUe<T> = Vec<T>;

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Has the radio wait for these processes, the modems, slot by slot while the UE attaches.
    Pace {
        /// With all that they start.
        processes: Vec<u32>,
    },
    /// Names the ends of the tunnels and the processes between them, and stops the radio at the end of a slot.
    Hold {
        /// The device where downlink packets enter.
        server: TunnelEnd,
        /// The devices where they come out.
        ues: PerUe<TunnelEnd>,
        /// The modems, and what else carries packets, with all that they have started.
        processes: Vec<u32>,
    },
    /// Lets the radio run by itself.
    Free,
    /// Time of the hosts when slot 0 begins, UTC, nanoseconds since 1970.
    Begin {
        /// The time of slot 0.
        utc_ns: i64,
    },
    /// Runs one slot, with what the hosts have sent before it.
    Slot {
        /// Packets from the server.
        dl: PerUe<Vec<Sent>>,
        /// Packets from the UEs.
        ul: PerUe<Vec<Sent>>,
    },
    /// Is answered when the radio stands before a slot; it does not run that slot before the next such request of the
    /// same connection, or its end.
    Meet {
        /// Counted from that of [`Request::Begin`].
        slot: u64,
    },
    /// The progress of the radio.
    State,
}

/// An end of the tunnel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TunnelEnd {
    /// Its network namespace; none: that of the radio's program.
    pub netns: Option<PathBuf>,
    /// Its interface.
    pub device: String,
    /// Its address (IPv4).
    pub address: std::net::Ipv4Addr,
}

/// The answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// To [`Request::Hold`].
    Held {
        /// The lead of the gNB ahead of the samples that it gets, slots.
        dl_lead_slots: f64,
        /// The lead of each UE.
        ul_lead_slots: PerUe<f64>,
        /// Threads that are watched.
        threads: usize,
        /// The share of the channel's energy that comes later than the cyclic prefix allows; null without a channel.
        #[serde(default)]
        late_energy_ratio: Option<f64>,
    },
    /// To [`Request::Begin`].
    Began {
        /// Length of a slot.
        slot_ns: u64,
    },
    /// To [`Request::Slot`]: numbers of the packets that have come out.
    Slot {
        /// At the UEs.
        dl: PerUe<Vec<u64>>,
        /// At the server.
        ul: PerUe<Vec<u64>>,
    },
    /// To [`Request::State`] and [`Request::Meet`].
    State(Box<State>),
    /// To [`Request::Free`].
    Done,
    /// It failed, and the radio with it.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// The progress of the radio, and how it got there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// UEs whose samples flow to the gNB and back.
    pub connected_ues: usize,
    /// The slot before which it stands, counted from that of [`Request::Begin`].
    pub slot: u64,
    /// The hosts' time then; null before [`Request::Begin`].
    pub utc_ns: Option<i64>,
    /// The account of the coupling.
    pub account: Account,
    /// The accounts of the channel that the samples met; null without one.
    #[serde(default)]
    pub channel: Option<Channels>,
}

/// The accounts of a channel by receiver.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Channels {
    /// The account of each UE.
    pub dl: PerUe<Channel>,
    /// The account of the gNB, which receives the sum of all UEs.
    pub ul: Channel,
}

/// The account of a receiver's channel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// Samples that were received, of all antennas.
    pub samples: u64,
    /// Samples that 16 bits could not hold.
    pub saturated_samples: u64,
    /// Samples whose channel was stronger than the emulator can amplify.
    pub limited_samples: u64,
    /// Samples that the transmitter left out.
    pub missing_samples: u64,
    /// Mean power of the samples received, dB of their unit; null without any.
    pub mean_power_db: Option<f64>,
    /// Mean power of the noise in them, dB of their unit; null without any.
    #[serde(default)]
    pub mean_noise_db: Option<f64>,
    /// Time of the processor, s.
    pub processor_s: f64,
}

/// The cost of coupling hosts and radio, and its exactness.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Slots that were run.
    pub slots: u64,
    /// Wall time in them, s.
    pub wall_s: f64,
    /// The part of that in which it waited until the modems had taken what was sent, s.
    pub injecting_s: f64,
    /// Waiting until both modems had sent their samples, s.
    pub radio_s: f64,
    /// Waiting until no thread of theirs was runnable, s.
    pub settling_s: f64,
    /// Standing still for the channel's settings, s.
    pub meeting_s: f64,
    /// Slots before which the modems were not at rest in time: packets may have entered later than they should.
    pub unsettled_injections: u64,
    /// Slots after which they were not: packets may come out later than they should.
    pub unsettled_slots: u64,
    /// Packets that came out when their slot had already ended: they are delivered one slot late.
    pub late_packets: u64,
    /// Packets that went in, downlink and uplink.
    pub sent_packets: [u64; 2],
    /// Packets that came out.
    pub arrived_packets: [u64; 2],
}
