// SPDX-License-Identifier: Apache-2.0
//! All flows and programs of a run, from second 0 of the traffic until the last has ended.

use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::libc;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nr_link_virtual_plan::{Report, Run, Transport, Unfinished};

use crate::changes::Changes;
use crate::clock::{self, Nanos, SECOND, nanos};
use crate::flow::{Flow, FlowContext};
use crate::hosts::Hosts;
use crate::policies;
use crate::programs::Programs;
use crate::reports;
use crate::tcp::TcpFlow;
use crate::udp::UdpFlow;

/// The time from the last end until power is off: what is on its way arrives.
const SETTLING: Nanos = SECOND / 5;
const EVENTS: usize = 64;
const SIGNALLED: u64 = u64::MAX;

/// Runs it all.
///
/// # Errors
/// A flow or program that cannot be started, or is not over by the run's limit.
pub fn run(run: &Run, hosts: &Hosts) -> Result<()> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).context("epoll")?;
    let signals = child_signals(&epoll)?;
    let context = |flow: usize| FlowContext {
        hosts,
        epoll: &epoll,
        flow: flow as u64,
    };
    let policies = policies::start(&run.programs, hosts)?;
    clock::wait_for_whole_period()?;
    let mut flows = Vec::with_capacity(run.flows.len());
    let start = clock::now()?;
    for (number, plan) in run.flows.iter().enumerate() {
        let context = context(number);
        let flow: Box<dyn Flow> = match &plan.transport {
            Transport::Tcp { .. } => Box::new(TcpFlow::listen(plan, start, &context)?),
            Transport::Udp { .. } => Box::new(UdpFlow::listen(plan, start, &context)?),
        };
        flows.push(Some(flow));
    }
    let mut programs = Programs::new(&run.programs, policies, start);
    let mut changes = Changes::new(&run.changes, start);
    let limit = start + nanos(run.limit_s);
    reports::send(&Report::TrafficStarted {
        utc_ns: clock::utc()? as i64,
    })?;
    let mut now = clock::now()?;
    loop {
        programs.run(now, hosts)?;
        changes.run(now, &mut programs, &mut flows)?;
        for (number, entry) in flows.iter_mut().enumerate() {
            let Some(flow) = entry else { continue };
            if flow.due().is_some_and(|due| due <= now) {
                flow.run(now, &context(number))?;
            }
            if let Some(report) = flow.report() {
                reports::send(&Report::Flow(Box::new(report)))?;
                *entry = None;
            }
        }
        if programs.over() && flows.iter().all(Option::is_none) {
            break;
        }
        if now >= limit {
            let unfinished = unfinished(run, &flows, &programs);
            let message = late(&unfinished);
            reports::send(&Report::Unfinished(unfinished))?;
            bail!("{message}");
        }
        let due = flows.iter().flatten().filter_map(|flow| flow.due());
        let due = due.chain(programs.due());
        let due = due.chain(changes.due()).chain([limit]).min();
        let mut events = [EpollEvent::empty(); EVENTS];
        let ready = wait(&epoll, &mut events, due.map(|due| due.saturating_sub(now)))?;
        now = clock::now()?; // once for all that is ready: system calls are what a guest spends most time on
        for event in ready {
            if event.data() == SIGNALLED {
                while signals.read_signal().context("signals")?.is_some() {}
                programs.reap()?;
                continue;
            }
            let number = (event.data() >> 8) as usize;
            if let Some(Some(flow)) = flows.get_mut(number) {
                flow.ready(event.data() as u8, now, &context(number))?;
            }
        }
    }
    reports::send(&Report::TrafficStopped {
        utc_ns: clock::utc()? as i64,
    })?;
    programs.end_services()?;
    policies::report(&run.programs)?;
    std::thread::sleep(Duration::from_nanos(SETTLING));
    Ok(())
}

fn unfinished(run: &Run, flows: &[Option<Box<dyn Flow>>], programs: &Programs) -> Unfinished {
    let flows = run.flows.iter().zip(flows);
    let flows = flows.filter(|(_, flow)| flow.is_some());
    Unfinished {
        limit_s: run.limit_s,
        flows: flows.map(|(plan, _)| plan.id.clone()).collect(),
        programs: programs.running().map(str::to_owned).collect(),
    }
}

fn late(unfinished: &Unfinished) -> String {
    let flows = unfinished.flows.iter().map(|id| format!("flow {id}"));
    let programs = unfinished.programs.iter();
    let programs = programs.map(|name| format!("program {name}"));
    let still: Vec<String> = flows.chain(programs).collect();
    format!(
        "after {} s of virtual time these still run: {}. Raise limit_s, or give them less to do.",
        unfinished.limit_s,
        still.join(", ")
    )
}

/// SIGCHLD as an event.
fn child_signals(epoll: &Epoll) -> Result<SignalFd> {
    let set = SigSet::from_iter([Signal::SIGCHLD]);
    set.thread_block().context("signals")?;
    let signals = SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        .context("signals")?;
    epoll
        .add(&signals, EpollEvent::new(EpollFlags::EPOLLIN, SIGNALLED))
        .context("signals")?;
    Ok(signals)
}

/// Waits for events, at most for `time`, to the nanosecond.
fn wait<'a>(
    epoll: &Epoll,
    events: &'a mut [EpollEvent],
    time: Option<Nanos>,
) -> Result<&'a [EpollEvent]> {
    let time = time.map(|time| libc::timespec {
        tv_sec: (time / SECOND) as i64,
        tv_nsec: (time % SECOND) as i64,
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let no_signals: *const libc::sigset_t = std::ptr::null();
    // SAFETY: EpollEvent is a transparent struct epoll_event, and there are as many as we say.
    let count = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll.0.as_fd().as_raw_fd(),
            events.as_mut_ptr(),
            events.len(),
            time,
            no_signals,
            0_usize,
        )
    };
    match Errno::result(count) {
        Ok(count) => Ok(&events[..count as usize]),
        Err(Errno::EINTR) => Ok(&[]),
        Err(error) => Err(error).context("waiting for traffic"),
    }
}
