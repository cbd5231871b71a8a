// SPDX-License-Identifier: Apache-2.0
//! The delay of each packet, `delays.npy`: its account by the link, and the packet in the hosts' captures.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use nr_link_model::delays::{Captured, Identity, Row, header};
use nr_link_model::{Delays, Direction, Nanos, UeId};
use std::io::Write;

use crate::output_file::OutputFile;

/// The link's account of a packet that leaves it.
#[derive(Debug)]
pub struct Explanation {
    pub delays: Box<Delays>,
    pub left: Nanos,
    pub ue: UeId,
    pub direction: Direction,
}

/// The file, and the packets that it has yet to write.
#[derive(Debug)]
pub struct Explained {
    file: OutputFile,
    rows: u64,
    /// The packets in the link, by their handles, as their senders captured them.
    sent: HashMap<u64, Captured>,
    /// Packets that have left the link, in the order in which hosts get them.
    arriving: VecDeque<(Captured, Explanation)>,
}

impl Explained {
    /// Creates `path`, or empties it.
    pub fn create(path: &Path) -> Result<Self, String> {
        let mut file = OutputFile::create(path)?;
        file.append(|file| file.write_all(&header(0)));
        Ok(Self {
            file,
            rows: 0,
            sent: HashMap::new(),
            arriving: VecDeque::new(),
        })
    }

    /// A host has sent a packet.
    pub fn sent(&mut self, handle: u64, captured: Captured) {
        self.sent.insert(handle, captured);
    }

    /// A packet leaves the link.
    pub fn leaves(&mut self, handle: u64, explanation: Explanation) {
        let sent = self.sent.remove(&handle).unwrap_or_default();
        self.arriving.push_back((sent, explanation));
    }

    /// A host gets the next of the packets that have left the link.
    pub fn received(&mut self, received: Captured, head: &[u8], ip_bytes: u32, start_utc_ns: i64) {
        let Some((sent, explanation)) = self.arriving.pop_front() else {
            return;
        };
        let row = Row {
            sent,
            received,
            left: explanation.left,
            ip_bytes,
            identity: Identity::of(head),
            ue: explanation.ue,
            direction: explanation.direction,
            delays: &explanation.delays,
        };
        self.file.append(|file| row.write(start_utc_ns, file));
        self.rows += 1;
    }

    /// Completes the file.
    pub fn close(&mut self) {
        self.file.replace_start(&header(self.rows));
    }
}
