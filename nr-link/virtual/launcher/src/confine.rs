// SPDX-License-Identifier: Apache-2.0
//! Confinement of the kernel's process, in which kernel modules of the user run. What it may talk to it is given: of this machine's sockets
//! it reaches none, neither by path nor by an abstract name.
//!
//! `ccu` contains the launcher as well, which needs such sockets (its core's name, a radio).

use std::io;
use std::mem::offset_of;

use nix::errno::Errno;
use nix::libc::{self, seccomp_data, sock_filter, sock_fprog};

/// AUDIT_ARCH_X86_64 (linux/audit.h): of the kernel, which is built for no other machine.
const X86_64: u32 = 0xC000_003E;
/// __X32_SYSCALL_BIT (asm/unistd.h): the same calls, of programs with short pointers.
const X32: u32 = 0x4000_0000;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IF_SET: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

/// Keeps others of this user, such as the kernel's process, from tracing this one: they would act as it.
pub fn forbid_tracing() -> nix::Result<()> {
    nix::sys::prctl::set_dumpable(false)
}

/// Refuses the calling process new sockets for good, and all that it starts. It may be called between fork and exec.
///
/// # Errors
/// The machine has no filters of system calls.
pub fn refuse_sockets() -> io::Result<()> {
    let instruction = |code: u32, k: u32, jt: u8, jf: u8| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut filter = [
        instruction(LOAD, offset_of!(seccomp_data, arch) as u32, 0, 0),
        instruction(IF_EQUAL, X86_64, 0, 5),
        instruction(LOAD, offset_of!(seccomp_data, nr) as u32, 0, 0),
        instruction(IF_SET, X32, 3, 0),
        instruction(IF_EQUAL, libc::SYS_socket as u32, 2, 0),
        instruction(IF_EQUAL, libc::SYS_socketpair as u32, 1, 0),
        instruction(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
        instruction(RETURN, libc::SECCOMP_RET_ERRNO | libc::EACCES as u32, 0, 0),
    ];
    let program = sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the filter is complete, and changes this process only.
    let result = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    Errno::result(result).map(drop).map_err(io::Error::from)
}
