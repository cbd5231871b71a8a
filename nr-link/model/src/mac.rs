// SPDX-License-Identifier: Apache-2.0
//! The MAC: scheduling, link adaptation and HARQ of each slot.

pub(crate) mod adaptation;
pub(crate) mod bearer;
pub(crate) mod cell;
pub(crate) mod csi;
pub(crate) mod downlink;
pub(crate) mod feedback;
pub(crate) mod grants;
pub(crate) mod harq;
pub(crate) mod layers;
pub(crate) mod pdu;
pub(crate) mod power;
pub(crate) mod report;
pub(crate) mod scheduler;
pub(crate) mod serving;
pub(crate) mod surroundings;
pub(crate) mod timing;
pub(crate) mod ue;
pub(crate) mod uplink;
