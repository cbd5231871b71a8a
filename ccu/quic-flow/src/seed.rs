// SPDX-License-Identifier: Apache-2.0
//! Everything random of ours, from a seed: the same seed gives the same connection IDs and keys.
//!
//! The TLS handshake takes its ephemeral keys from the kernel, as it must; in virtual time that source has the
//! plan's seed (docs/virtual-time.md).

use std::sync::{Arc, Mutex};

use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use ring::digest;

/// RFC 9000 section 7.2: a client's first choice has 8 bytes at least.
const CONNECTION_ID_BYTES: usize = 8;

/// A source of bytes that follow from a seed and a purpose.
#[derive(Debug, Clone)]
pub struct Seed(String);

impl Seed {
    /// The source for one end of one flow.
    pub fn new(seed: u64, purpose: &str) -> Self {
        Self(format!("{seed} {purpose}"))
    }

    /// Returns 32 bytes, always the same for one `name`.
    pub fn bytes(&self, name: &str) -> [u8; 32] {
        let text = format!("quic-flow {} {name}", self.0);
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest::digest(&digest::SHA256, text.as_bytes()).as_ref());
        bytes
    }
}

/// Connection IDs in the order of their generation.
#[derive(Debug, Clone)]
pub struct ConnectionIds {
    seed: Seed,
    generated: Arc<Mutex<u64>>,
}

impl ConnectionIds {
    /// The IDs of one end.
    pub fn new(seed: &Seed) -> Self {
        Self {
            seed: seed.clone(),
            generated: Arc::default(),
        }
    }

    /// Returns the next one.
    pub fn next(&self) -> ConnectionId {
        let mut generated = self.generated.lock().expect("no holder panics");
        *generated += 1;
        let bytes = self.seed.bytes(&format!("connection ID {generated}"));
        ConnectionId::new(&bytes[..CONNECTION_ID_BYTES])
    }
}

impl ConnectionIdGenerator for ConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        self.next()
    }

    fn cid_len(&self) -> usize {
        CONNECTION_ID_BYTES
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}
