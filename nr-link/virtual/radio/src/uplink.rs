// SPDX-License-Identifier: Apache-2.0
//! The uplink of all UEs as one stream of blocks, each with the samples of every UE's antennas.
//!
//! The stream is cut where a block of any UE ends, and waits for all that are connected. A UE that sends nothing for a
//! time counts as silent there.

use std::collections::VecDeque;

use nr_link_channel_emulator::Sample;
use nr_link_virtual_plan::radio::PerUe;

use crate::sample_block::Block;

/// The blocks that wait to be passed on together.
#[derive(Debug)]
pub struct Uplink {
    /// `None`: no such UE is connected.
    ues: PerUe<Option<Sender>>,
    /// Antennas of each.
    antennas: usize,
    /// Radio time up to which samples have been taken to be passed on.
    taken: u64,
}

#[derive(Debug, Default)]
struct Sender {
    waiting: VecDeque<Block>,
    /// Radio time that the UE has reached.
    sent: u64,
}

impl Uplink {
    /// Makes the uplink of `ues` UEs with so many antennas each, of which none is connected.
    pub fn new(ues: usize, antennas: usize) -> Self {
        Self {
            antennas,
            ues: (0..ues).map(|_| None).collect(),
            taken: 0,
        }
    }

    /// Has the stream wait for a UE from now on.
    pub fn join(&mut self, ue: usize) {
        self.ues[ue] = Some(Sender::default());
    }

    /// Has the stream go on without a UE.
    pub fn leave(&mut self, ue: usize) {
        self.ues[ue] = None;
    }

    /// Keeps the next block of a UE, or what of it is not too late.
    pub fn push(&mut self, ue: usize, block: Block) {
        if let Some(sender) = &mut self.ues[ue] {
            sender.sent = block.end;
            if block.end > self.taken {
                sender.waiting.push_back(block);
            }
        }
    }

    /// Returns the radio time that a UE has reached.
    pub fn sent(&self, ue: usize) -> u64 {
        self.ues[ue].as_ref().map_or(0, |sender| sender.sent)
    }

    /// Returns the radio time up to which samples have been taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether a block waits that ends by `limit`, or any without a limit.
    pub fn has_passing(&self, limit: Option<u64>) -> bool {
        let end = self.next_end();
        end.is_some_and(|end| limit.is_none_or(|limit| end <= limit))
    }

    /// Returns the radio time at which the next block ends; `None` while a UE is waited for.
    fn next_end(&self) -> Option<u64> {
        let senders = self.ues.iter().flatten();
        let ends: Option<Vec<u64>> = senders
            .map(|sender| Some(sender.waiting.front()?.end))
            .collect();
        ends?.into_iter().min()
    }

    /// Takes the next block out; `None` while a UE is waited for.
    pub fn take(&mut self) -> Option<Block> {
        let end = self.next_end()?;
        let block = match self.ues.len() {
            1 => self.ues[0].as_mut()?.waiting.pop_front()?,
            _ => self.together(end)?,
        };
        self.taken = end;
        for sender in self.ues.iter_mut().flatten() {
            sender.waiting.retain(|block| block.end > end);
        }
        Some(block)
    }

    /// Returns what the UEs' next blocks have up to `end`, antenna after antenna for each instant.
    fn together(&self, end: u64) -> Option<Block> {
        let fronts: PerUe<Option<&Block>> = self
            .ues
            .iter()
            .map(|ue| ue.as_ref()?.waiting.front())
            .collect();
        let begins = |block: &&Block| block.first().max(self.taken);
        let first = fronts.iter().flatten().map(begins).min()?;
        let each = self.antennas;
        let all = each * fronts.len();
        let mut sent: Vec<Sample> = vec![[0; 2]; (end - first) as usize * all];
        for (ue, block) in fronts.iter().enumerate() {
            let Some(block) = block else { continue };
            let from = begins(block);
            let samples = block.values();
            let ours = samples
                .chunks_exact(each)
                .skip((from - block.first()) as usize);
            let places = sent.chunks_exact_mut(all).skip((from - first) as usize);
            for (place, ours) in places.zip(ours) {
                place[ue * each..][..each].copy_from_slice(ours);
            }
        }
        let like = fronts.iter().flatten().next()?;
        Some(like.with(first, all as u32, &sent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_block::Blocks;

    fn block(first: u64, samples: &[i16]) -> Block {
        let values: Vec<Sample> = samples.iter().map(|&one| [one, -one]).collect();
        let mut silence = [0; 28];
        silence[..8].copy_from_slice(&[1, 0, 0, 0, 1, 0, 0, 0]);
        let like = Blocks::of(silence.as_slice()).read().unwrap().unwrap();
        like.with(first, 1, &values)
    }

    /// Takes all that can be: first sample, and I of each UE's samples.
    fn taken(uplink: &mut Uplink) -> Vec<(u64, Vec<i16>)> {
        std::iter::from_fn(|| uplink.take())
            .map(|block| {
                let parts = block.values().iter().map(|one| one[0]).collect();
                (block.first(), parts)
            })
            .collect()
    }

    #[test]
    fn the_stream_is_cut_where_any_block_ends_and_waits_for_all() {
        let mut uplink = Uplink::new(2, 1);
        uplink.join(0);
        uplink.push(0, block(10, &[1, 2]));
        assert_eq!(taken(&mut uplink), [(10, vec![1, 0, 2, 0])]);
        uplink.join(1);
        uplink.push(0, block(12, &[3, 4, 5]));
        assert!(!uplink.has_passing(None));
        assert_eq!(taken(&mut uplink), []);
        // It begins before what was taken, and ends within the other's block.
        uplink.push(1, block(11, &[7, 8, 9]));
        assert!(uplink.has_passing(Some(14)) && !uplink.has_passing(Some(13)));
        assert_eq!(taken(&mut uplink), [(12, vec![3, 8, 4, 9])]);
        // A UE that leaves is waited for no more, and one that sends too late is not heard.
        uplink.leave(1);
        assert_eq!(taken(&mut uplink), [(14, vec![5, 0])]);
        uplink.join(1);
        uplink.push(1, block(9, &[1, 1]));
        uplink.push(0, block(15, &[6]));
        assert_eq!(taken(&mut uplink), []);
        uplink.push(1, block(17, &[2]));
        assert_eq!(taken(&mut uplink), [(15, vec![6, 0])]);
        assert_eq!(uplink.taken(), 16);
        assert_eq!((uplink.sent(0), uplink.sent(1)), (16, 18));
    }

    #[test]
    fn blocks_of_one_ue_pass_as_they_come() {
        let mut uplink = Uplink::new(1, 1);
        uplink.join(0);
        uplink.push(0, block(3, &[1, 2]));
        // It has sent nothing for a sample.
        uplink.push(0, block(6, &[4]));
        assert_eq!(taken(&mut uplink), [(3, vec![1, 2]), (6, vec![4])]);
    }
}
