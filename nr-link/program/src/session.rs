// SPDX-License-Identifier: Apache-2.0
//! A link in real time, from opening its devices to writing its summary.

use std::io::Write;

use anyhow::Result;
use nix::sys::signal::Signal;
use nr_link_model::config::Device;
use nr_link_model::radio::Constellation;
use nr_link_model::{Delivery, Direction, Link, Nanos, NextEvent, ResolvedConfig, Source};
use serde_json::{Value, json};

use crate::burst::Segment;
use crate::clock::{Clock, cpu_time};
use crate::explained::Explained;
use crate::forward::{Devices, Found, Routes};
use crate::latency::WakeLatency;
use crate::netns::NamespaceRef;
use crate::output::{LinkRow, Output, us};
use crate::priority::{self, Priority};
use crate::trust::Trust;
use crate::tun::Tun;
use crate::verdict::assess;
use crate::wake::{Event, STOPPED, Waker};

/// The shortest time between two wake-ups while packets arrive: packets of that time are handled
/// together and delivered up to this much late. The first packet after an idle time does not wait.
const SHORTEST_PAUSE: Nanos = 80_000;
/// The longest time between two wake-ups while packets arrive, if nothing is due: packets are read up to this much
/// late. It is a slot at 30 kHz, and packets within a slot can only be sent with the next one.
const LONGEST_PAUSE: Nanos = 500_000;

/// This many packets may wait for a slot that starts soon, which saves a wake-up: a UE has decoded a downlink slot one
/// symbol before another slot starts (N1, TS 38.214 table 5.3-1). More packets take longer to write, so writing
/// starts at once.
const FEW_PACKETS: u64 = 16;

/// With at most this many devices, all are read; with more, the kernel is asked which of them have
/// packets.
const FEW_DEVICES: usize = 4;
/// The interval at which signals are checked for in that case.
const SIGNAL_CHECK_INTERVAL: Nanos = 10_000_000;
/// The signal that the traffic starts, from which the times of the configuration's changes count.
const TRAFFIC_STARTS: Signal = Signal::SIGUSR1;

/// A running link with its devices and files.
pub struct Session {
    config: ResolvedConfig,
    link: Link<Segment>,
    devices: Devices,
    output: Output,
    explained: Option<Explained>,
    waker: Waker,
    clock: Clock,
    trust: Trust,
    latency: WakeLatency,
    readable: Vec<usize>,
    /// The time of the last check for signals.
    signals_checked: Nanos,
    priority: Priority,
    mac_floor_ms: Value,
    interval_start: Nanos,
    start_cpu_ns: Nanos,
    interval_cpu_ns: Nanos,
}

impl Session {
    /// Opens all devices and files of `config`. After a failure no device is left.
    pub fn open(config: ResolvedConfig) -> Result<Self> {
        let namespaces = DeviceNamespaces::named(&config);
        Self::open_at(
            &config,
            &namespaces,
            &[STOPPED[0], STOPPED[1], TRAFFIC_STARTS],
        )
    }

    /// Does the same with devices in other namespaces than those of `config`, and with other
    /// signals than [`STOPPED`].
    pub fn open_at(
        config: &ResolvedConfig,
        namespaces: &DeviceNamespaces,
        signals: &[Signal],
    ) -> Result<Self> {
        let config = config.clone();
        let mut link = model(&config)?;
        // In real time no slot has the time for what a link computes on first use.
        Constellation::compute_all();
        link.advance(0);
        let floor = link.mac_floor_ms(&config);
        let mac_floor_ms = json!({"dl": floor.dl, "ul": floor.ul});
        let waker = Waker::new(signals)?;
        let devices = open_devices(&config, namespaces)?;
        for (number, tun) in devices.iter().enumerate() {
            waker.add(tun, number)?;
        }
        let output = Output::create(&config.output, &link.csv_header())?;
        let delays = config.output.delays.as_deref();
        let explained = delays.map(|path| Explained::create(path, link.parts()));
        let explained = explained.transpose()?;
        if explained.is_some() {
            link.explain();
        }
        if config.output.mac_pcap.is_some() {
            link.record_mac_pdus();
        }
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
            explained,
            waker,
            clock,
            trust,
            latency: WakeLatency::default(),
            readable: Vec::new(),
            signals_checked: 0,
            priority,
            mac_floor_ms,
            interval_start,
            start_cpu_ns,
            interval_cpu_ns: start_cpu_ns,
        })
    }

    /// Returns the devices of the link, the core's first.
    pub fn devices(&self) -> impl Iterator<Item = &Tun> {
        self.devices.iter()
    }

    /// Returns the line for when traffic can flow: the devices as reported by the kernel, and the
    /// scheduling obtained.
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

    /// Lets the times of the configuration's changes count from now.
    pub fn count_changes_from_now(&mut self) {
        self.link.count_changes_from(self.clock.now());
    }

    /// Runs until a signal arrives, and writes the summary of the run, also after a failure.
    pub fn run(self) -> Result<()> {
        self.run_until(|_| Ok(true)).map(drop)
    }

    /// Runs until `ends` returns true for a signal; returns the summary that was written.
    pub fn run_until(mut self, ends: impl FnMut(Signal) -> Result<bool>) -> Result<Value> {
        let outcome = self.forward_until(ends);
        let summary = self.summary(outcome.as_ref().err())?;
        let written = self.output.finish(&summary);
        let explained = self.explained.map_or(Ok(()), Explained::finish);
        outcome.and(written).and(explained).map(|()| summary)
    }

    fn forward_until(&mut self, mut ends: impl FnMut(Signal) -> Result<bool>) -> Result<()> {
        let mut pause = None;
        loop {
            let NextEvent { at: due, idle } = self.link.next_event();
            let mut readable = std::mem::take(&mut self.readable);
            let signal = self.wait(pause, due, &mut readable)?;
            if signal == Some(TRAFFIC_STARTS) {
                self.count_changes_from_now();
            } else if let Some(signal) = signal
                && ends(signal)?
            {
                return self.end_interval(self.clock.now());
            }
            let now = self.clock.now();
            let delivered = self.trust.delivered_count();
            // Due packets are written before others are read, since reading takes time.
            let mut found = self.write(|link| link.dequeue_early(now), &mut readable)?;
            let starts = |at: &Nanos| *at == due || at.is_multiple_of(self.link.slot_length());
            let read = self.read(&mut readable, pause.filter(starts))?;
            // An idle link has no events that can be late, unless packets have arrived.
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
            pause = match found {
                Found::Nothing => None,
                Found::Packets => {
                    let few = self.trust.delivered_count() - delivered <= FEW_PACKETS;
                    Some(self.pause_after(now, few))
                }
                Found::More => Some(now),
            };
        }
    }

    /// Returns the end of the pause after a wake-up at `now` that had packets; `few` is whether
    /// they were few.
    fn pause_after(&self, now: Nanos, few: bool) -> Nanos {
        let due = self.link.next_event().at;
        let next = due.clamp(now + SHORTEST_PAUSE, now + LONGEST_PAUSE);
        let slot = next.next_multiple_of(self.link.slot_length());
        if few && slot <= due + SHORTEST_PAUSE {
            slot
        } else {
            next
        }
    }

    /// Sleeps until packets arrive or the model's next event is `due`; with `pause`, until then
    /// regardless of events. Adds the devices that may have packets, and returns a signal if there
    /// was one.
    fn wait(
        &mut self,
        pause: Option<Nanos>,
        due: Nanos,
        readable: &mut Vec<usize>,
    ) -> Result<Option<Signal>> {
        let (mut signalled, mut timed_out) = (None, false);
        let wakened = |event| match event {
            Event::Packets(device) => readable.push(device),
            Event::Deadline => timed_out = true,
            // The end of a child is looked at whatever ends the session.
            Event::Signal(Signal::SIGCHLD) if signalled.is_some() => {}
            // Nor does the start of the traffic matter to a link that is to end.
            Event::Signal(TRAFFIC_STARTS) if signalled.is_some() => {}
            Event::Signal(signal) => signalled = Some(signal),
        };
        let asleep = self.clock.now();
        let Some(pause) = pause else {
            let asked = due.saturating_sub(self.latency.usual());
            self.waker.sleep(self.clock.deadline(asked), wakened)?;
            if timed_out {
                self.woke(asleep, asked, due);
            }
            return Ok(signalled);
        };
        let asked = pause.saturating_sub(self.latency.usual());
        self.waker.pause(self.clock.deadline(asked))?;
        self.woke(asleep, asked, pause);
        let devices = self.devices.count();
        if devices > FEW_DEVICES || pause >= self.signals_checked + SIGNAL_CHECK_INTERVAL {
            self.signals_checked = pause;
            self.waker.poll(wakened)?;
        } else {
            readable.extend(0..devices);
        }
        Ok(signalled)
    }

    /// Records the latency of a wake-up, and waits until `due`: an early wake-up is early by a few
    /// microseconds, too few to sleep again.
    fn woke(&mut self, asleep: Nanos, asked: Nanos, due: Nanos) {
        self.latency.woke(asleep, asked, self.clock.now());
        while self.clock.now() < due {
            std::hint::spin_loop();
        }
    }

    /// Writes the packets that `dequeue` takes from the link; adds the devices whose hosts may have
    /// answered.
    fn write(
        &mut self,
        dequeue: impl Fn(&mut Link<Segment>) -> Option<Delivery<Segment>>,
        readable: &mut Vec<usize>,
    ) -> Result<Found> {
        let (link, clock, trust) = (&mut self.link, &self.clock, &mut self.trust);
        let (explained, start_utc_ns) = (&mut self.explained, clock.start_utc_ns());
        let deliveries = std::iter::from_fn(|| {
            let delivery = dequeue(link)?;
            if let Some(explained) = explained {
                explained.record(&delivery, start_utc_ns);
            }
            Some(delivery)
        });
        let mut found = Found::Nothing;
        for device in self.devices.write(deliveries, clock, trust)? {
            found = Found::Packets;
            if !readable.contains(&device) {
                readable.push(device);
            }
        }
        Ok(found)
    }

    /// Reads the devices; `slot` is the start of the slot for which the process woke up, if any.
    fn read(&mut self, readable: &mut Vec<usize>, slot: Option<Nanos>) -> Result<Found> {
        let mut found = Found::Nothing;
        for device in readable.drain(..) {
            let (link, trust) = (&mut self.link, &mut self.trust);
            let arrival = || arrival(slot, self.clock.now());
            found = found.max(self.devices.read_into(link, device, arrival, trust)?);
        }
        Ok(found)
    }

    /// Writes the rows of the interval that has ended. After a delay this is one long row, since
    /// shorter ones were not measured.
    fn end_interval(&mut self, now: Nanos) -> Result<()> {
        let start_utc_ns = self.clock.start_utc_ns();
        for sample in self.link.samples() {
            self.output.mac(&sample, start_utc_ns)?;
        }
        for pdu in self.link.mac_pdus() {
            self.output.pdu(&pdu, start_utc_ns)?;
        }
        let events = self.link.radio_events();
        self.output.radio_events(&events, start_utc_ns)?;
        self.explained.as_mut().map_or(Ok(()), Explained::check)?;
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
            let _ = writeln!(
                std::io::stderr(),
                "nr-link: UTC moved by {} µs; later rows follow it",
                shift_ns / 1000
            );
        }
        Ok(())
    }

    fn summary(&mut self, failure: Option<&anyhow::Error>) -> Result<Value> {
        let elapsed_ns = self.clock.now();
        // A device that no longer exists reports nothing.
        if self.devices.update_drops().is_ok() {
            self.trust.host_dropped(self.devices.host_drop_count()?);
        }
        let cross_traffic = json!({
            "dl": self.link.cross_totals(Direction::Downlink),
            "ul": self.link.cross_totals(Direction::Uplink),
        });
        let slots = self.link.slots();
        let (lateness, counted) = self.trust.whole_run();
        let delivery = self.trust.delivery();
        let (verdict, reasons) = assess(slots, self.link.slot_length(), lateness, counted);
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
}

/// Returns the arrival time of a packet that was read by `now`. After a wake-up for the start of a
/// slot, the packet counts as arrived at that start, as the delay is that of the wake-up. After a
/// long delay this does not hold: the packet may have arrived later, and would pass the path in
/// less than its delay.
fn arrival(slot: Option<Nanos>, now: Nanos) -> Nanos {
    slot.filter(|&start| now.saturating_sub(start) <= SHORTEST_PAUSE)
        .unwrap_or(now)
}

/// Makes the model of `config` with the scenarios of its UEs.
pub fn model(config: &ResolvedConfig) -> Result<Link<Segment>> {
    Ok(Link::new(config, Source::load(config)?)?)
}

/// The namespace of each device.
#[derive(Debug)]
pub struct DeviceNamespaces<'a> {
    /// The namespace of the core's device.
    pub core: NamespaceRef<'a>,
    /// The namespace of each UE's device.
    pub ues: Vec<NamespaceRef<'a>>,
}

impl<'a> DeviceNamespaces<'a> {
    fn named(config: &'a ResolvedConfig) -> Self {
        let namespace = |device: &'a Device| NamespaceRef::of(device.netns.as_deref());
        Self {
            core: namespace(&config.core),
            ues: config.ues.iter().map(|ue| namespace(&ue.device)).collect(),
        }
    }
}

fn open_devices(config: &ResolvedConfig, namespaces: &DeviceNamespaces) -> Result<Devices> {
    let routes = Routes::of(config)?;
    let open = |device: &Device, namespace| Tun::open(&device.name, namespace, config.mtu_bytes);
    let core = open(&config.core, namespaces.core)?;
    let ues = config.ues.iter().zip(&namespaces.ues);
    let ues = ues.map(|(ue, &namespace)| open(&ue.device, namespace));
    let ues = ues.collect::<Result<_>>()?;
    Ok(Devices::new(core, ues, routes, config.gro))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_wake_up_does_not_predate_the_arrival_of_a_packet() {
        let start = 1_000_000;
        assert_eq!(arrival(None, start + 40_000), start + 40_000);
        assert_eq!(arrival(Some(start), start + 40_000), start);
        assert_eq!(arrival(Some(start), start + 8_000_000), start + 8_000_000);
    }
}
