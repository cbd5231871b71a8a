// SPDX-License-Identifier: Apache-2.0
//! The check for IPv6 TCP sockets in this network namespace: without any, half of the dump is saved.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The kernel's count of IPv6 TCP sockets.
pub struct Ipv6Sockets {
    /// None if the kernel has no IPv6.
    statistics: Option<File>,
}

impl Ipv6Sockets {
    /// Opens the statistics of the current network namespace.
    pub fn open() -> Self {
        Self {
            statistics: File::open("/proc/thread-self/net/sockstat6").ok(),
        }
    }

    /// Returns whether there are any now, connected or listening; true if the count is not readable.
    pub fn any(&self) -> bool {
        let Some(file) = &self.statistics else {
            return false;
        };
        let mut text = [0; 512];
        match file.read_at(&mut text, 0) {
            Ok(length) => !text[..length].starts_with(b"TCP6: inuse 0\n"),
            Err(_) => true,
        }
    }
}
