// SPDX-License-Identifier: Apache-2.0
//! The needs of the kernel, tried out on the machine before it starts, so that the answer is a sentence.

use std::fs;
use std::num::NonZero;
use std::path::Path;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, ftruncate};

use crate::lacking;

const PAGE_BYTES: usize = 4096;
/// The memory of kernel and guest before any traffic.
const LEAST_FREE_MB: u64 = 200;
const LEAST_OPEN_FILES: u64 = 256;
const V1_LIMIT: &str = "memory.limit_in_bytes";
const V1_USED: &str = "memory.usage_in_bytes";

/// Tries everything.
///
/// # Errors
/// What is refused, and how to allow it.
pub fn check(memory_mb: u64) -> Result<()> {
    memory(memory_mb)?;
    open_files(getrlimit(Resource::RLIMIT_NOFILE).context("getrlimit")?.0)?;
    executable_memory()?;
    tracing()
}

/// The kernel gets descriptors with numbers from 100 on, and opens files of its programs.
fn open_files(limit: u64) -> Result<()> {
    if limit < LEAST_OPEN_FILES {
        return Err(lacking(
            format!(
                "a process may open {limit} files here, and the kernel needs {LEAST_OPEN_FILES}"
            ),
            "Raise the limit: ulimit -n 1024",
        ));
    }
    Ok(())
}

/// The kernel takes its memory when it uses it: only a machine that is nearly full is refused.
fn memory(memory_mb: u64) -> Result<()> {
    let least_mb = LEAST_FREE_MB.min(memory_mb);
    match machines_free_mb().into_iter().chain(groups_free_mb()).min() {
        Some(free_mb) if free_mb < least_mb => Err(lacking(
            format!("memory: {free_mb} MB are available, and the kernel needs {least_mb} MB"),
            "End other programs, or raise the limit of this container or control group",
        )),
        _ => Ok(()),
    }
}

fn machines_free_mb() -> Option<u64> {
    let known = fs::read_to_string("/proc/meminfo").ok()?;
    let free = known
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let free_kb: u64 = free.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(free_kb / 1000)
}

/// Returns the memory that the limit of each control group around this process leaves.
fn groups_free_mb() -> Vec<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    groups.lines().filter_map(limits_of).flatten().collect()
}

/// The free memory by the limits of a line of /proc/self/cgroup (cgroups(7)), of version 1 or 2.
fn limits_of(line: &str) -> Option<Vec<u64>> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (root, limit, used) = match fields.next()? {
        "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
        "memory" => ("/sys/fs/cgroup/memory", V1_LIMIT, V1_USED),
        _ => return None,
    };
    let own = Path::new(root).join(fields.next()?.trim_start_matches('/'));
    let groups = own.ancestors().take_while(|group| group.starts_with(root));
    // Without a limit, version 2 has the word `max`, and version 1 a number beyond all memory.
    let left = |group: &Path| {
        let left = number(&group.join(limit))?.saturating_sub(number(&group.join(used))?);
        Some(left / 1_000_000)
    };
    Some(groups.filter_map(left).collect())
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
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
        Err(error) => Err(lacking(
            format!("memory: this machine forbids executable memory that is shared ({error})"),
            "Set sysctl vm.memfd_noexec=0, or allow execmem in SELinux",
        )),
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
            WaitStatus::Exited(_, number) => Err(lacking(
                format!(
                    "ptrace: this machine forbids it ({}), and the kernel runs its processes by it",
                    Errno::from_raw(number).desc()
                ),
                "Set sysctl kernel.yama.ptrace_scope below 3; start a container with --cap-add SYS_PTRACE or \
                 --security-opt seccomp=unconfined",
            )),
            other => bail!("ptrace: trying it ended with {other:?}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_open_files_are_a_sentence() {
        let refused = open_files(100).unwrap_err().to_string();
        assert_eq!(
            refused,
            "a process may open 100 files here, and the kernel needs 256. Raise the limit: ulimit -n 1024"
        );
        assert!(open_files(256).is_ok());
    }
}
