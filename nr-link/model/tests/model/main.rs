// SPDX-License-Identifier: Apache-2.0
//! The tests of the model in one program: the model is linked once.

#![allow(clippy::disallowed_methods)] // tests compute independently

#[path = "../common/mod.rs"]
mod common;

mod activity;
mod beams;
mod between_cells;
mod bound;
mod capacity;
mod carriers;
mod changes;
mod channel_statistics;
mod config;
mod conservation;
mod dual_connectivity;
mod explained;
mod fuzz_seeds;
mod golden;
mod handed_over;
mod handover;
mod l4s;
mod layers;
mod liveness;
mod oai_profile;
mod path;
mod peak_rates;
mod queue_management;
mod radio;
mod rank;
mod recovery;
mod scenario_files;
mod scenario_series;
mod scenario_urban_mmwave;
mod schedulers;
mod status_reports;
mod uplink_power;
