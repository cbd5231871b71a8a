// SPDX-License-Identifier: Apache-2.0
//! Packets from devices into the model, and from the model into devices.

use std::rc::Rc;

use anyhow::Result;
use nr_link_model::{Delivery, Direction, Link, Port};

use crate::burst::{Burst, Segment};
use crate::clock::Clock;
use crate::merge::write_headers;
use crate::pool::{Buffer, Pool};
use crate::trust::Trust;
use crate::tun::Tun;

/// So that one device's flood does not keep the others, or the model's slots, waiting for more than about 100 µs.
const MOST_READS: u64 = 64;

/// The link's devices: the core's first, then one for each UE.
#[derive(Debug)]
pub struct Devices {
    tuns: Vec<Tun>,
    pool: Pool,
    scratch: Buffer,
    headers: Vec<u8>,
    refused_count: u64,
}

/// Segments that leave together: neighbours of one burst, due at one instant.
struct Run {
    first: Delivery<Segment>,
    count: usize,
    bytes: u64,
}

impl Run {
    fn of(first: Delivery<Segment>) -> Self {
        let bytes = u64::from(first.packet.bytes);
        Self {
            first,
            count: 1,
            bytes,
        }
    }

    fn continues_with(&self, next: &Delivery<Segment>) -> bool {
        let (ours, theirs) = (&self.first.packet.payload, &next.packet.payload);
        Rc::ptr_eq(&ours.burst, &theirs.burst)
            && theirs.index == ours.index + self.count
            && (next.to, next.due, next.ce) == (self.first.to, self.first.due, self.first.ce)
    }
}

impl Devices {
    /// Around the core's device and those of the UEs, in order.
    pub fn new(core: Tun, ues: Vec<Tun>) -> Self {
        let pool = Pool::default();
        let scratch = pool.scratch();
        let tuns = std::iter::once(core).chain(ues).collect();
        Self {
            tuns,
            pool,
            scratch,
            headers: Vec::new(),
            refused_count: 0,
        }
    }

    /// All of them, by number: 0 is the core's.
    pub fn iter(&self) -> impl Iterator<Item = &Tun> {
        self.tuns.iter()
    }

    /// Packets that the kernel refused on either side of the link, since the devices were made.
    pub fn host_drop_count(&mut self) -> Result<u64> {
        let mut count = self.refused_count;
        for tun in &mut self.tuns {
            count += tun.dropped_count()?;
        }
        Ok(count)
    }

    /// Reads what waits in device `number` into the link, at most [`MOST_READS`] packets.
    pub fn read_into(
        &mut self,
        link: &mut Link<Segment>,
        number: usize,
        clock: &Clock,
        trust: &mut Trust,
    ) -> Result<()> {
        let from = self.port(number);
        let mut packets = 0;
        while packets < MOST_READS {
            let Some(buffer) = self.tuns[number].read(&mut self.scratch, &self.pool)? else {
                break;
            };
            packets += 1;
            let Some(burst) = Burst::parse(buffer) else {
                self.refused_count += 1;
                continue;
            };
            let now = clock.now();
            for packet in Rc::new(burst).segments() {
                link.enqueue(from, packet, now);
            }
        }
        trust.found_waiting(packets);
        Ok(())
    }

    /// Writes what is due in the link to the devices.
    pub fn write_from(&mut self, link: &mut Link<Segment>, trust: &mut Trust) -> Result<()> {
        let mut run: Option<Run> = None;
        while let Some(delivery) = link.dequeue() {
            match &mut run {
                Some(run) if run.continues_with(&delivery) => {
                    run.count += 1;
                    run.bytes += u64::from(delivery.packet.bytes);
                }
                _ => {
                    if let Some(complete) = run.replace(Run::of(delivery)) {
                        self.write(&complete, trust)?;
                    }
                }
            }
        }
        run.map_or(Ok(()), |last| self.write(&last, trust))
    }

    fn write(&mut self, run: &Run, trust: &mut Trust) -> Result<()> {
        let Segment { burst, index } = &run.first.packet.payload;
        write_headers(burst, *index, run.count, run.first.ce, &mut self.headers);
        let (number, direction) = match run.first.to {
            Port::Core { .. } => (0, Direction::Uplink),
            Port::Ue(ue) => (1 + ue, Direction::Downlink),
        };
        if self.tuns[number].write(&self.headers, burst.payload(*index, run.count))? {
            trust.delivered(direction, run.count as u64, run.bytes);
        } else {
            self.refused_count += run.count as u64;
        }
        Ok(())
    }

    fn port(&self, number: usize) -> Port {
        match number {
            0 => Port::Core { ue: 0 },
            ue => Port::Ue(ue - 1),
        }
    }
}
