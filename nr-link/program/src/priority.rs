// SPDX-License-Identifier: Apache-2.0
//! Real-time scheduling and locked memory, as far as the machine permits them.

use nix::libc;
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::sys::resource::{Resource, getrlimit};

/// A priority above other programs and below the kernel's own threads, which have 50.
const FIFO_PRIORITY: libc::c_int = 10;
const HIGHEST_NICE: libc::c_int = -20;
const ENOUGH_LOCKED_BYTES: u64 = 1 << 30;

/// The scheduling and memory locking obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority {
    /// `fifo`, `nice -20` or `normal`.
    pub scheduling: &'static str,
    /// Whether the program's memory cannot be paged out.
    pub memory_locked: bool,
}

/// Requests the best settings first. A refusal is not an error; it is reported in the result.
pub fn raise() -> Priority {
    let memory_locked =
        may_lock() && mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE).is_ok();
    Priority {
        scheduling: raise_scheduling(),
        memory_locked,
    }
}

/// Returns whether all memory of the process can be locked. Under a limit, later allocations would
/// fail.
fn may_lock() -> bool {
    let unlimited =
        getrlimit(Resource::RLIMIT_MEMLOCK).is_ok_and(|(soft, _)| soft >= ENOUGH_LOCKED_BYTES);
    // Root of a user namespace is not root of the machine (user_namespaces(7)).
    let root_of_machine = nix::unistd::geteuid().is_root()
        && std::fs::read_to_string("/proc/self/uid_map")
            .is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]));
    unlimited || root_of_machine
}

fn raise_scheduling() -> &'static str {
    let parameters = libc::sched_param {
        sched_priority: FIFO_PRIORITY,
    };
    // SAFETY: plain system calls on the calling process.
    unsafe {
        if libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &parameters)
            == 0
        {
            return "fifo";
        }
        if libc::setpriority(libc::PRIO_PROCESS, 0, HIGHEST_NICE) == 0 {
            return "nice -20";
        }
    }
    "normal"
}
