// SPDX-License-Identifier: Apache-2.0
//! The radio slot by slot.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, bail};
use nr_link_virtual_plan::radio::{Account, PerUe, Sent};

use crate::gate::Gate;
use crate::threads::Threads;
use crate::tunnel::Tunnel;

/// Downlink, uplink: from the gNB, from the UEs.
pub const DIRECTIONS: usize = 2;
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

/// The wall time of a slot.
#[derive(Debug, Clone, Copy)]
pub struct Passage {
    /// The hosts' packets begin to go in.
    pub entering: SystemTime,
    /// The slot begins.
    pub begun: SystemTime,
    /// The modems are at rest.
    pub ended: SystemTime,
}

/// All modems, held at the end of a slot.
#[derive(Debug)]
pub struct Steps {
    gate: Arc<Gate>,
    tunnels: PerUe<Tunnel>,
    threads: Threads,
    slot_samples: u64,
    limit: u64,
    latest: Passage,
    /// The distance that each modem runs on beyond the limit before it waits for samples: the gNB, then the UEs.
    leads: Vec<u64>,
}

impl Steps {
    /// Holds the radio, and measures how far the modems run on.
    ///
    /// # Errors
    /// A UE is not connected; the radio has ended, or does not stop.
    pub fn hold(
        gate: Arc<Gate>,
        tunnels: PerUe<Tunnel>,
        threads: Threads,
        slot_samples: u64,
    ) -> Result<Self> {
        gate.complete()?;
        let limit = gate.hold(slot_samples);
        let mut steps = Self {
            gate,
            tunnels,
            threads,
            slot_samples,
            limit,
            latest: Passage {
                entering: SystemTime::UNIX_EPOCH,
                begun: SystemTime::UNIX_EPOCH,
                ended: SystemTime::UNIX_EPOCH,
            },
            leads: Vec::new(),
        };
        steps.measure_leads()?;
        let mut account = Account::default();
        for _ in 0..TRIED_SLOTS {
            steps.run(&mut account)?;
        }
        steps.collect(&mut steps.nothing())?;
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
        let leads = sent.iter().map(|sent| sent.checked_sub(self.limit));
        let Some(leads) = leads.collect() else {
            bail!("the radio stands still: a modem has not used the samples that it got");
        };
        self.leads = leads;
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

    /// The leads in slots: of the gNB, of each UE.
    pub fn leads_slots(&self) -> (f64, PerUe<f64>) {
        let slots = |lead: &u64| *lead as f64 / self.slot_samples as f64;
        (
            slots(&self.leads[0]),
            self.leads[1..].iter().map(slots).collect(),
        )
    }

    /// The wall time of the latest slot.
    pub fn latest(&self) -> Passage {
        self.latest
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
        packets: &[PerUe<Vec<Sent>>; DIRECTIONS],
        account: &mut Account,
    ) -> Result<[PerUe<Vec<u64>>; DIRECTIONS]> {
        let began = Instant::now();
        self.latest.entering = SystemTime::now();
        let mut arrived = self.nothing();
        account.late_packets += self.collect(&mut arrived)?;
        let (mut settled, mut any) = (true, false);
        for (direction, packets) in packets.iter().enumerate() {
            let of_ues = self.tunnels.iter().zip(packets);
            let all: Vec<_> = of_ues
                .flat_map(|(tunnel, packets)| packets.iter().map(move |&packet| (tunnel, packet)))
                .collect();
            for burst in all.chunks(BURST) {
                for &(tunnel, packet) in burst {
                    tunnel.send(direction, packet)?;
                }
                account.sent_packets[direction] += burst.len() as u64;
                settled &= self.threads.settle(SETTLING);
                any = true;
            }
        }
        if any {
            account.unsettled_injections += u64::from(!settled);
            account.injecting_s += began.elapsed().as_secs_f64();
        }
        self.run(account)?;
        self.collect(&mut arrived)?;
        for (count, arrived) in account.arrived_packets.iter_mut().zip(&arrived) {
            *count += arrived.iter().map(Vec::len).sum::<usize>() as u64;
        }
        account.wall_s += began.elapsed().as_secs_f64();
        Ok(arrived)
    }

    /// Returns room for the numbers of packets of each direction and UE.
    fn nothing(&self) -> [PerUe<Vec<u64>>; DIRECTIONS] {
        [(); DIRECTIONS].map(|()| vec![Vec::new(); self.tunnels.len()])
    }

    /// Adds the numbers of what has come out since the last time; returns how many these are.
    fn collect(&self, arrived: &mut [PerUe<Vec<u64>>; DIRECTIONS]) -> Result<u64> {
        let mut count = 0;
        for (direction, arrived) in arrived.iter_mut().enumerate() {
            for (tunnel, numbers) in self.tunnels.iter().zip(arrived) {
                let before = numbers.len();
                tunnel.arrived(direction, numbers)?;
                count += numbers.len() - before;
            }
        }
        Ok(count as u64)
    }

    /// Runs one slot, until all modems have sent their next block and sleep.
    fn run(&mut self, account: &mut Account) -> Result<()> {
        let began = Instant::now();
        self.latest.begun = SystemTime::now();
        self.limit += self.slot_samples;
        self.gate.release(self.limit);
        // Blocks end some samples beside the slot's boundary: half a slot distinguishes one slot from the next.
        let until = self.limit - self.slot_samples / 2;
        let reached: Vec<u64> = self.leads.iter().map(|lead| until + lead).collect();
        if !self.gate.await_sent(&reached, PATIENCE) {
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
        self.latest.ended = SystemTime::now();
        Ok(())
    }
}
