// SPDX-License-Identifier: Apache-2.0
//! The radio's program between stand-ins.

mod channel;
mod lockstep;
mod modems;
mod refusals;
mod ues;
