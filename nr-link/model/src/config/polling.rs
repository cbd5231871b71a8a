// SPDX-License-Identifier: Apache-2.0
//! Polling and status reports of RLC's acknowledged mode: the key `radio.rlc.polling`, and the values that TS 38.331
//! RLC-Config has for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::problem::{Problem, violation};

/// PollPDU, without infinity.
#[rustfmt::skip]
const POLL_PDUS: [u64; 23] = [
    4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 6144, 8192, 12288, 16384, 20480, 24576, 28672, 32768, 40960,
    49152, 57344, 65536,
];
/// PollByte, kB, without infinity.
#[rustfmt::skip]
const POLL_KBYTES: [u64; 43] = [
    1, 2, 5, 8, 10, 15, 25, 50, 75, 100, 125, 250, 375, 500, 750, 1000, 1250, 1500, 2000, 3000, 4000, 4500, 5000, 5500,
    6000, 6500, 7000, 7500, 8000, 9000, 10000, 11000, 12000, 13000, 14000, 15000, 16000, 17000, 18000, 20000, 25000,
    30000, 40000,
];
/// The timers have steps of 1 ms from 1 ms to this one, since release 16 (ms1-v1610 …, T-StatusProhibit-v1610).
const FINE_TO_MS: u64 = 4;
/// They have steps of 5 ms up to this one.
const EVEN_TO_MS: u64 = 250;
/// T-PollRetransmit beyond.
const POLL_RETRANSMITS_MS: [u64; 9] = [300, 350, 400, 450, 500, 800, 1000, 2000, 4000];
/// T-StatusProhibit beyond.
const STATUS_PROHIBITS_MS: [u64; 11] = [300, 350, 400, 450, 500, 800, 1000, 1200, 1600, 2000, 2400];

/// Polling and status reports of acknowledged mode (TS 38.322 clauses 5.3.3, 5.3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polling {
    /// pollPDU; `None` is infinity.
    pub pdus: Option<u64>,
    /// pollByte; `None` is infinity.
    pub bytes: Option<u64>,
    /// t-PollRetransmit.
    pub t_poll_retransmit: Nanos,
    /// t-StatusProhibit.
    pub t_status_prohibit: Nanos,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPolling {
    /// pollPDU. Default: infinity.
    poll_pdu: Option<u64>,
    /// pollByte, kB. Default: infinity.
    poll_kbyte: Option<u64>,
    /// t-PollRetransmit, ms.
    t_poll_retransmit_ms: u64,
    /// t-StatusProhibit, ms.
    t_status_prohibit_ms: u64,
}

pub(super) fn polling(raw: RawPolling) -> Result<Polling, Problem> {
    let pdus = raw
        .poll_pdu
        .map(|pdus| one_of("poll_pdu", pdus, &POLL_PDUS));
    let kbytes = raw
        .poll_kbyte
        .map(|kb| one_of("poll_kbyte", kb, &POLL_KBYTES));
    Ok(Polling {
        pdus: pdus.transpose()?,
        bytes: kbytes.transpose()?.map(|kbytes| kbytes * 1000),
        t_poll_retransmit: timer(
            "t_poll_retransmit_ms",
            raw.t_poll_retransmit_ms,
            5,
            &POLL_RETRANSMITS_MS,
        )?,
        t_status_prohibit: timer(
            "t_status_prohibit_ms",
            raw.t_status_prohibit_ms,
            0,
            &STATUS_PROHIBITS_MS,
        )?,
    })
}

fn one_of(key: &str, value: u64, values: &[u64]) -> Result<u64, Problem> {
    if values.contains(&value) {
        return Ok(value);
    }
    Err(violation!(
        "{value} is not a value of TS 38.331 RLC-Config",
        "Choose one of {values:?}, or leave the key out for infinity"
    )
    .at_key(format!("radio.rlc.polling.{key}")))
}

/// Returns a timer in ns: 1 to 4 ms, a multiple of 5 ms from `least_ms` to 250 ms, or one of `more`.
fn timer(key: &str, ms: u64, least_ms: u64, more: &[u64]) -> Result<u64, Problem> {
    let is_even = ms.is_multiple_of(5) && (least_ms..=EVEN_TO_MS).contains(&ms);
    if is_even || (1..=FINE_TO_MS).contains(&ms) || more.contains(&ms) {
        return Ok(ms * 1_000_000);
    }
    Err(violation!(
        "{ms} ms is not a value of TS 38.331 RLC-Config",
        "Choose a multiple of 5 from {least_ms} to {EVEN_TO_MS}, one of 1 to {FINE_TO_MS}, or one of {more:?}"
    )
    .at_key(format!("radio.rlc.polling.{key}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_those_of_the_standards_asn1() {
        // PollByte has 64 code points, of which infinity is one and 20 are spare.
        assert_eq!(POLL_KBYTES.len(), 64 - 21);
        assert_eq!(POLL_KBYTES.last(), Some(&40_000));
        let accepted = |least_ms, more: &[u64]| {
            let accepted = (0..5000).filter(|&ms| timer("key", ms, least_ms, more).is_ok());
            accepted.collect::<Vec<_>>()
        };
        // T-PollRetransmit has 64, one of them spare: ms1-v1610 to ms4-v1610 come last.
        let retransmit = accepted(5, &POLL_RETRANSMITS_MS);
        assert_eq!(retransmit.len(), 64 - 1);
        assert_eq!(retransmit[..6], [1, 2, 3, 4, 5, 10]);
        // T-StatusProhibit has 64, two of them spare, and T-StatusProhibit-v1610 four more.
        let prohibit = accepted(0, &STATUS_PROHIBITS_MS);
        assert_eq!(prohibit.len(), 64 - 2 + 4);
        assert_eq!(prohibit[..7], [0, 1, 2, 3, 4, 5, 10]);
    }
}
