// SPDX-License-Identifier: Apache-2.0
//! Blocks of samples, as gNB and UE of OpenAirInterface's rfsim send them to each other.

use std::io::{self, Read};

use nr_link_channel_emulator::Sample;

/// Length of a block's header, bytes.
pub const HEADER_BYTES: usize = 32;
/// I and Q of 16 bits.
const SAMPLE_BYTES: u64 = 4;
/// More than any block has: ten slots of four antennas at 122.88 MS/s.
const MOST_BYTES: u64 = 1 << 24;

/// A block with its header, as it came.
#[derive(Debug)]
pub struct Block {
    /// Header and samples.
    pub bytes: Vec<u8>,
    /// The radio's time after its last sample, in samples.
    pub end: u64,
    /// Samples of each antenna.
    pub samples: u32,
    /// Antennas, of all beams; the samples of each instant follow each other.
    pub antennas: u32,
}

impl Block {
    /// Reads one block; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream breaks, or does not consist of blocks.
    pub fn read(stream: &mut impl Read) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER_BYTES];
        match stream.read(&mut header[..1])? {
            0 => return Ok(None),
            _ => stream.read_exact(&mut header[1..])?,
        }
        // Little-endian: samples and antennas (32 bits), time of the first sample (64), two options (32), beams (64).
        let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("4 bytes"));
        let long = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("8 bytes"));
        let (samples, antennas, first, beams) = (word(0), word(4), long(8), long(24));
        let payload_bytes =
            u64::from(samples) * u64::from(antennas) * SAMPLE_BYTES * u64::from(beams.count_ones());
        if payload_bytes > MOST_BYTES {
            let what = format!("a block of {payload_bytes} bytes: this is not a stream of samples");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let mut bytes = vec![0; HEADER_BYTES + payload_bytes as usize];
        bytes[..HEADER_BYTES].copy_from_slice(&header);
        stream.read_exact(&mut bytes[HEADER_BYTES..])?;
        Ok(Some(Self {
            bytes,
            end: first + u64::from(samples),
            samples,
            antennas: antennas * beams.count_ones(),
        }))
    }

    /// Returns the samples as numbers.
    pub fn values(&self) -> Vec<Sample> {
        let payload = self.bytes[HEADER_BYTES..].chunks_exact(SAMPLE_BYTES as usize);
        let part = |low, high| i16::from_le_bytes([low, high]);
        payload
            .map(|sample| [part(sample[0], sample[1]), part(sample[2], sample[3])])
            .collect()
    }

    /// Returns the number of its first sample.
    pub fn first(&self) -> u64 {
        self.end - u64::from(self.samples)
    }

    /// Returns a block with these samples of `antennas` antennas from sample `first` on, without beams, and this block's options.
    pub fn with(&self, first: u64, antennas: u32, values: &[Sample]) -> Self {
        let samples = values.len() as u32 / antennas;
        let mut bytes = Vec::with_capacity(HEADER_BYTES + size_of_val(values));
        bytes.extend(samples.to_le_bytes());
        bytes.extend(antennas.to_le_bytes());
        bytes.extend(first.to_le_bytes());
        bytes.extend(&self.bytes[16..24]);
        bytes.extend(1_u64.to_le_bytes());
        bytes.extend(values.iter().flatten().flat_map(|part| part.to_le_bytes()));
        Self {
            bytes,
            end: first + u64::from(samples),
            samples,
            antennas,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of `samples` of one antenna from `first` on.
    fn written(samples: u32, first: u64, beams: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(samples.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(first.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(beams.to_le_bytes());
        bytes.resize(
            HEADER_BYTES + samples as usize * 4 * beams.count_ones() as usize,
            7,
        );
        bytes
    }

    #[test]
    fn blocks_follow_each_other() {
        let mut stream = written(1, 41, 1);
        stream.extend(written(7680, 42, 3));
        let mut rest = stream.as_slice();
        let one = Block::read(&mut rest).unwrap().unwrap();
        assert_eq!((one.end, one.bytes.len()), (42, HEADER_BYTES + 4));
        let two = Block::read(&mut rest).unwrap().unwrap();
        assert_eq!(two.end, 42 + 7680);
        assert_eq!(two.bytes.len(), HEADER_BYTES + 7680 * 4 * 2);
        assert!(Block::read(&mut rest).unwrap().is_none());
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let mut wrong = written(0, 0, 1);
        wrong[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(Block::read(&mut wrong.as_slice()).is_err());
        let cut = written(10, 0, 1);
        assert!(Block::read(&mut &cut[..40]).is_err());
    }
}
