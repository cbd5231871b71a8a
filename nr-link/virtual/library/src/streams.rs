// SPDX-License-Identifier: Apache-2.0
//! The launcher's standard streams, for a program of the user in the guest.

use std::os::fd::BorrowedFd;

use nix::errno::Errno;
use nix::unistd;
use nr_link_virtual_plan::STREAMS;

/// Waits for input: its length, 0 at its end, or −errno.
pub fn read(buffer: &mut [u8]) -> i64 {
    again(|| unistd::read(stream(0), buffer))
}

/// Writes to stream 1 (output) or 2 (error): the length that was taken, or −errno.
pub fn write(number: u32, text: &[u8]) -> i64 {
    again(|| unistd::write(stream(number), text))
}

/// Once more after each signal: those of the kernel's own timers.
fn again(mut call: impl FnMut() -> nix::Result<usize>) -> i64 {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            Err(error) => return -i64::from(error as i32),
            Ok(count) => return count as i64,
        }
    }
}

fn stream(number: u32) -> BorrowedFd<'static> {
    // SAFETY: the launcher passed it, and nothing closes it; if it did not, the call fails with EBADF.
    unsafe { BorrowedFd::borrow_raw(STREAMS[number as usize]) }
}
