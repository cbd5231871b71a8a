// SPDX-License-Identifier: Apache-2.0
//! A flow of any transport, and what it needs of the loop that runs all of them.

use std::os::fd::BorrowedFd;

use anyhow::{Context, Result};
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nr_link_virtual_plan::FlowReport;

use crate::clock::Nanos;
use crate::hosts::Hosts;

/// One flow of any transport. Times are those of the guest's clock.
pub trait Flow {
    /// When [`Flow::run`] has something to do; none: when a socket is ready.
    fn due(&self) -> Option<Nanos>;
    /// Does what is due by `now`.
    fn run(&mut self, now: Nanos, context: &FlowContext) -> Result<()>;
    /// A socket of the flow is ready, which was registered as `socket`.
    fn ready(&mut self, socket: u8, now: Nanos, context: &FlowContext) -> Result<()>;
    /// Gives the flow's TCP another congestion control, now or when it connects. Returns the flow's name and the one
    /// that it has then, as reported by the kernel, if it is open.
    fn change_cc(&mut self, cc: &str) -> Result<Option<(String, String)>>;
    /// Returns the report of both ends, once the flow has ended.
    fn report(&mut self) -> Option<FlowReport>;
}

/// The part of the event loop that a flow needs.
pub struct FlowContext<'a> {
    /// The hosts.
    pub hosts: &'a Hosts,
    pub epoll: &'a Epoll,
    pub flow: u64,
}

impl FlowContext<'_> {
    /// Calls [`Flow::ready`] from now on when `socket` is `ready`.
    pub fn watch(&self, socket: BorrowedFd, number: u8, ready: EpollFlags) -> Result<()> {
        let event = EpollEvent::new(ready, self.flow << 8 | u64::from(number));
        self.epoll.add(socket, event).context("epoll")
    }

    /// Ends this; closing a socket does so, too.
    pub fn leave(&self, socket: BorrowedFd) -> Result<()> {
        self.epoll.delete(socket).context("epoll")
    }
}
