// SPDX-License-Identifier: Apache-2.0
//! Whether processes do anything: the state of each of their threads, and how long it has run (proc(5)).
//!
//! A thread that works, or would if it had a processor, is runnable. What only sleeps waits for
//! samples, for packets or for a timer. That holds however busy the machine is. The threads are looked at one
//! after the other, and one may wake another that was looked at before: so none may have run meanwhile.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Threads come and go at the start of a modem only.
const LOOK_AGAIN_AFTER: u32 = 256;
const PAUSE: Duration = Duration::from_micros(20);
/// Enough for three decimal numbers of 64 bits.
const RUN_BYTES: usize = 64;

/// The threads of some processes.
#[derive(Debug, Default)]
pub struct Threads {
    processes: Vec<u32>,
    threads: Vec<Thread>,
    looks: u32,
}

/// The files of a thread.
#[derive(Debug)]
struct Thread {
    state: File,
    /// How long it has run and waited, and how often.
    run: File,
}

impl Thread {
    fn open(folder: &Path) -> Option<Self> {
        let open = |name| File::open(folder.join(name)).ok();
        Some(Self {
            state: open("stat")?,
            run: open("schedstat")?,
        })
    }

    fn is_runnable(&self) -> bool {
        let mut text = [0; 96];
        // A thread that has ended cannot be read.
        let length = self.state.read_at(&mut text, 0).unwrap_or_default();
        state_of(&text[..length]) == Some(b'R')
    }
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
        self.threads.clear();
        for process in &self.processes {
            let folder = format!("/proc/{process}/task");
            for thread in fs::read_dir(folder).into_iter().flatten().flatten() {
                self.threads.extend(Thread::open(&thread.path()));
            }
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Waits until all sleep; false: some do not for that long.
    pub fn settle(&mut self, patience: Duration) -> bool {
        self.looks += 1;
        if self.looks >= LOOK_AGAIN_AFTER {
            self.find();
        }
        let deadline = Instant::now() + patience;
        let mut before = self.runs();
        loop {
            if self.any_runnable() {
                while self.threads[0].is_runnable() && Instant::now() < deadline {
                    std::thread::sleep(PAUSE);
                }
                before = self.runs();
            } else {
                let now = self.runs();
                if now == before {
                    return true;
                }
                before = now;
            }
            if Instant::now() > deadline {
                return false;
            }
        }
    }

    /// What the kernel has counted of each thread's work.
    fn runs(&self) -> Vec<[u8; RUN_BYTES]> {
        self.threads
            .iter()
            .map(|thread| {
                let mut text = [0; RUN_BYTES];
                // A thread that has ended cannot be read.
                let _ = thread.run.read_at(&mut text, 0);
                text
            })
            .collect()
    }

    /// Puts the one that was found runnable first, to be looked at alone until it sleeps: a look costs microseconds.
    fn any_runnable(&mut self) -> bool {
        let found = self.threads.iter().position(Thread::is_runnable);
        if let Some(index) = found {
            self.threads.swap(0, index);
        }
        found.is_some()
    }
}

/// The state in a line of /proc/…/stat; the name before it may hold anything.
fn state_of(line: &[u8]) -> Option<u8> {
    let name_ends = line.iter().rposition(|&byte| byte == b')')?;
    line.get(name_ends + 2).copied()
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::Command;

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

    #[test]
    fn threads_that_only_wake_each_other_are_seen() {
        let shell = |script: &str, input: UnixStream, output: UnixStream| {
            Command::new("sh")
                .args(["-c", script])
                .stdin(OwnedFd::from(input))
                .stdout(OwnedFd::from(output))
                .spawn()
                .unwrap()
        };
        let (first, second) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        let answers = "while read -r word; do echo $word; done";
        let asks = "i=0; while [ $i -lt 5000 ]; do echo x; read -r word; i=$((i + 1)); done";
        let mut answering = shell(answers, first.0, second.0);
        let mut asking = shell(asks, second.1, first.1);
        let mut threads = Threads::of(vec![asking.id(), answering.id()]);
        assert!(threads.settle(Duration::from_secs(60)));
        // At rest when all questions are answered.
        assert!(asking.try_wait().unwrap().is_some());
        answering.wait().unwrap();
    }
}
