// SPDX-License-Identifier: Apache-2.0
//! The threads that run and have run, as the kernel records it.

use std::collections::HashSet;
use std::fmt;
use std::io;

use nix::libc;
use perf_event::events::Software;
use perf_event::{Builder, SampleFlag, Sampler};

/// Room for 10,000 switches.
const RING_BYTES: usize = 256 * 1024;
/// After so many switches at once, later ones may not have found room.
const MOST_RECORDS: u32 = 8_000;
/// The type of a record of a switch, and a flag of those of the thread that leaves (perf_event_open(2)).
const PERF_RECORD_SWITCH_CPU_WIDE: u32 = 15;
const PERF_RECORD_MISC_SWITCH_OUT: u16 = 1 << 13;
/// In such a record, each behind its process: the thread before or after, and the thread itself.
const OTHER_THREAD_AT: usize = 4;
const THREAD_AT: usize = 12;

/// The switches of all processors from one thread to another. Reading them takes no system call.
#[derive(Debug)]
pub struct Switches(Vec<Processor>);

struct Processor {
    records: Sampler,
    /// The thread that it runs, if that is known; 0: none.
    runs: Option<u32>,
}

impl fmt::Debug for Processor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Processor")
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}

impl Switches {
    /// Begins to record.
    ///
    /// # Errors
    /// This process may not (it takes CAP_PERFMON), or the kernel has no performance events.
    pub fn record() -> io::Result<Self> {
        // SAFETY: sysconf has no preconditions.
        let configured = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        let processors = (0..usize::try_from(configured).unwrap_or(0)).map(Processor::record);
        let is_offline = |error: &io::Error| error.raw_os_error() == Some(libc::ENODEV);
        let online = processors.filter(|it| !it.as_ref().is_err_and(is_offline));
        Ok(Self(online.collect::<io::Result<_>>()?))
    }

    /// Whether one of `threads` runs, or has got or left a processor since the last call.
    pub fn any_of(&mut self, threads: &HashSet<u32>) -> bool {
        let processors = self.0.iter_mut();
        processors.fold(false, |any, one| one.has_run_any_of(threads) | any)
    }
}

impl Processor {
    fn record(number: usize) -> io::Result<Self> {
        let mut counter = Builder::new(Software::DUMMY)
            .any_pid()
            .one_cpu(number)
            .sample(SampleFlag::TID)
            .sample_id_all(true)
            .context_switch(true)
            .include_kernel()
            .build()?;
        counter.enable()?;
        let records = counter.sampled(RING_BYTES)?;
        Ok(Self {
            records,
            runs: None,
        })
    }

    fn has_run_any_of(&mut self, threads: &HashSet<u32>) -> bool {
        let (mut any, mut count) = (false, 0);
        while let Some(record) = self.records.next_record() {
            count += 1;
            if record.ty() != PERF_RECORD_SWITCH_CPU_WIDE {
                any = true; // some found no room
                continue;
            }
            let bytes = record.to_contiguous();
            let [other, thread] = [OTHER_THREAD_AT, THREAD_AT].map(|at| number_at(&bytes, at));
            let leaves = record.misc() & PERF_RECORD_MISC_SWITCH_OUT != 0;
            any |= thread.is_none_or(|thread| threads.contains(&thread));
            self.runs = if leaves { other } else { thread };
        }
        if count > MOST_RECORDS {
            self.runs = None;
        }
        any || self.runs.is_some_and(|thread| threads.contains(&thread))
    }
}

fn number_at(record: &[u8], at: usize) -> Option<u32> {
    let bytes = record.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}
