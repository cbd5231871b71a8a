// SPDX-License-Identifier: Apache-2.0
//! A link in real time, from its devices to its account.

use anyhow::Result;
use nix::sys::signal::Signal;
use nr_link_model::config::Device;
use nr_link_model::{
    CrossTotals, Delivery, Direction, Link, Nanos, NextEvent, ResolvedConfig, Source,
};
use serde_json::{Value, json};

use crate::burst::Segment;
use crate::clock::{Clock, cpu_time};
use crate::forward::{Devices, Found, Routes};
use crate::latency::WakeLatency;
use crate::netns::Place;
use crate::output::{LinkRow, Output, us};
use crate::priority::{self, Priority};
use crate::trust::Trust;
use crate::tun::Tun;
use crate::verdict::judge;
use crate::wake::{Event, STOPPED, Waker};

/// How long we rest at least from one waking to the next while packets come, so that what comes and goes meanwhile is
/// done at once: they are delivered up to this much late. After a silence the first packet does not wait.
const REST: Nanos = 80_000;
/// How long we rest at most, then, if nothing is due: packets are read up to this much late. It is a slot at 30 kHz: what
/// comes within one can only be sent with the next.
const LONGEST_REST: Nanos = 500_000;

/// So few packets may wait for a slot that starts soon, which saves a waking: a UE has decoded a downlink slot one symbol
/// before another starts (N1, TS 38.214 table 5.3-1). More take time to write, and are begun with at once.
const FEW_PACKETS: u64 = 16;

/// So few devices are read sooner than it is asked which of them have packets.
const FEW_DEVICES: usize = 4;
/// How often we look for signals then.
const LOOK: Nanos = 10_000_000;

/// Everything that runs.
pub struct Session {
    config: ResolvedConfig,
    link: Link<Segment>,
    devices: Devices,
    output: Output,
    waker: Waker,
    clock: Clock,
    trust: Trust,
    latency: WakeLatency,
    readable: Vec<usize>,
    /// When we looked for signals.
    looked: Nanos,
    priority: Priority,
    mac_floor_ms: Value,
    interval_start: Nanos,
    start_cpu_ns: Nanos,
    interval_cpu_ns: Nanos,
}

impl Session {
    /// Opens all that `config` names. What fails leaves no device behind.
    pub fn open(config: ResolvedConfig) -> Result<Self> {
        let places = Places::named(&config);
        Self::open_at(&config, &places, &STOPPED)
    }

    /// The same with devices elsewhere than `config` says, and other signals than [`STOPPED`].
    pub fn open_at(config: &ResolvedConfig, places: &Places, signals: &[Signal]) -> Result<Self> {
        let config = config.clone();
        let link = model(&config)?;
        let floor = link.mac_floor_ms(&config);
        let mac_floor_ms = json!({"dl": floor.dl, "ul": floor.ul});
        let waker = Waker::new(signals)?;
        let devices = open_devices(&config, places)?;
        for (number, tun) in devices.iter().enumerate() {
            waker.add(tun, number)?;
        }
        let output = Output::create(&config.output)?;
        let trust = Trust::new(link.slot_length());
        let priority = priority::raise();
        let clock = Clock::start()?;
        let start_cpu_ns = cpu_time()?; // drawing the channel is not the link's work
        let interval_start = 0;
        Ok(Self {
            config,
            link,
            devices,
            output,
            waker,
            clock,
            trust,
            latency: WakeLatency::default(),
            readable: Vec::new(),
            looked: 0,
            priority,
            mac_floor_ms,
            interval_start,
            start_cpu_ns,
            interval_cpu_ns: start_cpu_ns,
        })
    }

    /// The link's devices: the core's first.
    pub fn devices(&self) -> impl Iterator<Item = &Tun> {
        self.devices.iter()
    }

    /// The line that tells that traffic can flow: what the devices are, as read back, and what the machine granted.
    pub fn ready(&self) -> Result<Value> {
        let describe = |tun: &Tun| -> Result<Value> {
            let properties = tun.properties()?;
            Ok(json!({
                "name": tun.name(),
                "netns": tun.netns(),
                "mtu_bytes": properties.mtu_bytes,
                "txqueuelen": properties.txqueuelen,
                "offloads": properties.offloads,
            }))
        };
        let devices = self
            .devices
            .iter()
            .map(describe)
            .collect::<Result<Vec<_>>>()?;
        Ok(json!({
            "event": "ready",
            "devices": devices,
            "start_utc_ns": self.clock.start_utc_ns(),
            "scheduling": self.priority.scheduling,
            "memory_locked": self.priority.memory_locked,
            "mac_floor_ms": self.mac_floor_ms,
        }))
    }

    /// Runs until a signal, and writes the account of the run, also when it fails on the way.
    pub fn run(self) -> Result<()> {
        self.run_until(|_| Ok(true)).map(drop)
    }

    /// Runs until `ends` says of a signal that it is the last; gives the account that it wrote.
    pub fn run_until(mut self, ends: impl FnMut(Signal) -> Result<bool>) -> Result<Value> {
        let outcome = self.forward_until(ends);
        let summary = self.summary(outcome.as_ref().err())?;
        let written = self.output.finish(&summary);
        outcome.and(written).map(|()| summary)
    }

    fn forward_until(&mut self, mut ends: impl FnMut(Signal) -> Result<bool>) -> Result<()> {
        let mut rest = None;
        loop {
            let NextEvent { at: due, idle } = self.link.next_event();
            let mut readable = std::mem::take(&mut self.readable);
            if let Some(signal) = self.wait(rest, due, &mut readable)?
                && ends(signal)?
            {
                return self.end_interval(self.clock.now());
            }
            let now = self.clock.now();
            let delivered = self.trust.delivered_count();
            // What can leave leaves before others are read, for that takes time.
            let mut found = self.write(|link| link.dequeue_early(now), &mut readable)?;
            let starts = |at: &Nanos| *at == due || at.is_multiple_of(self.link.slot_length());
            let read = self.read(&mut readable, rest.filter(starts))?;
            // An idle link has nothing that could be late, unless packets came meanwhile.
            if !(idle && read == Found::Nothing) {
                self.trust.ran(due, now);
            }
            self.link.advance(now);
            found = found
                .max(self.write(Link::dequeue, &mut readable)?)
                .max(read);
            if now >= self.interval_start + self.config.sample_interval {
                self.end_interval(now)?;
            }
            found = found.max(self.read(&mut readable, None)?);
            self.readable = readable;
            rest = match found {
                Found::Nothing => None,
                Found::Packets => {
                    let few = self.trust.delivered_count() - delivered <= FEW_PACKETS;
                    Some(self.rest_from(now, few))
                }
                Found::More => Some(now),
            };
        }
    }

    /// Until when to rest after a waking at `now` that brought packets, few or not.
    fn rest_from(&self, now: Nanos, few: bool) -> Nanos {
        let due = self.link.next_event().at;
        let next = due.clamp(now + REST, now + LONGEST_REST);
        let slot = next.next_multiple_of(self.link.slot_length());
        if few && slot <= due + REST {
            slot
        } else {
            next
        }
    }

    /// Sleeps until packets come or the model's next event is `due`, or else until `rest`, whatever comes; adds the
    /// devices that may have packets. Gives a signal, if there was one.
    fn wait(
        &mut self,
        rest: Option<Nanos>,
        due: Nanos,
        readable: &mut Vec<usize>,
    ) -> Result<Option<Signal>> {
        let (mut signalled, mut timed_out) = (None, false);
        let wakened = |event| match event {
            Event::Packets(device) => readable.push(device),
            Event::Deadline => timed_out = true,
            Event::Signal(signal) => signalled = Some(signal),
        };
        let asleep = self.clock.now();
        let Some(rest) = rest else {
            let asked = due.saturating_sub(self.latency.usual());
            self.waker.sleep(self.clock.deadline(asked), wakened)?;
            if timed_out {
                self.woke(asleep, asked, due);
            }
            return Ok(signalled);
        };
        let asked = rest.saturating_sub(self.latency.usual());
        self.waker.rest(self.clock.deadline(asked))?;
        self.woke(asleep, asked, rest);
        let devices = self.devices.count();
        if devices > FEW_DEVICES || rest >= self.looked + LOOK {
            self.looked = rest;
            self.waker.look(wakened)?;
        } else {
            readable.extend(0..devices);
        }
        Ok(signalled)
    }

    /// A wake that was quicker than those before is early by a few microseconds: too few to sleep again.
    fn woke(&mut self, asleep: Nanos, asked: Nanos, due: Nanos) {
        self.latency.woke(asleep, asked, self.clock.now());
        while self.clock.now() < due {
            std::hint::spin_loop();
        }
    }

    /// Writes what `dequeue` takes from the link; adds the devices that may have got an answer.
    fn write(
        &mut self,
        dequeue: impl Fn(&mut Link<Segment>) -> Option<Delivery<Segment>>,
        readable: &mut Vec<usize>,
    ) -> Result<Found> {
        let (link, clock, trust) = (&mut self.link, &self.clock, &mut self.trust);
        let deliveries = std::iter::from_fn(|| dequeue(link));
        let mut found = Found::Nothing;
        for device in self.devices.write(deliveries, clock, trust)? {
            found = Found::Packets;
            if !readable.contains(&device) {
                readable.push(device);
            }
        }
        Ok(found)
    }

    /// Reads these devices, as we woke for the start of `slot` or of none.
    fn read(&mut self, readable: &mut Vec<usize>, slot: Option<Nanos>) -> Result<Found> {
        let mut found = Found::Nothing;
        for device in readable.drain(..) {
            let (link, trust) = (&mut self.link, &mut self.trust);
            let came = || came(slot, self.clock.now());
            found = found.max(self.devices.read_into(link, device, came, trust)?);
        }
        Ok(found)
    }

    /// Writes the rows of the interval that has ended: if we were late, one long row rather than an invented one.
    fn end_interval(&mut self, now: Nanos) -> Result<()> {
        let start_utc_ns = self.clock.start_utc_ns();
        for sample in self.link.samples() {
            self.output.mac(&sample, start_utc_ns)?;
        }
        let whole_intervals = (now / self.config.sample_interval) * self.config.sample_interval;
        let end = if whole_intervals > self.interval_start {
            whole_intervals
        } else {
            now
        };
        self.trust.host_dropped(self.devices.host_drop_count()?);
        let cpu_ns = cpu_time()?;
        self.output.link(&LinkRow {
            utc_ns: start_utc_ns + self.interval_start as i64,
            duration_ns: end - self.interval_start,
            slots: self.link.slots(),
            cpu_ns: cpu_ns - self.interval_cpu_ns,
            observed: self.trust.end_interval(),
        })?;
        self.interval_start = end;
        self.interval_cpu_ns = cpu_ns;
        let shift_ns = self.clock.follow_utc()?;
        if shift_ns != 0 {
            eprintln!(
                "nr-link: UTC moved by {} µs; later rows follow it",
                shift_ns / 1000
            );
        }
        Ok(())
    }

    fn summary(&mut self, failure: Option<&anyhow::Error>) -> Result<Value> {
        let elapsed_ns = self.clock.now();
        // A device that is gone tells no more.
        if self.devices.ask_for_drops().is_ok() {
            self.trust.host_dropped(self.devices.host_drop_count()?);
        }
        let cross_traffic = json!({
            "dl": self.cross_traffic(Direction::Downlink),
            "ul": self.cross_traffic(Direction::Uplink),
        });
        let slots = self.link.slots();
        let (lateness, counted) = self.trust.whole_run();
        let delivery = self.trust.delivery();
        let (verdict, reasons) = judge(slots, self.link.slot_length(), lateness, counted);
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "verdict": verdict.name(),
            "verdict_reasons": reasons,
            "failure": failure.map(|error| format!("{error:#}")),
            "slots": slots,
            "overrun_count": counted.overruns,
            "host_drop_count": counted.host_drops,
            "lateness_p50_us": lateness.map(|lateness| us(lateness.p50_ns)),
            "lateness_p99_us": lateness.map(|lateness| us(lateness.p99_ns)),
            "lateness_max_us": lateness.map(|lateness| us(lateness.max_ns)),
            "delivery_late_p50_us": delivery.map(|late| us(late.p50_ns)),
            "delivery_late_p99_us": delivery.map(|late| us(late.p99_ns)),
            "delivery_late_max_us": delivery.map(|late| us(late.max_ns)),
            "unaddressed_packets": self.devices.unaddressed_count(),
            "cross_traffic": cross_traffic,
            "cpu_ratio": (cpu_time()? - self.start_cpu_ns) as f64 / elapsed_ns as f64,
            "mac_floor_ms": self.mac_floor_ms,
            "duration_s": elapsed_ns as f64 / 1e9,
            "start_utc_ns": self.clock.start_utc_ns(),
            "delivered_packets": counted.delivered,
            "scheduling": self.priority.scheduling,
            "memory_locked": self.priority.memory_locked,
            "seed": self.config.seed,
        }))
    }

    /// What others sent on the path's line in this direction, by the last `advance`; null where nobody does.
    fn cross_traffic(&mut self, direction: Direction) -> Value {
        let line = &self.config.path.of(direction).line;
        if line.is_none_or(|line| line.cross.is_none()) {
            return Value::Null;
        }
        let CrossTotals { packets, drops } = self.link.cross_totals(direction);
        json!({"packets": packets, "queue_drop_packets": drops})
    }
}

/// When a packet came that we have read by `now`. As we wake for the start of a slot it was there when the slot started,
/// and we see it as late as we woke; but only if that was soon: else it may have come since, and would cross the path in
/// less than its delay.
fn came(slot: Option<Nanos>, now: Nanos) -> Nanos {
    slot.filter(|&start| now.saturating_sub(start) <= REST)
        .unwrap_or(now)
}

/// The model of `config`, with what its scenario gives to each UE.
pub fn model(config: &ResolvedConfig) -> Result<Link<Segment>> {
    Ok(Link::new(config, Source::load(config)?)?)
}

/// Where each device is made.
#[derive(Debug)]
pub struct Places<'a> {
    /// The core's.
    pub core: Place<'a>,
    /// One for each UE.
    pub ues: Vec<Place<'a>>,
}

impl<'a> Places<'a> {
    fn named(config: &'a ResolvedConfig) -> Self {
        let place = |device: &'a Device| Place::of(device.netns.as_deref());
        Self {
            core: place(&config.core),
            ues: config.ues.iter().map(|ue| place(&ue.device)).collect(),
        }
    }
}

fn open_devices(config: &ResolvedConfig, places: &Places) -> Result<Devices> {
    let routes = Routes::of(config)?;
    let open = |device: &Device, place| Tun::open(&device.name, place, config.mtu_bytes);
    let core = open(&config.core, places.core)?;
    let ues = config.ues.iter().zip(&places.ues);
    let ues = ues.map(|(ue, &place)| open(&ue.device, place));
    let ues = ues.collect::<Result<_>>()?;
    Ok(Devices::new(core, ues, routes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_wake_makes_no_packet_older_than_it_may_be() {
        let start = 1_000_000;
        assert_eq!(came(None, start + 40_000), start + 40_000);
        assert_eq!(came(Some(start), start + 40_000), start);
        assert_eq!(came(Some(start), start + 8_000_000), start + 8_000_000);
    }
}
