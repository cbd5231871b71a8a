// SPDX-License-Identifier: Apache-2.0
//! The radio slot by slot.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use nr_link_virtual_plan::radio::{Account, Sent};

use crate::gate::Gate;
use crate::sample_block::DIRECTIONS;
use crate::threads::Threads;
use crate::tunnel::Tunnel;

/// Modems that have not moved for so long have used up what they got.
const STILL: Duration = Duration::from_millis(300);
const LOOK: Duration = Duration::from_millis(5);
/// A slot takes milliseconds; after so long, something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);
/// A slot's work takes less, also where other programs take most of the processor: a modem that works so long
/// after its samples are out does something else.
const SETTLING: Duration = Duration::from_secs(1);
/// Packets sent in at once. The gNB's socket for GTP-U holds 92 of 1500 bytes (net.core.rmem_default), and loses more.
const BURST: usize = 32;
/// Slots in which the leads are checked.
const TRIED_SLOTS: usize = 40;

/// Both modems, held at the end of a slot.
#[derive(Debug)]
pub struct Steps {
    gate: Arc<Gate>,
    tunnel: Tunnel,
    threads: Threads,
    slot_samples: u64,
    limit: u64,
    /// The distance that each modem runs on beyond the limit before it waits for samples.
    leads: [u64; DIRECTIONS],
}

impl Steps {
    /// Holds the radio, and measures how far the modems run on.
    ///
    /// # Errors
    /// The radio has ended, or does not stop.
    pub fn hold(
        gate: Arc<Gate>,
        tunnel: Tunnel,
        threads: Threads,
        slot_samples: u64,
    ) -> Result<Self> {
        let limit = gate.hold(slot_samples);
        let mut steps = Self {
            gate,
            tunnel,
            threads,
            slot_samples,
            limit,
            leads: [0; DIRECTIONS],
        };
        steps.measure_leads()?;
        let mut account = Account::default();
        for _ in 0..TRIED_SLOTS {
            steps.run(&mut account)?;
        }
        let mut waiting = Vec::new();
        for direction in 0..DIRECTIONS {
            steps.tunnel.arrived(direction, &mut waiting)?;
        }
        Ok(steps)
    }

    fn measure_leads(&mut self) -> Result<()> {
        let began = Instant::now();
        let (mut sent, mut since) = (self.gate.sent(), Instant::now());
        while since.elapsed() < STILL {
            std::thread::sleep(LOOK);
            let now = self.gate.sent();
            if now != sent {
                (sent, since) = (now, Instant::now());
            }
            self.check()?;
            if began.elapsed() > PATIENCE {
                bail!(
                    "the radio did not stop within {} s of being held",
                    PATIENCE.as_secs()
                );
            }
        }
        for (lead, sent) in self.leads.iter_mut().zip(sent) {
            let Some(found) = sent.checked_sub(self.limit) else {
                bail!("the radio stands still: a modem has not used the samples that it got");
            };
            *lead = found;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        match self.gate.ended() {
            Some(reason) => bail!("{reason}"),
            None => Ok(()),
        }
    }

    /// The radio's time at which it is held, in samples.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The leads in slots.
    pub fn leads_slots(&self) -> [f64; DIRECTIONS] {
        self.leads
            .map(|lead| lead as f64 / self.slot_samples as f64)
    }

    /// The threads that are watched.
    pub fn threads(&self) -> usize {
        self.threads.count()
    }

    /// Sends packets into the radio, runs a slot, and returns the numbers of what has come out.
    ///
    /// # Errors
    /// A modem has ended or stands still.
    pub fn slot(
        &mut self,
        packets: [&[Sent]; DIRECTIONS],
        account: &mut Account,
    ) -> Result<[Vec<u64>; DIRECTIONS]> {
        let began = Instant::now();
        let mut arrived = <[Vec<u64>; DIRECTIONS]>::default();
        self.collect(&mut arrived)?;
        account.late_packets += arrived.iter().map(Vec::len).sum::<usize>() as u64;
        let mut settled = true;
        for (direction, packets) in packets.into_iter().enumerate() {
            for burst in packets.chunks(BURST) {
                self.tunnel.send(direction, burst)?;
                account.sent_packets[direction] += burst.len() as u64;
                settled &= self.threads.settle(SETTLING);
            }
        }
        if packets.iter().any(|packets| !packets.is_empty()) {
            account.unsettled_injections += u64::from(!settled);
            account.injecting_s += began.elapsed().as_secs_f64();
        }
        self.run(account)?;
        self.collect(&mut arrived)?;
        for (count, arrived) in account.arrived_packets.iter_mut().zip(&arrived) {
            *count += arrived.len() as u64;
        }
        account.wall_s += began.elapsed().as_secs_f64();
        Ok(arrived)
    }

    fn collect(&self, arrived: &mut [Vec<u64>; DIRECTIONS]) -> Result<()> {
        for (direction, numbers) in arrived.iter_mut().enumerate() {
            self.tunnel.arrived(direction, numbers)?;
        }
        Ok(())
    }

    /// Runs one slot, until both modems have sent their next block and sleep.
    fn run(&mut self, account: &mut Account) -> Result<()> {
        let began = Instant::now();
        self.limit += self.slot_samples;
        self.gate.release(self.limit);
        // Blocks end some samples beside the slot's boundary: half a slot distinguishes one slot from the next.
        let reached = self
            .leads
            .map(|lead| self.limit + lead - self.slot_samples / 2);
        if !self.gate.await_sent(reached, PATIENCE) {
            self.check()?;
            bail!(
                "the radio stands still: a slot took more than {} s",
                PATIENCE.as_secs()
            );
        }
        let sent = Instant::now();
        account.unsettled_slots += u64::from(!self.threads.settle(SETTLING));
        account.radio_s += (sent - began).as_secs_f64();
        account.settling_s += sent.elapsed().as_secs_f64();
        account.slots += 1;
        Ok(())
    }
}
