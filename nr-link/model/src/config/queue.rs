// SPDX-License-Identifier: Apache-2.0
//! The checked configuration of a buffer and its queue management.

use serde::{Deserialize, Serialize};

use crate::aqm::Aqm;
use crate::scenario::QueueLimit;

/// One RLC buffer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// The capacity of the buffer.
    pub limit: QueueLimit,
    /// Active queue management; `None` is drop-tail.
    pub aqm: Option<Aqm>,
}

impl From<QueueLimit> for Queue {
    fn from(limit: QueueLimit) -> Self {
        Self { limit, aqm: None }
    }
}
