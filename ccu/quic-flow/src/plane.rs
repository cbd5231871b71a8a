// SPDX-License-Identifier: Apache-2.0
//! A congestion control whose window and pacing rate a policy sets (docs/congestion-controls.md): the plane of cc/plane for
//! QUIC. What ACKs say is counted here, and reported when the policy's period is over.

use std::any::Any;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    Controller, ControllerFactory, ControllerMetrics, NewReno, NewRenoConfig,
};
use serde::Serialize;

use crate::clock::Clock;
use crate::records::{APP_LIMITED, CWND_LIMITED, Command, Event, FALLBACK, Report, State};

const FIRST_WINDOW_PACKETS: u32 = 10;
/// Reno takes over when a report has had no answer for so long (docs/congestion-controls.md).
const SILENCE: Duration = Duration::from_millis(500);
/// A burst lasts so long at the policy's pacing rate, as one of Linux does.
const BURST: Duration = Duration::from_millis(1);
const FIRST_PERIOD: Duration = Duration::from_millis(10);

/// The numbers of the plane, for the sender's report.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counters {
    /// Reports that the policy got.
    pub reports: u64,
    /// Reports for which its pipe had no space.
    pub reports_lost: u64,
    /// Commands that came.
    pub commands: u64,
    /// Times that Reno took over.
    pub fallbacks: u64,
}

/// The state of a flow at a departure.
#[derive(Debug, Clone, Copy)]
struct Departure {
    at: Instant,
    delivered: u32,
    delivered_at: Instant,
    /// The departure of the packet that was delivered last.
    first_sent: Instant,
}

/// The sums since the last report.
#[derive(Debug, Default)]
struct Since {
    acks: u32,
    acked: u32,
    losses: u32,
    rtt_min: Option<Duration>,
    rtt_sum: Duration,
    rtt_count: u32,
}

struct Flow {
    /// None: the flow ended.
    reports: Option<File>,
    clock: Clock,
    ports: [u32; 2],
    mss: u16,
    window_packets: u32,
    pacing_rate: u64,
    period: Duration,
    applied: [u64; 2],
    state: State,
    since: Since,
    reported: Instant,
    /// The first report without an answer.
    asked: Option<Instant>,
    departures: VecDeque<Departure>,
    newest: Option<Departure>,
    rate: [u32; 2],
    delivered: u32,
    delivered_at: Instant,
    bytes_acked: u64,
    lost: u32,
    marked: u32,
    in_flight_bytes: u64,
    rtt: Duration,
    srtt: Duration,
    min_rtt: Duration,
    app_limited: bool,
    recovery_start: Option<Instant>,
    next_departure: Instant,
    /// Data waits for its departure; ACKs and probes of the path MTU do not.
    held: bool,
    reno: Option<NewReno>,
    counters: Counters,
}

/// The plane of one flow, which the connection and the endpoint share.
#[derive(Clone)]
pub struct Plane(Arc<Mutex<Flow>>);

impl Plane {
    /// Makes the plane of a flow between two ports, whose reports go to a pipe.
    pub fn new(reports: File, clock: &Clock, here: SocketAddr, peer: SocketAddr) -> Self {
        let now = clock.start_instant();
        Self(Arc::new(Mutex::new(Flow {
            reports: Some(reports),
            clock: clock.clone(),
            ports: [here.port().into(), peer.port().into()],
            mss: 1200,
            window_packets: FIRST_WINDOW_PACKETS,
            pacing_rate: 0,
            period: FIRST_PERIOD,
            applied: [0; 2],
            state: State::default(),
            since: Since::default(),
            reported: now,
            asked: None,
            departures: VecDeque::new(),
            newest: None,
            rate: [0; 2],
            delivered: 0,
            delivered_at: now,
            bytes_acked: 0,
            lost: 0,
            marked: 0,
            in_flight_bytes: 0,
            rtt: Duration::ZERO,
            srtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
            app_limited: false,
            recovery_start: None,
            next_departure: now,
            held: false,
            reno: None,
            counters: Counters::default(),
        })))
    }

    fn flow(&self) -> MutexGuard<'_, Flow> {
        self.0.lock().expect("no holder panics")
    }

    /// Has the flow obey a command at `now`.
    pub fn obey(&self, command: Command, now: Instant) {
        self.flow().obey(command, now);
    }

    /// Reports that the flow ended.
    pub fn end(&self, now: Instant) {
        let mut flow = self.flow();
        flow.report(Event::End, now);
        flow.reports = None;
    }

    /// Gives the flow to Reno, since its policy ended.
    pub fn abandon(&self, now: Instant) {
        self.flow().fall_back(now);
    }

    /// Returns how many datagrams may depart at `now`, or when the next may.
    pub fn allowance(&self, now: Instant) -> Result<usize, Instant> {
        let flow = self.flow();
        match flow.paced() {
            None => Ok(usize::MAX),
            Some(_) if now < flow.next_departure => Err(flow.next_departure),
            Some(rate) => {
                Ok(((rate * BURST.as_secs_f64()) as usize / usize::from(flow.mss)).max(1))
            }
        }
    }

    /// Keeps data from departing, or no longer.
    pub fn hold(&self, held: bool) {
        self.flow().held = held;
    }

    /// Counts bytes that departed at `now`.
    pub fn departed(&self, bytes: usize, now: Instant) {
        let mut flow = self.flow();
        if let Some(rate) = flow.paced() {
            let lasts = Duration::from_secs_f64(bytes as f64 / rate);
            flow.next_departure = flow.next_departure.max(now) + lasts;
        }
    }

    /// Returns the plane's numbers.
    pub fn counters(&self) -> Counters {
        self.flow().counters.clone()
    }
}

impl ControllerFactory for Plane {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mut flow = self.flow();
        (flow.mss, flow.reported, flow.delivered_at) = (current_mtu, now, now);
        flow.report(Event::Start, now);
        drop(flow);
        Box::new(Plane::clone(&self))
    }
}

impl Controller for Plane {
    fn on_sent(&mut self, now: Instant, _bytes: u64, _last_packet_number: u64) {
        let mut flow = self.flow();
        if flow.departures.back().is_none_or(|last| last.at < now) {
            let departure = Departure {
                at: now,
                delivered: flow.delivered,
                delivered_at: flow.delivered_at,
                first_sent: flow.newest.map_or(now, |newest| newest.at),
            };
            flow.departures.push_back(departure);
        }
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let mut flow = self.flow();
        flow.since.acked += 1;
        flow.delivered = flow.delivered.wrapping_add(1);
        (flow.delivered_at, flow.app_limited) = (now, app_limited);
        flow.bytes_acked += bytes;
        flow.note_departure(sent);
        if flow.recovery_start.is_some_and(|start| sent > start) {
            (flow.recovery_start, flow.state) = (None, State::Open);
        }
        if let Some(reno) = &mut flow.reno {
            reno.on_ack(now, sent, bytes, app_limited, rtt);
        }
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest: Option<u64>,
    ) {
        let mut flow = self.flow();
        (flow.in_flight_bytes, flow.app_limited) = (in_flight, app_limited);
        flow.take_samples(now);
        if flow
            .asked
            .is_some_and(|asked| now.duration_since(asked) >= SILENCE)
        {
            flow.fall_back(now);
        }
        if now.duration_since(flow.reported) >= flow.period {
            flow.report(Event::Acks, now);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let mut flow = self.flow();
        let packets = lost_bytes.div_ceil(flow.mss.into()) as u32;
        flow.since.losses += packets;
        flow.lost += packets;
        flow.marked += u32::from(lost_bytes == 0);
        let state = if is_persistent_congestion {
            State::Loss
        } else {
            State::Recovery
        };
        if flow.recovery_start.is_none_or(|start| sent > start) {
            flow.recovery_start = Some(now);
        }
        if state as u8 > flow.state as u8 {
            flow.state = state;
            flow.report(Event::State, now);
        }
        if let Some(reno) = &mut flow.reno {
            reno.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        }
        flow.report(Event::Acks, now);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.flow().mss = new_mtu;
    }

    fn window(&self) -> u64 {
        let flow = self.flow();
        if flow.held { 1 } else { flow.window_bytes() }
    }

    fn metrics(&self) -> ControllerMetrics {
        let flow = self.flow();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = flow.window_bytes();
        metrics.pacing_rate = flow.paced().map(|rate| (rate * 8.0) as u64);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        u64::from(FIRST_WINDOW_PACKETS) * u64::from(self.flow().mss)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Flow {
    fn obey(&mut self, command: Command, now: Instant) {
        let asked = command.report_ns;
        self.applied = [
            command.sequence,
            if asked > 0 {
                self.time_ns(now).saturating_sub(asked)
            } else {
                0
            },
        ];
        self.window_packets = command.cwnd.max(1);
        self.pacing_rate = command.pacing_rate;
        self.period = Duration::from_micros(command.period_us.into());
        (self.asked, self.reno) = (None, None);
        self.counters.commands += 1;
    }

    fn fall_back(&mut self, now: Instant) {
        if self.reno.is_some() {
            return;
        }
        self.counters.fallbacks += 1;
        let mut config = NewRenoConfig::default();
        config.initial_window(self.window_bytes());
        let mut reno = NewReno::new(Arc::new(config), now, self.mss);
        // It begins as after a loss: half of the window, without slow start.
        reno.on_congestion_event(now, now + Duration::from_nanos(1), false, 0);
        self.reno = Some(reno);
    }

    /// Returns the policy's pacing rate in bytes/s, if it has set one.
    fn paced(&self) -> Option<f64> {
        (self.pacing_rate > 0 && self.reno.is_none()).then_some(self.pacing_rate as f64)
    }

    fn window_bytes(&self) -> u64 {
        match &self.reno {
            Some(reno) => reno.window(),
            None => u64::from(self.window_packets) * u64::from(self.mss),
        }
    }

    /// Notes the state at the departure of a packet that was acknowledged.
    fn note_departure(&mut self, sent: Instant) {
        while self.departures.front().is_some_and(|one| one.at < sent) {
            self.departures.pop_front();
        }
        // The departure is not there if a later one was acknowledged before.
        let own = self.departures.front().copied();
        if let Some(own) = own.filter(|own| own.at == sent) {
            self.newest = Some(own);
        }
    }

    /// Takes the samples of RTT and delivery rate that an ACK gives (draft-cheng-iccrg-delivery-rate-estimation).
    fn take_samples(&mut self, now: Instant) {
        self.since.acks += 1;
        let Some(newest) = self.newest else { return };
        self.rtt = now.duration_since(newest.at);
        self.since.rtt_min = Some(
            self.since
                .rtt_min
                .map_or(self.rtt, |least| least.min(self.rtt)),
        );
        self.since.rtt_sum += self.rtt;
        self.since.rtt_count += 1;
        // Quinn updates its own estimates after this, and begins them with 333 ms.
        let is_first = self.srtt.is_zero();
        self.srtt = if is_first {
            self.rtt
        } else {
            (7 * self.srtt + self.rtt) / 8
        }; // RFC 6298
        self.min_rtt = if is_first {
            self.rtt
        } else {
            self.min_rtt.min(self.rtt)
        };
        let arriving = now.duration_since(newest.delivered_at);
        let sending = newest.at.duration_since(newest.first_sent);
        self.rate = [
            self.delivered.wrapping_sub(newest.delivered),
            micros(arriving.max(sending)),
        ];
    }

    fn time_ns(&self, at: Instant) -> u64 {
        self.clock.monotonic_ns(at)
    }

    fn report(&mut self, event: Event, now: Instant) {
        let since = std::mem::take(&mut self.since);
        let mean = since
            .rtt_sum
            .checked_div(since.rtt_count)
            .unwrap_or_default();
        let counts = if event == Event::Start {
            [self.ports[0], self.ports[1], 0]
        } else {
            [since.acks, since.acked, since.losses]
        };
        let flags = if self.app_limited {
            APP_LIMITED
        } else {
            CWND_LIMITED
        } | if self.reno.is_some() { FALLBACK } else { 0 };
        let pacing = self.paced().unwrap_or_else(|| {
            1.25 * self.window_bytes() as f64 / self.srtt.as_secs_f64().max(1e-6)
        });
        let report = Report {
            time_ns: self.time_ns(now),
            counts,
            rtts_us: [
                self.rtt,
                since.rtt_min.unwrap_or_default(),
                mean,
                self.srtt,
                self.min_rtt,
            ]
            .map(micros),
            rate: [self.delivered, self.rate[0], self.rate[1]],
            window: [
                (self.in_flight_bytes / u64::from(self.mss)) as u32,
                self.window_packets,
                self.mss.into(),
            ],
            pacing_rate: pacing as u64,
            bytes_acked: self.bytes_acked,
            totals: [self.lost, 0, self.marked, flags],
            prior_delivered: self.newest.map_or(0, |newest| newest.delivered),
            applied: self.applied,
        };
        self.reported = now;
        let Some(pipe) = &mut self.reports else {
            return;
        };
        match pipe.write_all(&report.bytes(event, self.state)) {
            Ok(()) => self.counters.reports += 1,
            Err(_) => self.counters.reports_lost += 1,
        }
        if event != Event::End {
            self.asked.get_or_insert(now);
        }
    }
}

fn micros(time: Duration) -> u32 {
    time.as_micros() as u32
}
