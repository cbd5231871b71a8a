// SPDX-License-Identifier: Apache-2.0
//! The model of the link for a kernel in virtual time, which loads this library with dlopen.
//!
//! No threads and no clock: the kernel calls, and says what time it is. The kernel owns the packets;
//! the model, or a real radio in its place, carries a handle of each and gives back each handle exactly once: by `dequeue`, or by
//! `lost` when the link dropped the packet.

mod captures;
mod carrier;
mod explained;
mod handle;
mod interface;
mod link;
mod model_link;
mod output_file;
mod pcap;
mod radio_link;
mod reports;
mod samples;
mod streams;
mod summary;
mod trace;

use std::fmt::Display;
use std::io::Write;

/// Ends the kernel's process: without the model or its files, the rest of the run is worthless.
fn fail(reason: impl Display) -> ! {
    // Standard error may be a file on the same full disk.
    let _ = writeln!(std::io::stderr(), "nr-link: {reason}");
    // SAFETY: ends the process without running what the kernel registered for its end.
    unsafe { nix::libc::_exit(1) }
}
