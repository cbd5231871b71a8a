// SPDX-License-Identifier: Apache-2.0
//! What the standard fixes about the radio: grids, tables, block sizes.

pub mod grid;

pub use grid::Grid;
