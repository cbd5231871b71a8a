// SPDX-License-Identifier: Apache-2.0
//! Sleeping until there is something to do: a packet, the model's next event, or a signal.

use std::os::fd::AsFd;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockNanosleepFlags, clock_nanosleep};

/// The signals that stop a program which otherwise runs forever.
pub const STOPPED: [Signal; 2] = [Signal::SIGTERM, Signal::SIGINT];

const TIMER: u64 = u64::MAX;
const SIGNALS: u64 = u64::MAX - 1;

/// An event that ends a sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The device added with this number has packets.
    Packets(usize),
    /// The deadline has passed.
    Deadline,
    /// A signal for which the waker was made.
    Signal(Signal),
}

/// Sleeps on file descriptors, with absolute deadlines.
#[derive(Debug)]
pub struct Waker {
    epoll: Epoll,
    timer: TimerFd,
    signals: SignalFd,
    armed: Option<TimeSpec>,
}

impl Waker {
    /// Blocks the default action of these signals; from now on they end a sleep.
    pub fn new(signals: &[Signal]) -> Result<Self> {
        let signals = SigSet::from_iter(signals.iter().copied());
        signals.thread_block().context("blocking signals")?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let signals = SignalFd::with_flags(&signals, flags).context("signalfd")?;
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

    /// Adds a device; when it has packets, the event is [`Event::Packets`] with this number.
    pub fn add(&self, device: impl AsFd, number: usize) -> Result<()> {
        self.watch(device, number as u64)
    }

    fn watch(&self, descriptor: impl AsFd, token: u64) -> Result<()> {
        let event = EpollEvent::new(EpollFlags::EPOLLIN, token);
        self.epoll.add(descriptor, event).context("epoll")
    }

    /// Sleeps until `deadline` (of CLOCK_MONOTONIC) or an earlier event. Calls `wakened` for each
    /// event.
    pub fn sleep(&mut self, deadline: TimeSpec, wakened: impl FnMut(Event)) -> Result<()> {
        self.arm(deadline)?;
        self.wait(EpollTimeout::NONE, wakened)
    }

    /// Sleeps until then (of CLOCK_MONOTONIC), regardless of events.
    pub fn pause(&self, until: TimeSpec) -> Result<()> {
        let flags = ClockNanosleepFlags::TIMER_ABSTIME;
        match clock_nanosleep(nix::time::ClockId::CLOCK_MONOTONIC, flags, &until) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error).context("resting"),
        }
    }

    /// Calls `wakened` for each pending event.
    pub fn poll(&mut self, wakened: impl FnMut(Event)) -> Result<()> {
        self.wait(EpollTimeout::ZERO, wakened)
    }

    fn wait(&mut self, timeout: EpollTimeout, mut wakened: impl FnMut(Event)) -> Result<()> {
        let mut events = [EpollEvent::empty(); 32];
        let count = match self.epoll.wait(&mut events, timeout) {
            Err(Errno::EINTR) => 0, // a debugger, or stop and continue
            other => other.context("waiting")?,
        };
        for event in &events[..count] {
            match event.data() {
                TIMER => {
                    self.armed = None;
                    wakened(Event::Deadline);
                }
                SIGNALS => {
                    while let Some(signal) = self.next_signal()? {
                        wakened(Event::Signal(signal));
                    }
                }
                number => wakened(Event::Packets(number as usize)),
            }
        }
        Ok(())
    }

    fn next_signal(&mut self) -> Result<Option<Signal>> {
        let signal = self.signals.read_signal().context("reading a signal")?;
        Ok(signal.and_then(|signal| Signal::try_from(signal.ssi_signo as i32).ok()))
    }

    /// Sets the timer unless it already has this deadline, as after a wake-up by packets. This
    /// saves a system call.
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
