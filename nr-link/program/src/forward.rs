// SPDX-License-Identifier: Apache-2.0
//! Packets from devices into the model, and from the model into devices.

use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;

use anyhow::Result;
use nr_link_model::{
    Delivery, Direction, Link, Nanos, Port, Problem, ResolvedConfig, UeId, Violation,
};

use crate::burst::{Burst, Segment};
use crate::clock::Clock;
use crate::merge::write_headers;
use crate::pool::{Buffer, Pool};
use crate::trust::Trust;
use crate::tun::Tun;

/// So that one device's flood does not keep the others, or the model's slots, waiting for more than about 100 µs.
const MOST_READS: u64 = 64;

/// What there was to read or to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// No packet.
    Nothing,
    /// Some.
    Packets,
    /// And there are more than we took.
    More,
}

/// Where packets from the core go.
#[derive(Debug)]
pub struct Routes {
    by_address: HashMap<IpAddr, UeId>,
    /// The UE of any other address.
    otherwise: Option<UeId>,
}

impl Routes {
    /// By the addresses of each UE; a lone UE without any gets all there is.
    ///
    /// # Errors
    /// One of several UEs has no address.
    pub fn of(config: &ResolvedConfig) -> Result<Self, Problem> {
        let ues = &config.ues;
        let lone = ues.len() == 1;
        if let Some(ue) = ues.iter().find(|ue| ue.addresses.is_empty() && !lone) {
            return Err(Violation::new(
                format!(
                    "{} is one of {} UEs and has no addresses, so no packet can be sent to it",
                    ue.device.name,
                    ues.len()
                ),
                "Write its addresses: [IP, …]",
            )
            .at_key("devices.ue")
            .or_in_file(&config.file));
        }
        let addresses = ues.iter().enumerate();
        let by_address = addresses.flat_map(|(ue, config)| {
            let addresses = config.addresses.iter();
            addresses.map(move |&address| (address, UeId(ue)))
        });
        Ok(Self {
            by_address: by_address.collect(),
            otherwise: lone.then_some(UeId(0)),
        })
    }

    fn ue(&self, burst: &Burst) -> Option<UeId> {
        match self.otherwise {
            Some(ue) => Some(ue),
            None => self.by_address.get(&burst.destination()?).copied(),
        }
    }
}

/// The link's devices: the core's first, then one for each UE.
#[derive(Debug)]
pub struct Devices {
    tuns: Vec<Tun>,
    routes: Routes,
    pool: Pool,
    scratch: Buffer,
    headers: Vec<u8>,
    /// When each segment was due of those that are written together.
    due: Vec<Nanos>,
    written: Vec<usize>,
    refused_count: u64,
    queue_drop_count: u64,
    /// A device had more packets than we read at once, since we asked the kernel for its drops: no queue overflows
    /// that we find shorter.
    found_more: bool,
    unaddressed_count: u64,
}

/// Segments that leave together: neighbours of one burst that are all due by now. A receiver's interface would hand
/// them over so, too: those that came since its last interrupt, joined (GRO).
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
            && (next.to, next.ce) == (self.first.to, self.first.ce)
    }
}

impl Devices {
    /// Around the core's device and those of the UEs, in order.
    pub fn new(core: Tun, ues: Vec<Tun>, routes: Routes) -> Self {
        let pool = Pool::default();
        let scratch = pool.scratch();
        let tuns = std::iter::once(core).chain(ues).collect();
        Self {
            tuns,
            routes,
            pool,
            scratch,
            headers: Vec::new(),
            due: Vec::new(),
            written: Vec::new(),
            refused_count: 0,
            queue_drop_count: 0,
            found_more: false,
            unaddressed_count: 0,
        }
    }

    /// All of them, by number: 0 is the core's.
    pub fn iter(&self) -> impl Iterator<Item = &Tun> {
        self.tuns.iter()
    }

    /// Packets that the kernel refused on either side of the link, since the devices were made.
    pub fn host_drop_count(&mut self) -> Result<u64> {
        if std::mem::take(&mut self.found_more) {
            self.ask_for_drops()?;
        }
        Ok(self.refused_count + self.queue_drop_count)
    }

    /// Lets the next [`Self::host_drop_count`] be what the kernel says now.
    pub fn ask_for_drops(&mut self) -> Result<()> {
        let counts = self.tuns.iter_mut().map(Tun::dropped_count);
        self.queue_drop_count = counts.sum::<Result<u64>>()?;
        Ok(())
    }

    /// Packets from the core that were for none of the UEs.
    pub fn unaddressed_count(&self) -> u64 {
        self.unaddressed_count
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.tuns.len()
    }

    /// Reads what waits in device `number` into the link, at most [`MOST_READS`] packets. Each has come when `came` says
    /// after it was read: asked before, it could have come while the machine kept us from reading.
    pub fn read_into(
        &mut self,
        link: &mut Link<Segment>,
        number: usize,
        came: impl Fn() -> Nanos,
        trust: &mut Trust,
    ) -> Result<Found> {
        for packets in 0..MOST_READS {
            let Some(buffer) = self.tuns[number].read(&mut self.scratch, &self.pool)? else {
                trust.found_waiting(packets);
                return Ok(match packets {
                    0 => Found::Nothing,
                    _ => Found::Packets,
                });
            };
            let Some(burst) = Burst::parse(buffer) else {
                self.refused_count += 1;
                continue;
            };
            let Some(from) = self.port(number, &burst) else {
                self.unaddressed_count += burst.segment_count() as u64;
                continue;
            };
            let came = came();
            for packet in Rc::new(burst).segments() {
                link.enqueue(from, packet, came);
            }
        }
        trust.found_waiting(MOST_READS);
        self.found_more = true;
        Ok(Found::More)
    }

    /// Writes what is due to the devices. Gives the numbers of those that were written to, some perhaps
    /// more than once: what comes back from their hosts may be there already.
    pub fn write(
        &mut self,
        deliveries: impl Iterator<Item = Delivery<Segment>>,
        clock: &Clock,
        trust: &mut Trust,
    ) -> Result<std::vec::Drain<'_, usize>> {
        let mut run: Option<Run> = None;
        for delivery in deliveries {
            let due = delivery.due;
            match &mut run {
                Some(run) if run.continues_with(&delivery) => {
                    run.count += 1;
                    run.bytes += u64::from(delivery.packet.bytes);
                }
                _ => {
                    if let Some(complete) = run.replace(Run::of(delivery)) {
                        self.write_run(&complete, clock, trust)?;
                    }
                }
            }
            self.due.push(due);
        }
        if let Some(last) = run {
            self.write_run(&last, clock, trust)?;
        }
        Ok(self.written.drain(..))
    }

    fn write_run(&mut self, run: &Run, clock: &Clock, trust: &mut Trust) -> Result<()> {
        let Segment { burst, index } = &run.first.packet.payload;
        write_headers(burst, *index, run.count, run.first.ce, &mut self.headers);
        let (number, direction) = match run.first.to {
            Port::Core { .. } => (0, Direction::Uplink),
            Port::Ue(UeId(ue)) => (1 + ue, Direction::Downlink),
        };
        let now = clock.now();
        if self.tuns[number].write(&self.headers, burst.payload(*index, run.count))? {
            trust.delivered(direction, run.bytes, now, &self.due);
        } else {
            self.refused_count += run.count as u64;
        }
        self.due.clear();
        if self.written.last() != Some(&number) {
            self.written.push(number);
        }
        Ok(())
    }

    fn port(&self, number: usize, burst: &Burst) -> Option<Port> {
        match number {
            0 => self.routes.ue(burst).map(|ue| Port::Core { ue }),
            device => Some(Port::Ue(UeId(device - 1))),
        }
    }
}
