// SPDX-License-Identifier: Apache-2.0
//! The delay of each packet, `delays.npy`: its account by the link, and the packet in the hosts' captures.

use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;

use nr_link_model::delays::{Captured, Identity, Row, header};
use nr_link_model::{Delays, Direction, Nanos, Part, UeId};

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
    parts: &'static [Part],
    rows: u64,
    /// Packets that have left the link, in the order in which hosts get them.
    arriving: VecDeque<Explanation>,
}

impl Explained {
    /// Creates `path`, or empties it, for a link whose packets can have these parts.
    pub fn create(path: &Path, parts: &'static [Part]) -> Result<Self, String> {
        let mut file = OutputFile::create(path)?;
        file.append(|file| file.write_all(&header(parts, 0)));
        Ok(Self {
            file,
            parts,
            rows: 0,
            arriving: VecDeque::new(),
        })
    }

    /// A packet leaves the link.
    pub fn leaves(&mut self, explanation: Explanation) {
        self.arriving.push_back(explanation);
    }

    /// A host gets the next of the packets that have left the link.
    pub fn received(&mut self, received: Captured, head: &[u8], ip_bytes: u32, start_utc_ns: i64) {
        let Some(explanation) = self.arriving.pop_front() else {
            return;
        };
        let row = Row {
            received,
            left: explanation.left,
            ip_bytes,
            identity: Identity::of(head),
            ue: explanation.ue,
            direction: explanation.direction,
            delays: &explanation.delays,
        };
        let parts = self.parts;
        self.file
            .append(|file| row.write(parts, start_utc_ns, file));
        self.rows += 1;
    }

    /// Completes the file.
    pub fn close(&mut self) {
        self.file.replace_start(&header(self.parts, self.rows));
    }
}
