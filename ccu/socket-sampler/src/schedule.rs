// SPDX-License-Identifier: Apache-2.0
//! The sampling schedule: absolute deadlines, so that a late sample does not shift later ones.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

/// Poll counts whole milliseconds: so much longer, and the end is over.
const A_MOMENT: Duration = Duration::from_millis(1);

/// A periodic timer that also receives the signals that end the program.
pub struct Schedule {
    timer: TimerFd,
    signals: SignalFd,
    end: Option<Instant>,
}

/// The reason why [`Schedule::wait`] returned.
pub enum Wake {
    /// Time for a sample; `missed` deadlines have passed before this one.
    Sample {
        /// Deadlines that were skipped since the last sample.
        missed: u64,
    },
    /// SIGTERM, SIGINT, or the duration is over.
    Stop,
}

impl Schedule {
    /// Starts the schedule; the first deadline is one `interval` from now. SIGTERM and SIGINT are blocked from here on.
    pub fn start(interval: Duration, duration: Option<Duration>) -> Result<Self> {
        let ending = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT]);
        ending.thread_block().context("blocking signals")?;
        let signals = SignalFd::with_flags(&ending, SfdFlags::SFD_CLOEXEC).context("signalfd")?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)
            .context("creating the timer")?;
        // The kernel re-arms a periodic timer from its last deadline, not from the time of the read.
        let period = TimeSpec::from_duration(interval);
        timer
            .set(Expiration::Interval(period), TimerSetTimeFlags::empty())
            .context("arming the timer")?;
        let end = duration.map(|duration| Instant::now() + duration);
        Ok(Self {
            timer,
            signals,
            end,
        })
    }

    /// Sleeps until the next deadline or the end.
    pub fn wait(&mut self) -> Result<Wake> {
        let mut ready = [
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.timer.as_fd(), PollFlags::POLLIN),
        ];
        let left = self
            .end
            .map(|end| end.saturating_duration_since(Instant::now()));
        let timeout = left.and_then(|left| PollTimeout::try_from(left + A_MOMENT).ok());
        poll(&mut ready, timeout.unwrap_or(PollTimeout::NONE))
            .context("waiting for the next sample")?;
        let signalled = ready[0].any() == Some(true);
        if signalled || self.end.is_some_and(|end| Instant::now() >= end) {
            return Ok(Wake::Stop);
        }
        let mut expirations = [0; 8];
        nix::unistd::read(&self.timer, &mut expirations).context("reading the timer")?;
        Ok(Wake::Sample {
            missed: u64::from_ne_bytes(expirations) - 1,
        })
    }
}
