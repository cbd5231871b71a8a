// SPDX-License-Identifier: Apache-2.0
//! Identifiers of UEs, cells, carriers and HARQ processes.

use std::fmt;

/// A UE: its index in the configuration, from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UeId(pub usize);

impl UeId {
    /// RNTI of the first UE; further UEs count up (TS 38.321 table 7.1-1 allows 0x0001 to 0xFFF2).
    const FIRST_RNTI: u16 = 0x4601;

    /// Returns the UE's RNTI.
    pub(crate) fn rnti(self) -> u16 {
        Self::FIRST_RNTI + self.0 as u16
    }
}

impl fmt::Display for UeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A cell: its index in the scenario, from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CellId(pub usize);

/// A component carrier: its index in the configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CarrierId(pub usize);

impl CarrierId {
    pub const PRIMARY: Self = Self(0);

    /// Returns the first `count` carriers.
    pub fn all(count: usize) -> impl Iterator<Item = Self> {
        (0..count).map(Self)
    }
}

/// A HARQ process of one UE, carrier and direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HarqId(pub usize);
