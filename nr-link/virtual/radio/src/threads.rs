// SPDX-License-Identifier: Apache-2.0
//! Whether processes do anything: what each of their threads waits for, its state, and how long it has run (proc(5)).
//!
//! A thread that works, or would if it had a processor, waits for nothing; one that sleeps waits in a function of the
//! kernel, for samples, for packets or for a timer. The state alone does not show this: a thread that was about to sleep when it
//! lost its processor has that of a sleeper, and looks whether there is something to do when it gets one again. All this
//! holds however busy the machine is.
//!
//! The threads are looked at one after the other, and one may wake another that was looked at before: so none may have run
//! meanwhile. The kernel counts a thread's work when it gets a processor and when it leaves it: one that was woken after
//! the look at it and waits for a processor shows in a second look only. Hence two rounds.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Successive rounds of looks in which no thread is busy or has run.
const ROUNDS_AT_REST: u32 = 2;
const PAUSE: Duration = Duration::from_micros(20);
/// Enough for a name in the kernel, and for a thread's name and state.
const LONGEST_BYTES: usize = 128;
/// Enough for three decimal numbers of 64 bits.
const RUN_BYTES: usize = 64;

/// The threads of some processes and of all that these have started.
#[derive(Debug, Default)]
pub struct Threads {
    processes: Vec<u32>,
    threads: Vec<Thread>,
    looks: u32,
    /// After so many looks, the threads are searched again.
    search_after: u32,
}

/// The files of a thread.
#[derive(Debug)]
struct Thread {
    /// The function of the kernel in which it waits, or 0.
    waits_in: File,
    state: File,
    /// The time for which it has run and waited, and how often.
    run: File,
}

impl Thread {
    fn open(folder: &Path) -> Option<Self> {
        let open = |name| File::open(folder.join(name)).ok();
        Some(Self {
            waits_in: open("wchan")?,
            state: open("stat")?,
            run: open("schedstat")?,
        })
    }

    fn is_busy(&self) -> bool {
        let mut text = [0; LONGEST_BYTES];
        // One that has ended is a zombie until its parent has noticed, and cannot be read then.
        read(&self.waits_in, &mut text) == b"0"
            && !matches!(
                state_of(read(&self.state, &mut text)),
                Some(b'Z' | b'X') | None
            )
    }
}

/// The text of a file in /proc; empty if it cannot be read.
fn read<'text>(file: &File, text: &'text mut [u8; LONGEST_BYTES]) -> &'text [u8] {
    let length = file.read_at(text, 0).unwrap_or_default();
    &text[..length]
}

impl Threads {
    /// Returns the threads of `processes`, searched again after so many looks, as threads come and go.
    pub fn of(processes: Vec<u32>, search_after: u32) -> Self {
        let mut threads = Self {
            processes,
            search_after,
            ..Self::default()
        };
        threads.find();
        threads
    }

    /// Looks for the threads that there are now.
    fn find(&mut self) {
        self.looks = 0;
        self.threads.clear();
        let mut processes = self.processes.clone();
        while let Some(process) = processes.pop() {
            let folder = format!("/proc/{process}/task");
            for thread in fs::read_dir(folder).into_iter().flatten().flatten() {
                self.threads.extend(Thread::open(&thread.path()));
                processes.extend(children_of(&thread.path()));
            }
        }
    }

    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Waits until all sleep; false: some do not for that long.
    pub fn settle(&mut self, patience: Duration) -> bool {
        self.looks += 1;
        if self.looks >= self.search_after {
            self.find();
        }
        let deadline = Instant::now() + patience;
        let (mut before, mut at_rest) = (self.runs(), 0);
        loop {
            if self.any_busy() {
                while self.threads[0].is_busy() && Instant::now() < deadline {
                    std::thread::sleep(PAUSE);
                }
                (before, at_rest) = (self.runs(), 0);
            } else {
                let now = self.runs();
                at_rest = if now == before { at_rest + 1 } else { 0 };
                if at_rest == ROUNDS_AT_REST {
                    return true;
                }
                before = now;
            }
            if Instant::now() > deadline {
                return false;
            }
        }
    }

    /// Returns what the kernel has counted of each thread's work.
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

    /// Puts the one that was found busy first, to be looked at alone until it sleeps: a look costs microseconds.
    fn any_busy(&mut self) -> bool {
        let found = self.threads.iter().position(Thread::is_busy);
        if let Some(index) = found {
            self.threads.swap(0, index);
        }
        found.is_some()
    }
}

/// The processes that a thread has started; none of one that has ended.
fn children_of(thread: &Path) -> Vec<u32> {
    let text = fs::read_to_string(thread.join("children")).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
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
        let mut threads = Threads::of(vec![std::process::id()], 256);
        assert!(threads.count() >= 1);
        assert!(!threads.settle(Duration::from_millis(5))); // this thread
        let mut sleeper = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let mut threads = Threads::of(vec![sleeper.id()], 256);
        assert!(threads.settle(Duration::from_secs(5)));
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(threads.settle(Duration::from_secs(1)));
    }

    #[test]
    fn what_a_process_starts_is_watched_too() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 60 & wait"])
            .spawn()
            .unwrap();
        let mut threads = Threads::of(vec![shell.id()], 256);
        for _ in 0..1000 {
            if threads.count() == 2 {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
            threads.find();
        }
        assert_eq!(threads.count(), 2);
        for child in children_of(Path::new(&format!("/proc/{0}/task/{0}", shell.id()))) {
            let _ = Command::new("kill").arg(child.to_string()).status();
        }
        shell.wait().unwrap();
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
        let mut threads = Threads::of(vec![asking.id(), answering.id()], 256);
        assert!(threads.settle(Duration::from_secs(60)));
        // At rest when all questions are answered.
        assert!(asking.try_wait().unwrap().is_some());
        answering.wait().unwrap();
    }
}
