// SPDX-License-Identifier: Apache-2.0
//! What the standard fixes about the radio: grids, tables, block sizes.

pub mod bands;
pub mod duplex;
pub mod grid;
pub mod mcs;

pub use duplex::{Duplex, SlotKind, TddPattern};
pub use grid::{Grid, Numerology};
pub use mcs::{Mcs, McsTable};
