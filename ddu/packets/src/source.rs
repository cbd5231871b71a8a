// SPDX-License-Identifier: Apache-2.0
//! The bytes of a file through a window of bounded size, decompressed if need be.
//!
//! Read and not mapped: a mapped file that another process cuts short would kill us with SIGBUS, and a file that
//! still grows would need to be mapped again.

use std::io::{ErrorKind, Read};

use crate::error::{Result, malformed};

/// Bytes per read: enough to make the calls cheap, small beside the caches.
const READ_BYTES: usize = 1 << 18;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

type Stream = Box<dyn Read + Send>;

/// A window on the stream: what has been read and not yet taken stands from `start` to `end`.
pub struct Source {
    stream: Stream,
    window: Vec<u8>,
    start: usize,
    end: usize,
    taken_bytes: u64,
}

impl Source {
    /// Looks at the first bytes and decompresses gzip (RFC 1952) and Zstandard (RFC 8878) files.
    pub fn new(stream: impl Read + Send + 'static) -> Result<Self> {
        let mut plain = Self::plain(Box::new(stream));
        plain.fill(ZSTD_MAGIC.len())?;
        let head = plain.window[..plain.end].to_vec();
        if !head.starts_with(&GZIP_MAGIC) && !head.starts_with(&ZSTD_MAGIC) {
            return Ok(plain);
        }
        let whole = std::io::Cursor::new(head.clone()).chain(plain.stream);
        Ok(Self::plain(if head.starts_with(&GZIP_MAGIC) {
            Box::new(flate2::read::MultiGzDecoder::new(whole))
        } else {
            Box::new(zstd::stream::read::Decoder::new(whole)?)
        }))
    }

    fn plain(stream: Stream) -> Self {
        Self {
            stream,
            window: Vec::new(),
            start: 0,
            end: 0,
            taken_bytes: 0,
        }
    }

    /// Offset of the first byte not yet taken.
    pub fn offset(&self) -> u64 {
        self.taken_bytes
    }

    /// The next `length` bytes without taking them; None if the stream ends before.
    ///
    /// A later call looks again: the file may have grown.
    #[inline]
    pub fn peek(&mut self, length: usize) -> Result<Option<&[u8]>> {
        if self.end - self.start < length {
            self.fill(length)?;
        }
        Ok(self.window[..self.end].get(self.start..self.start + length))
    }

    /// Takes `length` bytes that `peek` has shown.
    #[inline]
    pub fn take(&mut self, length: usize) -> &[u8] {
        let taken = &self.window[self.start..self.start + length];
        self.start += length;
        self.taken_bytes += length as u64;
        taken
    }

    /// Whether bytes are left that no record took. True only after `peek` has met the end.
    pub fn has_rest(&self) -> bool {
        self.start < self.end
    }

    fn fill(&mut self, length: usize) -> Result<()> {
        self.window.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < length {
            let room = self.window.len().max(self.end + READ_BYTES);
            self.window.resize(room, 0);
            match self.stream.read(&mut self.window[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A compressed file that is cut off: what came out of it so far is good.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
                Err(error) if error.raw_os_error().is_some() => return Err(error.into()),
                Err(error) => {
                    let offset = self.taken_bytes + self.end as u64;
                    return malformed(offset, format!("cannot be decompressed: {error}"));
                }
            }
        }
        Ok(())
    }
}
