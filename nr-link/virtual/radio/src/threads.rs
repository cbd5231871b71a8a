// SPDX-License-Identifier: Apache-2.0
//! Whether a process does anything: the state of each of its threads (proc(5)).
//!
//! A thread that works, or would if it had a processor, is runnable. What only sleeps waits for
//! samples, for packets or for a timer. That holds however busy the machine is.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Threads come and go at the start of a modem only.
const LOOK_AGAIN_AFTER: u32 = 256;
const PAUSE: Duration = Duration::from_micros(20);

/// The threads of some processes.
#[derive(Debug, Default)]
pub struct Threads {
    processes: Vec<u32>,
    states: Vec<File>,
    looks: u32,
}

impl Threads {
    /// Those of `processes`.
    pub fn of(processes: Vec<u32>) -> Self {
        let mut threads = Self {
            processes,
            ..Self::default()
        };
        threads.find();
        threads
    }

    fn find(&mut self) {
        self.looks = 0;
        self.states.clear();
        for process in &self.processes {
            let folder = format!("/proc/{process}/task");
            for thread in fs::read_dir(folder).into_iter().flatten().flatten() {
                self.states
                    .extend(File::open(thread.path().join("stat")).ok());
            }
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.states.len()
    }

    /// Waits until all sleep; false: some do not for that long.
    pub fn settle(&mut self, patience: Duration) -> bool {
        self.looks += 1;
        if self.looks >= LOOK_AGAIN_AFTER {
            self.find();
        }
        let deadline = Instant::now() + patience;
        while self.any_runnable() {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
        true
    }

    /// The one that was found runnable is looked at first the next time: it mostly still is, and a look costs
    /// microseconds.
    fn any_runnable(&mut self) -> bool {
        let found = self.states.iter().position(is_runnable);
        if let Some(index) = found {
            self.states.swap(0, index);
        }
        found.is_some()
    }
}

fn is_runnable(stat: &File) -> bool {
    let mut text = [0; 96];
    // A thread that has ended cannot be read.
    let length = stat.read_at(&mut text, 0).unwrap_or_default();
    state_of(&text[..length]) == Some(b'R')
}

/// The state in a line of /proc/…/stat; the name before it may hold anything.
fn state_of(line: &[u8]) -> Option<u8> {
    let name_ends = line.iter().rposition(|&byte| byte == b')')?;
    line.get(name_ends + 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_behind_any_name() {
        assert_eq!(state_of(b"12 (a (b) R) S 1 2"), Some(b'S'));
        assert_eq!(state_of(b"12 (x) R 1 2"), Some(b'R'));
        assert_eq!(state_of(b""), None);
    }

    #[test]
    fn a_process_that_works_is_seen() {
        let mut threads = Threads::of(vec![std::process::id()]);
        assert!(threads.count() >= 1);
        assert!(!threads.settle(Duration::from_millis(5))); // this thread
        let mut sleeper = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let mut threads = Threads::of(vec![sleeper.id()]);
        assert!(threads.settle(Duration::from_secs(5)));
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(threads.settle(Duration::from_secs(1)));
    }
}
