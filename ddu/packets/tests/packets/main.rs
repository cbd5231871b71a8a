// SPDX-License-Identifier: Apache-2.0
//! The tests of the reader in one program.

mod arbitrary_bytes;
mod fuzz_seeds;
