// SPDX-License-Identifier: Apache-2.0
//! The checked configuration of a buffer and its queue management.

use crate::aqm::Aqm;

/// One RLC buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
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

/// The capacity of an RLC buffer; packets beyond it are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// IP packets that are not completely sent.
    Packets(u64),
    /// IP bytes that are not sent.
    Bytes(u64),
}
