// SPDX-License-Identifier: Apache-2.0
//! The time of one end: monotonic, with UTC only where the log begins, and in virtual time where packets arrive.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::prctl::set_timerslack;
use nix::time::{ClockId, clock_gettime};

/// There is virtual time where the kernel has this (docs/virtual-time.md).
const VIRTUAL: &str = "/proc/nr-link";

/// Reads the clock once for everything that happens at an instant: in virtual time each reading costs a switch
/// to the kernel.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    start_utc: Duration,
    start_monotonic: Duration,
    shown_ns: Arc<AtomicU64>,
    is_virtual: bool,
}

impl Clock {
    /// Starts the clock; timers of this process are no longer rounded (Linux: 50 µs).
    ///
    /// In virtual time it starts at a whole millisecond, since the time that loading a program takes depends on the
    /// host's libraries.
    pub fn start() -> Self {
        let _ = set_timerslack(1); // else a timer is up to 50 µs late
        let is_virtual = Path::new(VIRTUAL).exists();
        if is_virtual {
            wait_for_whole_millisecond();
        }
        let start_utc = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            start: Instant::now(),
            start_utc: start_utc.unwrap_or_default(),
            start_monotonic: clock_gettime(ClockId::CLOCK_MONOTONIC)
                .map_or(Duration::ZERO, Into::into),
            shown_ns: Arc::default(),
            is_virtual,
        }
    }

    /// Reads the clock.
    pub fn read(&self) -> Instant {
        let now = Instant::now();
        let since = now.saturating_duration_since(self.start).as_nanos() as u64;
        self.shown_ns.store(since, Ordering::Relaxed);
        now
    }

    /// Returns the time at which the kernel says that a packet arrived (UTC since 1970).
    ///
    /// Virtual time stands still from then until the packet is read. Elsewhere this reads the clock.
    pub fn read_at_arrival(&self, stamp: Option<Duration>) -> Instant {
        match stamp.filter(|_| self.is_virtual) {
            None => self.read(),
            Some(stamp) => self.show(stamp.saturating_sub(self.start_utc)),
        }
    }

    /// Returns the time after a wait until `due`.
    ///
    /// Virtual time stands still from then until the one who waited goes on. Elsewhere this reads the clock.
    pub fn read_at_deadline(&self, due: Instant) -> Instant {
        if !self.is_virtual {
            return self.read();
        }
        self.show(due.saturating_duration_since(self.start))
    }

    /// Shows a time that is not before the last one.
    fn show(&self, since: Duration) -> Instant {
        let since = since.as_nanos() as u64;
        let shown = self.shown_ns.fetch_max(since, Ordering::Relaxed);
        self.start + Duration::from_nanos(shown.max(since))
    }

    /// Returns what the last reading showed, in nanoseconds since the start.
    pub fn shown_ns(&self) -> u64 {
        self.shown_ns.load(Ordering::Relaxed)
    }

    /// The start.
    pub fn start_instant(&self) -> Instant {
        self.start
    }

    /// Returns CLOCK_MONOTONIC at an instant, in nanoseconds.
    pub fn monotonic_ns(&self, at: Instant) -> u64 {
        (self.start_monotonic + at.saturating_duration_since(self.start)).as_nanos() as u64
    }

    /// UTC at the start, since 1970.
    pub fn start_utc(&self) -> Duration {
        self.start_utc
    }
}

fn wait_for_whole_millisecond() {
    const MILLISECOND_NS: u64 = 1_000_000;
    if let Ok(now) = clock_gettime(ClockId::CLOCK_MONOTONIC) {
        let past_ns = Duration::from(now).as_nanos() as u64 % MILLISECOND_NS;
        std::thread::sleep(Duration::from_nanos(MILLISECOND_NS - past_ns));
    }
}
