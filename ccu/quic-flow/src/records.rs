// SPDX-License-Identifier: Apache-2.0
//! The layouts of cc/plane/plane_abi.h, which a policy's program reads and writes.

/// The bytes of a report.
pub const REPORT_BYTES: usize = 128;
/// The bytes of a command.
pub const COMMAND_BYTES: usize = 64;

/// The reason of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// ACKs came.
    Acks = 0,
    /// The flow begins; its ports take the places of `acks` and `acked`.
    Start = 1,
    /// The flow ended.
    End = 2,
    /// The state of the congestion control is another.
    State = 3,
}

/// The state of a sender, by Linux's numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// No loss is being repaired.
    #[default]
    Open = 0,
    /// Packets that were sent before a loss are in flight.
    Recovery = 3,
    /// Persistent congestion (RFC 9002 section 7.6).
    Loss = 4,
}

/// The flag of a report whose rate sample the sender limited.
pub const APP_LIMITED: u32 = 1;
/// The flag of a report of a flow that its window limits.
pub const CWND_LIMITED: u32 = 2;
/// The flag of a report of a flow that Reno controls.
pub const FALLBACK: u32 = 4;

/// The content of a report, in the order of its fields.
#[derive(Debug, Default)]
pub struct Report {
    /// CLOCK_MONOTONIC, ns.
    pub time_ns: u64,
    /// ACKs, packets acknowledged and lost since the last report.
    pub counts: [u32; 3],
    /// Newest, least and mean RTT since the last report, smoothed and least RTT of the flow, µs.
    pub rtts_us: [u32; 5],
    /// Packets delivered, packets of the newest rate sample, and its time in µs.
    pub rate: [u32; 3],
    /// Packets in flight, the window in packets, bytes of a packet.
    pub window: [u32; 3],
    /// Pacing rate in force, bytes/s.
    pub pacing_rate: u64,
    /// Bytes acknowledged, total.
    pub bytes_acked: u64,
    /// Packets lost, sent again, and delivered with a congestion mark, total; flags.
    pub totals: [u32; 4],
    /// Packets that were delivered when the newest acknowledged one departed.
    pub prior_delivered: u32,
    /// The newest command in force, and the time from its report until then, ns.
    pub applied: [u64; 2],
}

impl Report {
    /// Returns the report as the policy's program reads it.
    pub fn bytes(&self, event: Event, state: State) -> [u8; REPORT_BYTES] {
        let mut record = Record([0; REPORT_BYTES], 0);
        record.put(&self.time_ns.to_ne_bytes());
        record.put(&[0; 6]); // index and generation of the only flow
        record.put(&[event as u8, state as u8]);
        for field in [&self.counts[..], &self.rtts_us, &self.rate, &self.window] {
            field.iter().for_each(|one| record.put(&one.to_ne_bytes()));
        }
        record.put(&self.pacing_rate.to_ne_bytes());
        record.put(&self.bytes_acked.to_ne_bytes());
        self.totals
            .iter()
            .for_each(|one| record.put(&one.to_ne_bytes()));
        record.put(&self.prior_delivered.to_ne_bytes());
        record.put(&[0; 4]); // packets in flight at that departure: not known
        self.applied
            .iter()
            .for_each(|one| record.put(&one.to_ne_bytes()));
        debug_assert_eq!(record.1, REPORT_BYTES);
        record.0
    }
}

struct Record([u8; REPORT_BYTES], usize);

impl Record {
    fn put(&mut self, bytes: &[u8]) {
        self.0[self.1..self.1 + bytes.len()].copy_from_slice(bytes);
        self.1 += bytes.len();
    }
}

/// The content of a command.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// Its number.
    pub sequence: u64,
    /// The time of the report that it answers; 0: none.
    pub report_ns: u64,
    /// Pacing rate, bytes/s; 0: that of the window.
    pub pacing_rate: u64,
    /// The window in packets.
    pub cwnd: u32,
    /// The time between reports, µs.
    pub period_us: u32,
}

impl Command {
    /// Reads a command.
    pub fn of(bytes: &[u8; COMMAND_BYTES]) -> Self {
        let long = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        Self {
            sequence: long(0),
            report_ns: long(8),
            pacing_rate: long(16),
            cwnd: word(24),
            period_us: word(32),
        }
    }
}
