// SPDX-License-Identifier: Apache-2.0
//! Whether this network namespace has IPv6 TCP sockets at all: where it has none, half of the dump is saved.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Looks at the kernel's own count.
pub struct Ipv6Sockets {
    /// None where the kernel has no IPv6.
    statistics: Option<File>,
}

impl Ipv6Sockets {
    /// Of the network namespace we are in.
    pub fn open() -> Self {
        Self {
            statistics: File::open("/proc/thread-self/net/sockstat6").ok(),
        }
    }

    /// Whether there are any now, connected or listening. When in doubt, yes.
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
