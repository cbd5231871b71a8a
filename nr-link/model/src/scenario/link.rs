// SPDX-License-Identifier: Apache-2.0
//! The carrier that a source used. `ccu` uses it unless an option or an experiment file sets
//! another one; the channel does not depend on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Positive;
use crate::radio::McsTable;

/// The link settings of the source. Keys that are absent have the testbed's default.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkHint {
    /// Centre frequency, GHz.
    pub carrier_ghz: Option<Positive>,
    /// µ of TS 38.211: the subcarrier spacing is 15·2^µ kHz.
    #[schemars(range(min = 0, max = 6))]
    pub numerology: Option<u8>,
    /// Carrier width, PRBs.
    #[schemars(range(min = 1))]
    pub prb: Option<u16>,
    /// FDD, or a TDD pattern.
    pub duplex: Option<LinkDuplex>,
    /// MCS table of TS 38.214 clause 5.1.3.1.
    pub mcs_table: Option<McsTable>,
    /// DRX and RRC states of the UEs: `off`, or a name of `ccu list drx`.
    pub drx: Option<String>,
}

/// FDD, or a TDD pattern, as in the link's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkDuplex {
    /// Paired carriers, one for each direction.
    Fdd,
    /// A TDD pattern.
    Tdd(LinkTdd),
}

/// A TDD pattern.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkTdd {
    /// Slots in order, with the letters D, S, U.
    pub pattern: String,
    /// Symbols of the special slot.
    pub special: Option<LinkSpecial>,
}

/// The symbols of the special slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpecial {
    /// Downlink symbols.
    pub dl_symbols: u8,
    /// Uplink symbols.
    pub ul_symbols: u8,
}
