// SPDX-License-Identifier: Apache-2.0
//! The MAC: scheduling, link adaptation and HARQ of each slot.

pub(crate) mod activity;
pub(crate) mod adaptation;
pub(crate) mod beams;
pub(crate) mod bearer;
pub(crate) mod cell;
pub(crate) mod csi;
pub(crate) mod downlink;
pub(crate) mod drx;
pub(crate) mod feedback;
pub(crate) mod grants;
pub(crate) mod harq;
pub(crate) mod layers;
pub(crate) mod lte_leg;
pub(crate) mod lte_service;
pub(crate) mod pdu;
pub(crate) mod power;
pub(crate) mod report;
pub(crate) mod rrc_state;
pub(crate) mod scheduler;
pub(crate) mod serving;
pub(crate) mod surroundings;
pub(crate) mod timing;
pub(crate) mod ue;
pub(crate) mod uplink;
