// SPDX-License-Identifier: Apache-2.0
//! What the kernel needs of the machine, tried out before it starts, so that the answer is a sentence.

use std::fs;
use std::num::NonZero;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, ftruncate};

use crate::failed;

const PAGE_BYTES: usize = 4096;
/// What kernel and guest take before any traffic.
const LEAST_FREE_MB: u64 = 200;

/// Tries everything.
///
/// # Errors
/// What is refused, and how to allow it.
pub fn check(memory_mb: u64) -> Result<()> {
    memory(memory_mb)?;
    executable_memory()?;
    tracing()
}

/// The kernel takes its memory when it uses it: only a machine that is nearly full is refused.
fn memory(memory_mb: u64) -> Result<()> {
    let known = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free_mb = known
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map(|free_kb| free_kb / 1000);
    let least_mb = LEAST_FREE_MB.min(memory_mb);
    match free_mb {
        Some(free_mb) if free_mb < least_mb => Err(failed(format!(
            "memory: {free_mb} MB are available, and the kernel needs {least_mb} MB. End other programs."
        ))),
        _ => Ok(()),
    }
}

/// The kernel's memory is a file in memory, from which it runs its processes.
fn executable_memory() -> Result<()> {
    let file = memfd_create("nr-link", MFdFlags::MFD_CLOEXEC).context("memfd_create")?;
    ftruncate(&file, PAGE_BYTES as i64).context("memory")?;
    let length = NonZero::new(PAGE_BYTES).expect("not zero");
    let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE | ProtFlags::PROT_EXEC;
    // SAFETY: a new mapping, unmapped at once.
    let mapped = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, &file, 0) };
    match mapped {
        // SAFETY: as above.
        Ok(mapped) => unsafe { munmap(mapped, PAGE_BYTES) }.context("memory"),
        Err(error) => Err(failed(format!(
            "memory: this machine forbids executable memory that is shared ({error}). Set sysctl vm.memfd_noexec=0, or \
             allow execmem in SELinux."
        ))),
    }
}

/// The kernel runs its processes by ptrace.
fn tracing() -> Result<()> {
    // SAFETY: the child calls the kernel only, and ends.
    match unsafe { fork() }.context("fork")? {
        ForkResult::Child => {
            let nothing: *const libc::c_void = std::ptr::null();
            // SAFETY: changes this child only.
            unsafe {
                let refused = libc::ptrace(libc::PTRACE_TRACEME, 0, nothing, nothing) < 0;
                libc::_exit(if refused { Errno::last_raw() } else { 0 });
            }
        }
        ForkResult::Parent { child } => match waitpid(child, None).context("waitpid")? {
            WaitStatus::Exited(_, 0) => Ok(()),
            WaitStatus::Exited(_, number) => Err(failed(format!(
                "ptrace: this machine forbids it ({}), and the kernel runs its processes by it. Set sysctl \
                 kernel.yama.ptrace_scope below 3; start a container with --cap-add SYS_PTRACE or \
                 --security-opt seccomp=unconfined.",
                Errno::from_raw(number).desc()
            ))),
            other => bail!("ptrace: trying it ended with {other:?}"),
        },
    }
}
