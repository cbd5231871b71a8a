// SPDX-License-Identifier: Apache-2.0
//! The kernel's packets, as the link knows them.

/// The kernel's function for a packet that the link dropped, by the number of the packet.
pub type Lost = unsafe extern "C" fn(u64);

/// A packet of the kernel's. Dropped by the link, it goes back as lost.
#[derive(Debug)]
pub struct Handle {
    number: u64,
    lost: Lost,
}

impl Handle {
    /// The packet that the kernel calls `number`.
    pub fn new(number: u64, lost: Lost) -> Self {
        Self { number, lost }
    }

    /// The packet's number: it goes back as delivered.
    pub fn delivered(self) -> u64 {
        let number = self.number;
        std::mem::forget(self); // it is not lost
        number
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the kernel's function takes any handle that it gave, once.
        unsafe { (self.lost)(self.number) }
    }
}
