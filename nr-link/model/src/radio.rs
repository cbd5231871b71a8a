// SPDX-License-Identifier: Apache-2.0
//! The parts of the radio that the standard defines (grids, tables, block sizes), and block error
//! ratios.

pub mod bands;
pub mod bler;
pub mod constellation;
pub mod cqi;
pub mod decibel;
pub mod duplex;
pub mod grid;
pub mod mcs;
pub mod overhead;
pub mod tbs;

pub use constellation::Constellation;
pub use cqi::CqiTable;
pub use duplex::{Duplex, SlotKind, TddPattern};
pub use grid::{Grid, Numerology};
pub use mcs::{Mcs, McsTable};
