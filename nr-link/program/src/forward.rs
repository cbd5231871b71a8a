// SPDX-License-Identifier: Apache-2.0
//! Forwarding of packets from devices into the model and from the model into devices.

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

/// The most packets read from one device at once: it delays other devices and the model's slots by
/// about 100 µs at most.
const MOST_READS: u64 = 64;

/// The result of reading from or writing to devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// No packet.
    Nothing,
    /// Some.
    Packets,
    /// Some, and more are left to read.
    More,
}

/// Routes of packets from the core to UEs, by destination address.
#[derive(Debug)]
pub struct Routes {
    by_address: HashMap<IpAddr, UeId>,
    /// The UE of all other addresses.
    default: Option<UeId>,
}

impl Routes {
    /// Makes the routes to the addresses of each UE; a single UE gets all packets.
    ///
    /// # Errors
    /// One of several UEs has no address.
    pub fn of(config: &ResolvedConfig) -> Result<Self, Problem> {
        let ues = &config.ues;
        let single = ues.len() == 1;
        if let Some(ue) = ues.iter().find(|ue| ue.addresses.is_empty() && !single) {
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
            default: single.then_some(UeId(0)),
        })
    }

    fn ue(&self, burst: &Burst) -> Option<UeId> {
        match self.default {
            Some(ue) => Some(ue),
            None => self.by_address.get(&burst.destination()?).copied(),
        }
    }
}

/// The devices of the link: the core's first, then one for each UE.
#[derive(Debug)]
pub struct Devices {
    tuns: Vec<Tun>,
    routes: Routes,
    gro: bool,
    pool: Pool,
    scratch: Buffer,
    headers: Vec<u8>,
    /// When each segment of the next write was due.
    due: Vec<Nanos>,
    written: Vec<usize>,
    refused_count: u64,
    queue_drop_count: u64,
    /// Whether a device had more packets than one read takes, since the kernel was last asked for
    /// its drops. A queue that is always shorter does not overflow.
    found_more: bool,
    unaddressed_count: u64,
}

/// Segments that are written as one packet: consecutive segments of one burst that are all due. A
/// network interface joins the packets since its last interrupt in the same manner (GRO).
struct SegmentGroup {
    first: Delivery<Segment>,
    count: usize,
    bytes: u64,
}

impl SegmentGroup {
    fn of(first: Delivery<Segment>) -> Self {
        let bytes = u64::from(first.packet.bytes);
        Self {
            first,
            count: 1,
            bytes,
        }
    }

    fn continues_with(&self, next: &Delivery<Segment>) -> bool {
        let (last, next_segment) = (&self.first.packet.payload, &next.packet.payload);
        Rc::ptr_eq(&last.burst, &next_segment.burst)
            && next_segment.index == last.index + self.count
            && (next.to, next.ce) == (self.first.to, self.first.ce)
    }
}

impl Devices {
    /// Takes the core's device and those of the UEs, in order; `gro`: whether they join segments.
    pub fn new(core: Tun, ues: Vec<Tun>, routes: Routes, gro: bool) -> Self {
        let pool = Pool::default();
        let scratch = pool.scratch();
        let tuns = std::iter::once(core).chain(ues).collect();
        Self {
            tuns,
            routes,
            gro,
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

    /// Returns all devices by number; 0 is the core's.
    pub fn iter(&self) -> impl Iterator<Item = &Tun> {
        self.tuns.iter()
    }

    /// Returns the number of packets that the kernel refused on either side of the link since the
    /// devices were made.
    pub fn host_drop_count(&mut self) -> Result<u64> {
        if std::mem::take(&mut self.found_more) {
            self.update_drops()?;
        }
        Ok(self.refused_count + self.queue_drop_count)
    }

    /// Updates the drops that [`Self::host_drop_count`] returns, as reported by the kernel.
    pub fn update_drops(&mut self) -> Result<()> {
        let counts = self.tuns.iter_mut().map(Tun::dropped_count);
        self.queue_drop_count = counts.sum::<Result<u64>>()?;
        Ok(())
    }

    /// Returns the number of packets from the core whose address no UE has.
    pub fn unaddressed_count(&self) -> u64 {
        self.unaddressed_count
    }

    /// Returns the number of devices.
    pub fn count(&self) -> usize {
        self.tuns.len()
    }

    /// Reads up to [`MOST_READS`] waiting packets of device `number` into the link. `arrival` is
    /// called after each read and returns the time of arrival: a time from before the read could be
    /// too early, if the process was not running in between.
    pub fn read_into(
        &mut self,
        link: &mut Link<Segment>,
        number: usize,
        arrival: impl Fn() -> Nanos,
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
            let arrival = arrival();
            for packet in Rc::new(burst).segments() {
                link.enqueue(from, packet, arrival);
            }
        }
        trust.found_waiting(MOST_READS);
        self.found_more = true;
        Ok(Found::More)
    }

    /// Writes the packets that are due. Returns the numbers of the devices written to, possibly
    /// with repetitions: their hosts may already have answered.
    pub fn write(
        &mut self,
        deliveries: impl Iterator<Item = Delivery<Segment>>,
        clock: &Clock,
        trust: &mut Trust,
    ) -> Result<std::vec::Drain<'_, usize>> {
        let mut group: Option<SegmentGroup> = None;
        for delivery in deliveries {
            let due = delivery.due;
            match &mut group {
                Some(group) if self.gro && group.continues_with(&delivery) => {
                    group.count += 1;
                    group.bytes += u64::from(delivery.packet.bytes);
                }
                _ => {
                    if let Some(complete) = group.replace(SegmentGroup::of(delivery)) {
                        self.write_group(&complete, clock, trust)?;
                    }
                }
            }
            self.due.push(due);
        }
        if let Some(last) = group {
            self.write_group(&last, clock, trust)?;
        }
        Ok(self.written.drain(..))
    }

    fn write_group(
        &mut self,
        group: &SegmentGroup,
        clock: &Clock,
        trust: &mut Trust,
    ) -> Result<()> {
        let Segment { burst, index } = &group.first.packet.payload;
        write_headers(
            burst,
            *index,
            group.count,
            group.first.ce,
            &mut self.headers,
        );
        let (number, direction) = match group.first.to {
            Port::Core { .. } => (0, Direction::Uplink),
            Port::Ue(UeId(ue)) => (1 + ue, Direction::Downlink),
        };
        let now = clock.now();
        if self.tuns[number].write(&self.headers, burst.payload(*index, group.count))? {
            trust.delivered(direction, group.bytes, now, &self.due);
        } else {
            self.refused_count += group.count as u64;
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
