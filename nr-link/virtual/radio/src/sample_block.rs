// SPDX-License-Identifier: Apache-2.0
//! Blocks of samples, as gNB and UE of OpenAirInterface's rfsim send them to each other.

use std::io::{self, Read};

use nr_link_channel_emulator::Sample;

/// Lengths of a block's header, bytes: versions of 2026 have beams at its end.
const PLAIN_BYTES: usize = 24;
const WITH_BEAMS_BYTES: usize = 32;
/// I and Q of 16 bits.
const SAMPLE_BYTES: usize = 4;
/// A plain header and the first sample, or the beginning of a header with beams.
const SHORTEST_BYTES: usize = PLAIN_BYTES + SAMPLE_BYTES;
/// More than any block has: ten slots of four antennas at 122.88 MS/s.
const MOST_BYTES: u64 = 1 << 24;

/// The blocks of one modem.
#[derive(Debug)]
pub struct Blocks<Stream> {
    stream: Stream,
    /// Known from the first block on.
    header_bytes: Option<usize>,
}

/// A block with its header, as it came.
#[derive(Debug)]
pub struct Block {
    /// Header and samples.
    pub bytes: Vec<u8>,
    header_bytes: usize,
    /// The radio's time after its last sample, in samples.
    pub end: u64,
    /// Samples of each antenna.
    pub samples: u32,
    /// Antennas, of all beams; the samples of each instant follow each other.
    pub antennas: u32,
}

impl<Stream: Read> Blocks<Stream> {
    /// Returns the blocks of a stream.
    pub fn of(stream: Stream) -> Self {
        Self {
            stream,
            header_bytes: None,
        }
    }

    /// Reads the next block; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream breaks, or does not consist of blocks.
    pub fn read(&mut self) -> io::Result<Option<Block>> {
        let mut bytes = vec![0; SHORTEST_BYTES];
        match self.stream.read(&mut bytes[..1])? {
            0 => return Ok(None),
            _ => self.stream.read_exact(&mut bytes[1..])?,
        }
        // A modem's first block has beam 0. Without beams, its first sample is silence or, as versions of 2025 write it, the
        // address of silence, which is even.
        let header_bytes = *self
            .header_bytes
            .get_or_insert(match bytes[PLAIN_BYTES] % 2 {
                1 => WITH_BEAMS_BYTES,
                _ => PLAIN_BYTES,
            });
        self.read_up_to(header_bytes, &mut bytes)?;
        // Little-endian: samples and antennas (32 bits), time of the first sample (64), two options (32), beams (64).
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let (samples, antennas, first) = (word(0), word(4), long(8));
        let beams = match header_bytes {
            WITH_BEAMS_BYTES => long(PLAIN_BYTES).count_ones(),
            _ => 1,
        };
        let values = u64::from(samples) * u64::from(antennas) * u64::from(beams);
        let payload_bytes = values * SAMPLE_BYTES as u64;
        if payload_bytes == 0 || payload_bytes > MOST_BYTES {
            let what = format!("a block of {payload_bytes} bytes: this is not a stream of samples");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        self.read_up_to(header_bytes + payload_bytes as usize, &mut bytes)?;
        Ok(Some(Block {
            bytes,
            header_bytes,
            end: first + u64::from(samples),
            samples,
            antennas: antennas * beams,
        }))
    }

    /// Reads what `bytes` lacks of a length.
    fn read_up_to(&mut self, length: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        let had = bytes.len();
        bytes.resize(length.max(had), 0);
        self.stream.read_exact(&mut bytes[had..])
    }
}

impl Block {
    /// Returns the samples as numbers.
    pub fn values(&self) -> Vec<Sample> {
        let payload = self.bytes[self.header_bytes..].chunks_exact(SAMPLE_BYTES);
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
        let mut bytes = Vec::with_capacity(self.header_bytes + size_of_val(values));
        bytes.extend(samples.to_le_bytes());
        bytes.extend(antennas.to_le_bytes());
        bytes.extend(first.to_le_bytes());
        bytes.extend(&self.bytes[16..PLAIN_BYTES]);
        if self.header_bytes == WITH_BEAMS_BYTES {
            bytes.extend(1_u64.to_le_bytes());
        }
        bytes.extend(values.iter().flatten().flat_map(|part| part.to_le_bytes()));
        Self {
            bytes,
            header_bytes: self.header_bytes,
            end: first + u64::from(samples),
            samples,
            antennas,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of `samples` of one antenna from `first` on, with every byte of its samples `value`; without `beams` as older versions write it.
    fn written(samples: u32, first: u64, beams: Option<u64>, value: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(samples.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(first.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(beams.iter().flat_map(|beams| beams.to_le_bytes()));
        let antennas = beams.map_or(1, u64::count_ones);
        bytes.resize(bytes.len() + (samples * antennas * 4) as usize, value);
        bytes
    }

    #[test]
    fn blocks_follow_each_other_in_both_forms() {
        for (beam, beams, sample, header_bytes, antennas) in [
            (Some(1), Some(3), 0, WITH_BEAMS_BYTES, 2),
            (None, None, 0, PLAIN_BYTES, 1),
            (None, None, 0xb0, PLAIN_BYTES, 1),
        ] {
            let mut stream = written(1, 41, beam, sample);
            let second = written(7680, 42, beams, 7);
            stream.extend(&second);
            let mut blocks = Blocks::of(stream.as_slice());
            let one = blocks.read().unwrap().unwrap();
            assert_eq!((one.end, one.bytes.len()), (42, header_bytes + 4));
            let two = blocks.read().unwrap().unwrap();
            assert_eq!((two.end, two.antennas), (42 + 7680, antennas));
            assert_eq!(two.bytes, second);
            assert_eq!(two.values().len(), 7680 * antennas as usize);
            assert!(blocks.read().unwrap().is_none());
            // What is made of a block has its form.
            let made = two.with(9, 1, &[[0x0707; 2]]);
            assert_eq!(made.bytes, written(1, 9, beam, 7));
        }
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let mut wrong = written(1, 0, Some(1), 0);
        wrong[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        let read = |bytes: &[u8]| Blocks::of(bytes).read();
        assert!(read(&wrong).is_err());
        assert!(read(&written(0, 0, Some(1), 0)).is_err());
        for cut in [&written(10, 0, Some(1), 0)[..40], &[1, 2]] {
            assert!(read(cut).is_err());
        }
    }
}
