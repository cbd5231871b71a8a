// SPDX-License-Identifier: Apache-2.0
//! One core for one run.
//!
//! The kernel and the processes in it take turns: each system call in the guest wakes the kernel, which wakes the process.
//! On one core that is a switch; between two it is an interrupt to a core that may have fallen asleep, which costs
//! a fifth of the CPU time of a run.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// A core that no other run in virtual time has, for as long as this exists.
#[derive(Debug)]
pub struct OwnCore {
    set: CpuSet,
    /// An abstract address, which is free again when its owner has ended, however it ends.
    _taken: UnixDatagram,
}

impl OwnCore {
    /// Takes a core that this process may use; none if there is no choice, or if each has a run.
    pub fn take() -> Option<Self> {
        Self::take_of("nr-link-virtual-core")
    }

    fn take_of(name: &str) -> Option<Self> {
        let allowed = sched_getaffinity(Pid::from_raw(0)).ok()?;
        let mut cores: Vec<usize> = (0..CpuSet::count())
            .filter(|core| allowed.is_set(*core).unwrap_or(false))
            .collect();
        if cores.len() < 2 {
            return None;
        }
        cores.reverse(); // The first one often has the machine's interrupts.
        cores.into_iter().find_map(|core| Self::reserve(name, core))
    }

    fn reserve(name: &str, core: usize) -> Option<Self> {
        let address = SocketAddr::from_abstract_name(format!("{name}-{core}")).ok()?;
        let taken = UnixDatagram::bind_addr(&address).ok()?;
        let mut set = CpuSet::new();
        set.set(core).ok()?;
        Some(Self { set, _taken: taken })
    }

    /// Returns a function that keeps the calling process, and those that it starts, on the core; it may be called between fork and exec.
    pub fn keep(&self) -> impl Fn() + Send + Sync + use<> {
        let set = self.set;
        move || {
            // Where this is forbidden, the run only takes longer.
            let _ = sched_setaffinity(Pid::from_raw(0), &set);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_has_one_run_at_a_time() {
        let name = format!("test-{}", std::process::id());
        let taken: Vec<OwnCore> = std::iter::from_fn(|| OwnCore::take_of(&name)).collect();
        assert!(OwnCore::take_of(&name).is_none());
        for (index, one) in taken.iter().enumerate() {
            assert!(taken[..index].iter().all(|other| other.set != one.set));
        }
        let first = taken.first().map(|core| core.set);
        drop(taken);
        assert_eq!(OwnCore::take_of(&name).map(|core| core.set), first);
    }
}
