// SPDX-License-Identifier: Apache-2.0
//! Sleeping until there is something to do: a packet, the model's next event, or a signal to end.

use std::os::fd::AsFd;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockNanosleepFlags, clock_nanosleep};

const TIMER: u64 = u64::MAX;
const SIGNALS: u64 = u64::MAX - 1;

/// What ended a sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The device that was added as this number has packets.
    Packets(usize),
    /// The deadline has come.
    Deadline,
    /// SIGTERM or SIGINT.
    End,
}

/// Sleeps on descriptors, to absolute deadlines; never spins.
#[derive(Debug)]
pub struct Waker {
    epoll: Epoll,
    timer: TimerFd,
    signals: SignalFd,
    armed: Option<TimeSpec>,
}

impl Waker {
    /// From here on SIGTERM and SIGINT do not end the process, but a sleep.
    pub fn new() -> Result<Self> {
        let ending = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT]);
        ending.thread_block().context("blocking signals")?;
        let signals = SignalFd::with_flags(&ending, SfdFlags::SFD_CLOEXEC).context("signalfd")?;
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).context("creating the timer")?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).context("epoll")?;
        let waker = Self {
            epoll,
            timer,
            signals,
            armed: None,
        };
        waker.watch(&waker.timer, TIMER)?;
        waker.watch(&waker.signals, SIGNALS)?;
        Ok(waker)
    }

    /// Wakes when `device` has packets, with [`Event::Packets`] of this number.
    pub fn add(&self, device: impl AsFd, number: usize) -> Result<()> {
        self.watch(device, number as u64)
    }

    fn watch(&self, descriptor: impl AsFd, token: u64) -> Result<()> {
        let event = EpollEvent::new(EpollFlags::EPOLLIN, token);
        self.epoll.add(descriptor, event).context("epoll")
    }

    /// Sleeps until `deadline` or an earlier event; or until `rest`, whatever comes (both of CLOCK_MONOTONIC). Calls `wakened`
    /// for each event by then.
    pub fn sleep(
        &mut self,
        rest: Option<TimeSpec>,
        deadline: TimeSpec,
        mut wakened: impl FnMut(Event),
    ) -> Result<()> {
        let timeout = if let Some(rest) = rest {
            sleep_until(rest)?;
            EpollTimeout::ZERO // whoever rests has work, and looks at once whether there is more
        } else {
            self.arm(deadline)?;
            EpollTimeout::NONE
        };
        let mut events = [EpollEvent::empty(); 32];
        let count = match self.epoll.wait(&mut events, timeout) {
            Err(Errno::EINTR) => 0, // a debugger, or stop and continue
            other => other.context("waiting")?,
        };
        for event in &events[..count] {
            wakened(match event.data() {
                TIMER => {
                    self.armed = None;
                    Event::Deadline
                }
                SIGNALS => Event::End,
                number => Event::Packets(number as usize),
            });
        }
        Ok(())
    }

    /// One system call less when packets woke us and the deadline is the same as before.
    fn arm(&mut self, deadline: TimeSpec) -> Result<()> {
        if self.armed != Some(deadline) {
            self.timer
                .set(
                    Expiration::OneShot(deadline),
                    TimerSetTimeFlags::TFD_TIMER_ABSTIME,
                )
                .context("arming the timer")?; // which also makes an expired one unreadable
            self.armed = Some(deadline);
        }
        Ok(())
    }
}

/// Sleeps until then, if that is not past.
fn sleep_until(until: TimeSpec) -> Result<()> {
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    match clock_nanosleep(nix::time::ClockId::CLOCK_MONOTONIC, flags, &until) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error).context("resting"),
    }
}
