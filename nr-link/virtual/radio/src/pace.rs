// SPDX-License-Identifier: Apache-2.0
//! The radio while the UE attaches: a slot passes when both modems have done what the last one gave them to do. The
//! answer to random access has a window of a few slots, which a gNB misses whose threads wait for a processor while
//! samples go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::gate::Gate;
use crate::threads::Threads;

/// A modem may send nothing for a while, as a UE does that searches for its cell.
const PASSING: Duration = Duration::from_millis(20);
/// Longer work than that of a slot, such as the search for a cell, is not waited for completely.
const SETTLING: Duration = Duration::from_millis(200);
/// Modems start threads and processes while they attach.
const SEARCH_AFTER: u32 = 40;

/// Runs until it is dropped.
#[derive(Debug)]
pub struct Pace {
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pace {
    /// Lets slots of `gate` pass at the pace of the `processes`.
    pub fn start(gate: Arc<Gate>, processes: Vec<u32>, slot_samples: u64) -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stopped);
        let thread = std::thread::spawn(move || run(&gate, processes, slot_samples, &stops));
        Self {
            stopped,
            thread: Some(thread),
        }
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(gate: &Gate, processes: Vec<u32>, slot_samples: u64, stopped: &AtomicBool) {
    let mut threads = Threads::of(processes, SEARCH_AFTER);
    let mut limit = gate.hold(slot_samples);
    while !stopped.load(Ordering::Relaxed) && gate.ended().is_none() {
        gate.await_passed(PASSING);
        threads.settle(SETTLING);
        limit += slot_samples;
        gate.release(limit);
    }
}
