// SPDX-License-Identifier: Apache-2.0
//! A pool of buffers for packets that wait in the link.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

/// Size of the largest super-packet with its virtio header.
pub const LARGEST_BYTES: usize = 65_536 + 256;

/// The sizes of buffers. A queue of ACKs must not take 64 KiB for each of them.
const CLASS_BYTES: [usize; 6] = [256, 2_048, 8_192, 16_384, 32_768, LARGEST_BYTES];

type FreeLists = [Vec<Box<[u8]>>; CLASS_BYTES.len()];

/// The unused buffers by size. Their number is at most that of buffers ever used at once, which the
/// link's queues limit.
#[derive(Debug, Clone, Default)]
pub struct Pool(Rc<RefCell<FreeLists>>);

/// A buffer that returns to its pool when dropped.
#[derive(Debug)]
pub struct Buffer {
    bytes: Box<[u8]>,
    length: usize,
    class: usize,
    pool: Pool,
}

impl Pool {
    /// Keeps the data read into `scratch`: large data by swapping `scratch` with another buffer,
    /// small data by a copy into a smaller buffer.
    pub fn keep(&self, scratch: &mut Buffer, length: usize) -> Buffer {
        let class = class_for(length);
        let mut kept = self.take(class);
        if class == scratch.class {
            std::mem::swap(scratch, &mut kept);
        } else {
            kept.bytes[..length].copy_from_slice(&scratch.bytes[..length]);
        }
        kept.length = length;
        kept
    }

    /// Returns a buffer of the largest size, to read into.
    pub fn scratch(&self) -> Buffer {
        self.take(CLASS_BYTES.len() - 1)
    }

    fn take(&self, class: usize) -> Buffer {
        let returned = self.0.borrow_mut()[class].pop();
        let bytes = returned.unwrap_or_else(|| vec![0; CLASS_BYTES[class]].into());
        Buffer {
            length: bytes.len(),
            bytes,
            class,
            pool: self.clone(),
        }
    }
}

fn class_for(length: usize) -> usize {
    CLASS_BYTES
        .iter()
        .position(|&bytes| length <= bytes)
        .expect("TUN returns no more than requested")
}

impl Buffer {
    /// Returns the whole buffer, to read into.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.pool.0.borrow_mut()[self.class].push(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_keeps_its_bytes_and_buffers_are_reused() {
        let pool = Pool::default();
        let mut scratch = pool.scratch();
        for length in [1, 256, 257, 1514, 40_000, LARGEST_BYTES] {
            for round in 0..3_u8 {
                scratch.bytes_mut()[..length].fill(round);
                let kept = pool.keep(&mut scratch, length);
                assert_eq!(&*kept, vec![round; length]);
            }
            let free = pool.0.borrow()[class_for(length)].len();
            assert_eq!(free, 1, "{length} bytes: one was enough for all rounds");
        }
    }
}
