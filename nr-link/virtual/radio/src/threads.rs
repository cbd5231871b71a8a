// SPDX-License-Identifier: Apache-2.0
//! Whether processes do anything: what each of their threads waits for, and whether one has run (proc(5)).
//!
//! A thread that works, or would if it had a processor, waits for nothing; one that sleeps waits in a function of the
//! kernel, for samples, for packets or for a timer. The state alone does not show this: a thread that was about to sleep when it
//! lost its processor has that of a sleeper, and looks whether there is something to do when it gets one again. All this
//! holds however busy the machine is.
//!
//! The threads are looked at one after the other, and one may wake another that was looked at before: so none may have run
//! meanwhile. The kernel records who gets and leaves a processor. Where it does not let us see that, it counts each
//! thread's work, but only when the thread gets a processor and when it leaves it: one that was woken after the look at
//! it and waits for a processor shows in a second look only. Hence two rounds there.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::switches::Switches;

const PAUSE: Duration = Duration::from_micros(20);
/// Enough for a name in the kernel, and for a thread's name and state.
const LONGEST_BYTES: usize = 128;
/// Enough for three decimal numbers of 64 bits.
const RUN_BYTES: usize = 64;

/// The threads of some processes and of all that these have started.
#[derive(Debug)]
pub struct Threads {
    processes: Vec<u32>,
    threads: Vec<Thread>,
    ids: HashSet<u32>,
    movement: Movement,
    looks: u32,
    /// After so many looks, the threads are searched again.
    search_after: u32,
}

/// The source from which it is known that a thread has run.
#[derive(Debug)]
enum Movement {
    Recorded(Switches),
    /// Each thread's count, as it was read last.
    Counted(Vec<[u8; RUN_BYTES]>),
}

impl Movement {
    fn watch() -> Self {
        Switches::record().map_or_else(|_| Self::Counted(Vec::new()), Self::Recorded)
    }

    /// Returns the successive rounds of looks in which no thread may be busy or have run.
    fn rounds_at_rest(&self) -> u32 {
        match self {
            Self::Recorded(_) => 1,
            Self::Counted(_) => 2,
        }
    }
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

    /// Returns what the kernel has counted of its work; zeros if it has ended.
    fn run(&self) -> [u8; RUN_BYTES] {
        let mut text = [0; RUN_BYTES];
        let _ = self.run.read_at(&mut text, 0);
        text
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
        Self::watched(processes, search_after, Movement::watch())
    }

    fn watched(processes: Vec<u32>, search_after: u32, movement: Movement) -> Self {
        let mut threads = Self {
            processes,
            threads: Vec::new(),
            ids: HashSet::new(),
            movement,
            looks: 0,
            search_after,
        };
        threads.find();
        threads
    }

    /// Looks for the threads that there are now.
    fn find(&mut self) {
        self.looks = 0;
        self.threads.clear();
        self.ids.clear();
        let mut processes = self.processes.clone();
        while let Some(process) = processes.pop() {
            let folder = format!("/proc/{process}/task");
            for thread in fs::read_dir(folder).into_iter().flatten().flatten() {
                self.threads.extend(Thread::open(&thread.path()));
                let id = thread.file_name();
                self.ids
                    .extend(id.to_str().and_then(|id| id.parse::<u32>().ok()));
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
        let mut rounds = 0;
        self.any_moved();
        loop {
            if self.any_busy() {
                while self.threads[0].is_busy() && Instant::now() < deadline {
                    std::thread::sleep(PAUSE);
                }
                self.any_moved();
                rounds = 0;
            } else {
                rounds = if self.any_moved() { 0 } else { rounds + 1 };
                if rounds == self.movement.rounds_at_rest() {
                    return true;
                }
            }
            if Instant::now() > deadline {
                return false;
            }
        }
    }

    /// Whether one runs or has run since the last call, as far as the kernel shows it.
    fn any_moved(&mut self) -> bool {
        match &mut self.movement {
            Movement::Recorded(switches) => switches.any_of(&self.ids),
            Movement::Counted(counts) => {
                let now: Vec<_> = self.threads.iter().map(Thread::run).collect();
                let any = now != *counts;
                *counts = now;
                any
            }
        }
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

    /// Both ways, or one where the kernel lets this process record nothing.
    fn movements() -> Vec<Movement> {
        let counted = Movement::Counted(Vec::new());
        match Movement::watch() {
            Movement::Counted(_) => {
                eprintln!("not tested: Recorded (perf_event_open is refused)");
                vec![counted]
            }
            recorded => vec![counted, recorded],
        }
    }

    #[test]
    fn a_process_that_works_is_seen() {
        let mut threads = Threads::of(vec![std::process::id()], 256);
        assert!(threads.count() >= 1);
        assert!(!threads.settle(Duration::from_millis(5))); // this thread
        for movement in movements() {
            let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
            let mut threads = Threads::watched(vec![sleeper.id()], 256, movement);
            assert!(threads.settle(Duration::from_secs(5)));
            sleeper.kill().unwrap();
            sleeper.wait().unwrap();
            assert!(threads.settle(Duration::from_secs(1)));
        }
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
        let answers = "while read -r word; do echo $word; done";
        let asks = "i=0; while [ $i -lt 5000 ]; do echo x; read -r word; i=$((i + 1)); done";
        for movement in movements() {
            let (first, second) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
            let mut answering = shell(answers, first.0, second.0);
            let mut asking = shell(asks, second.1, first.1);
            let processes = vec![asking.id(), answering.id()];
            let mut threads = Threads::watched(processes, 256, movement);
            assert!(threads.settle(Duration::from_secs(60)));
            // At rest when all questions are answered.
            assert!(asking.try_wait().unwrap().is_some());
            answering.wait().unwrap();
        }
    }
}
