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

    /// Sleeps until `deadline` (CLOCK_MONOTONIC) or an earlier event, and calls `wakened` for each.
    pub fn sleep(&mut self, deadline: TimeSpec, mut wakened: impl FnMut(Event)) -> Result<()> {
        self.arm(deadline)?;
        let mut events = [EpollEvent::empty(); 32];
        let count = match self.epoll.wait(&mut events, EpollTimeout::NONE) {
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
