// SPDX-License-Identifier: Apache-2.0
//! A real radio as the link (`nr-link radio`): it runs one slot at a time, while the hosts' time stands
//! still at the slot's end.
//!
//! Packets that the hosts send wait for the next slot; what comes out of a slot arrives at its end. The
//! radio carries numbers; the packets stay here.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use nr_link_model::config::PerDirection;
use nr_link_model::delays::Captured;
use nr_link_model::{Delays, Part, Port, UeId};
use nr_link_virtual_plan::radio::{Account, Answer, Channels, PerUe, Request, Sent, State};
use serde_json::{Value, json};

use crate::carrier::{Arrival, Carrier, Entering, device_of};
use crate::explained::Explanation;
use crate::fail;
use crate::handle::Handle;
use crate::summary::Counts;

/// The radio keeps the order of packets: what has not come this long after a later one is lost.
const LOST_AFTER_NS: u64 = 1_000_000_000;
/// The share of all slots or packets; more of them make a run degraded.
const TOLERATED_RATIO: f64 = 0.01;
/// The parts of a packet's delay.
const PARTS: [Part; 5] = [
    Part::Path,
    Part::Queue,
    Part::Slot,
    Part::Transmission,
    Part::Radio,
];

/// A packet before, in or after the radio.
#[derive(Debug)]
struct Carried {
    handle: Handle,
    sent: Captured,
    /// When it entered the link, reached the radio, and began its first slot there.
    entered: u64,
    reached: u64,
    begun: u64,
}

/// A packet that the radio has come out with, and when it did.
#[derive(Debug)]
struct Arrived {
    packet: Carried,
    out: u64,
    /// The time in the radio that no packet of its direction has been without.
    least: u64,
    /// When the radio came out with packets before it, which it did not overtake, in an earlier slot.
    before: u64,
}

impl Arrived {
    /// Returns where its delay went, if it left the link at `left`. The radio states no reasons: what follows is when
    /// packets went in and came out.
    fn delays(&self, left: u64) -> Box<Delays> {
        let Carried {
            sent,
            entered,
            reached,
            begun,
            ..
        } = self.packet;
        let inside = self.out - begun;
        let queue = self.before.saturating_sub(begun).min(inside - self.least);
        let mut delays = Box::new(Delays::of_captured(sent));
        delays.entered = entered;
        let times = [
            reached - entered + left - self.out,
            queue,
            begun - reached,
            self.least,
            inside - self.least - queue,
        ];
        for (part, time) in PARTS.into_iter().zip(times) {
            delays.parts[part as usize] = time;
        }
        delays
    }
}

/// The packets of one UE and direction.
#[derive(Debug, Default)]
struct DirectionPackets {
    last_number: u64,
    /// Before the radio, with the time at which they reach it.
    before: VecDeque<(u64, Sent)>,
    /// Before or in the radio.
    packets: BTreeMap<u64, Carried>,
    /// After the radio, with the time at which they arrive.
    after: VecDeque<(u64, Arrived)>,
    /// Times at which the highest number so far came out.
    highest: VecDeque<(u64, u64)>,
    /// The end of the last slot in which a packet came out.
    last_out: u64,
    /// The least time that a packet has been in the radio.
    least: Option<u64>,
    lost: u64,
}

impl DirectionPackets {
    fn arrive(&mut self, numbers: &[u64], now: u64, delay_ns: u64) {
        let before = self.last_out;
        for number in numbers {
            if let Some(packet) = self.packets.remove(number) {
                let inside = now - packet.begun;
                let least = self.least.map_or(inside, |least| least.min(inside));
                (self.least, self.last_out) = (Some(least), now);
                let arrived = Arrived {
                    packet,
                    out: now,
                    least,
                    before,
                };
                self.after.push_back((now + delay_ns, arrived));
            }
        }
        let before = self.highest.back().map_or(0, |&(_, number)| number);
        if let Some(&highest) = numbers.iter().max().filter(|&&number| number > before) {
            self.highest.push_back((now, highest));
        }
        while let Some(&(at, highest)) = self.highest.front()
            && at + LOST_AFTER_NS <= now
        {
            self.highest.pop_front();
            let kept = self.packets.split_off(&highest);
            self.lost += std::mem::replace(&mut self.packets, kept).len() as u64;
        }
    }

    /// Returns what reaches the radio until now.
    fn due(&mut self, now: u64) -> Vec<Sent> {
        let count = self.before.partition_point(|&(at, _)| at <= now);
        let due: Vec<Sent> = self.before.drain(..count).map(|(_, sent)| sent).collect();
        for (number, _) in &due {
            if let Some(packet) = self.packets.get_mut(number) {
                packet.begun = now;
            }
        }
        due
    }
}

/// The radio, from this side.
#[derive(Debug)]
pub struct RadioLink {
    requests: UnixStream,
    answers: BufReader<UnixStream>,
    slot_ns: u64,
    /// The slot that begins next.
    slot: u64,
    /// Whether the slot before is under way.
    running: bool,
    /// The time of the hosts.
    now: u64,
    start_utc_ns: i64,
    /// The wall time at which the radio began its first slot.
    began: Instant,
    /// Delay of the path between server and radio.
    behind_ns: PerDirection<u64>,
    /// The packets of each UE.
    dl: PerUe<DirectionPackets>,
    ul: PerUe<DirectionPackets>,
    explains: bool,
}

impl RadioLink {
    /// Talks to a radio of `ues` UEs through `requests`; `behind_ns`: delay of the path between it and the server;
    /// `explains`: whether packets have an account of their delay.
    pub fn over(
        requests: UnixStream,
        ues: usize,
        behind_ns: PerDirection<u64>,
        explains: bool,
    ) -> Result<Self, String> {
        let answers = requests.try_clone();
        let answers = answers.map_err(|error| format!("the connection to the radio: {error}"))?;
        let answers = BufReader::new(answers);
        Ok(Self {
            requests,
            answers,
            slot_ns: 0,
            slot: 0,
            running: false,
            now: 0,
            start_utc_ns: 0,
            began: Instant::now(),
            behind_ns,
            dl: (0..ues).map(|_| DirectionPackets::default()).collect(),
            ul: (0..ues).map(|_| DirectionPackets::default()).collect(),
            explains,
        })
    }

    fn ask(&mut self, request: &Request) {
        let mut text = serde_json::to_vec(request).expect("it has no maps with other keys");
        text.push(b'\n');
        if let Err(error) = self.requests.write_all(&text) {
            fail(format_args!("the radio has ended ({error})."));
        }
    }

    fn answer(&mut self) -> Answer {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => fail("the radio has ended."),
            Err(error) => fail(format_args!("the radio has ended ({error}).")),
            Ok(_) => {}
        }
        match serde_json::from_str(&line) {
            Ok(Answer::Failed { reason }) => fail(format_args!("the radio failed: {reason}.")),
            Ok(answer) => answer,
            Err(error) => fail(format_args!("the radio is of another version ({error}).")),
        }
    }

    /// Waits for the end of the slot that is under way.
    fn finish_slot(&mut self) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        let Answer::Slot { dl, ul } = self.answer() else {
            fail("the radio gave another answer than was asked for.");
        };
        let ended = self.slot * self.slot_ns;
        for (way, numbers) in self.dl.iter_mut().zip(&dl) {
            way.arrive(numbers, ended, 0);
        }
        for (way, numbers) in self.ul.iter_mut().zip(&ul) {
            way.arrive(numbers, ended, self.behind_ns.ul);
        }
    }

    /// Lets the radio run the slot that begins now.
    fn begin_slot(&mut self) {
        let begins = self.slot * self.slot_ns;
        let request = Request::Slot {
            dl: self.dl.iter_mut().map(|way| way.due(begins)).collect(),
            ul: self.ul.iter_mut().map(|way| way.due(begins)).collect(),
        };
        self.ask(&request);
        self.running = true;
        self.slot += 1;
    }

    fn state(&mut self) -> State {
        self.ask(&Request::State);
        match self.answer() {
            Answer::State(state) => *state,
            _ => fail("the radio gave another answer than was asked for."),
        }
    }
}

impl Carrier for RadioLink {
    fn start(&mut self, utc_ns: i64) {
        self.start_utc_ns = utc_ns;
        self.ask(&Request::Begin { utc_ns });
        match self.answer() {
            Answer::Began { slot_ns } => self.slot_ns = slot_ns,
            _ => fail("the radio gave another answer than was asked for."),
        }
        self.began = Instant::now();
        self.begin_slot();
    }

    fn traffic_started(&mut self, _now: u64) {}

    fn parts(&self) -> &'static [Part] {
        &PARTS
    }

    fn enqueue(&mut self, from: Port, entering: Entering, now: u64) {
        let (way, at) = match from {
            Port::Core { ue } => (&mut self.dl[ue.0], now + self.behind_ns.dl),
            Port::Ue(ue) => (&mut self.ul[ue.0], now),
        };
        way.last_number += 1;
        let packet = Carried {
            handle: entering.handle,
            sent: entering.sent,
            entered: now,
            reached: at,
            begun: at,
        };
        way.packets.insert(way.last_number, packet);
        way.before
            .push_back((at, (way.last_number, entering.bytes)));
    }

    fn advance(&mut self, now: u64) {
        while self.slot * self.slot_ns <= now {
            self.finish_slot();
            self.begin_slot();
        }
        self.now = now;
    }

    fn next_event(&self) -> u64 {
        let ways = self.dl.iter().chain(&self.ul);
        let arrivals = ways.filter_map(|way| way.after.front().map(|&(at, _)| at));
        arrivals.fold(self.slot * self.slot_ns, u64::min)
    }

    fn dequeue(&mut self) -> Option<Arrival> {
        let due =
            |way: &&mut DirectionPackets| way.after.front().is_some_and(|&(at, _)| at <= self.now);
        let ues = || (0..).map(UeId);
        let dl = self.dl.iter_mut().zip(ues());
        let dl = dl.map(|(way, ue)| (way, ue, Port::Ue(ue)));
        let ul = self.ul.iter_mut().zip(ues());
        let ul = ul.map(|(way, ue)| (way, ue, Port::Core { ue }));
        let (way, ue, port) = dl.chain(ul).find(|(way, ..)| due(way))?;
        let (left, arrived) = way.after.pop_front()?;
        let explanation = self.explains.then(|| Explanation {
            delays: arrived.delays(left),
            left,
            ue,
            direction: port.direction(),
        });
        Some(Arrival {
            handle: arrived.packet.handle.delivered(),
            device: device_of(port),
            congestion_experienced: false,
            explanation,
        })
    }

    fn close(&mut self, counts: &Counts, now: u64) -> Value {
        self.finish_slot();
        let State {
            account, channel, ..
        } = self.state();
        let (verdict, reasons) = verdict(&account, channel.as_ref());
        let mut summary = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "clock": "virtual",
            "verdict": verdict,
            "verdict_reasons": reasons,
            "failure": null,
            "slots": account.slots,
            "unaddressed_packets": counts.unaddressed,
            "delivered_packets": counts.delivered,
            "duration_s": now as f64 / 1e9,
            "radio_time_factor": now as f64 / 1e9 / self.began.elapsed().as_secs_f64(),
            "start_utc_ns": self.start_utc_ns,
            "slot_ns": self.slot_ns,
            "lost_packets": {"dl": lost(&self.dl), "ul": lost(&self.ul)},
            "coupling": account,
        });
        if let Some(Channels { dl, ul }) = channel {
            let dl = (1..).zip(dl).map(|(ue, one)| (dl_name(ue), json!(one)));
            summary["channel"] = dl.chain([("ul".to_owned(), json!(ul))]).collect();
        }
        summary
    }
}

fn lost(ways: &[DirectionPackets]) -> u64 {
    ways.iter().map(|way| way.lost).sum()
}

/// Returns the name of the downlink to UE number `ue`, from 1 on.
fn dl_name(ue: usize) -> String {
    match ue {
        1 => "dl".to_owned(),
        _ => format!("dl_ue{ue}"),
    }
}

/// The verdict by the errors of the coupling and of the channel, and the reasons for a worse one than `valid`.
fn verdict(account: &Account, channel: Option<&Channels>) -> (&'static str, Vec<String>) {
    let arrived: u64 = account.arrived_packets.iter().sum();
    let kinds = [
        (
            account.unsettled_injections,
            account.slots,
            "slots began before the modems had taken what the hosts had sent",
        ),
        (
            account.unsettled_slots,
            account.slots,
            "slots ended before the modems were at rest",
        ),
        (
            account.late_packets,
            arrived,
            "packets came out of the radio after the end of their slot",
        ),
    ];
    let channels = channel
        .into_iter()
        .flat_map(|channel| channel.dl.iter().chain([&channel.ul]));
    let saturated = channels.map(|channel| {
        let what = "samples exceeded 16 bits: the receiver was overdriven";
        (channel.saturated_samples, channel.samples, what)
    });
    let reasons: Vec<_> = kinds
        .into_iter()
        .chain(saturated)
        .filter(|&(count, of, _)| count as f64 > TOLERATED_RATIO * of as f64)
        .map(|(count, of, what)| format!("{count} of {of} {what}"))
        .collect();
    match reasons.is_empty() {
        true => ("valid", reasons),
        false => ("degraded", reasons),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread::JoinHandle;

    use nr_link_model::Ecn;
    use nr_link_virtual_plan::radio::Channel;

    use super::*;

    const SLOT_NS: u64 = 500_000;
    const UE: UeId = UeId(0);
    const DOWN: Port = Port::Core { ue: UE };
    const UP: Port = Port::Ue(UE);

    static LOST_SUM: AtomicU64 = AtomicU64::new(0);

    unsafe extern "C" fn lost(number: u64) {
        LOST_SUM.fetch_add(number, Ordering::SeqCst);
    }

    /// A radio that gives each packet but number 3 of the downlink back `slots` slots later; the thread
    /// returns the slots and first numbers that it got.
    fn radio(slots: usize) -> (UnixStream, JoinHandle<Vec<(usize, u64)>>) {
        let (ours, mut answers) = UnixStream::pair().unwrap();
        let thread = std::thread::spawn(move || {
            let requests = BufReader::new(answers.try_clone().unwrap());
            let mut entered = vec![];
            let nothing = [vec![vec![]; 2], vec![vec![]; 2]];
            let mut inside: VecDeque<[PerUe<Vec<u64>>; 2]> = vec![nothing; slots].into();
            let mut slot = 0;
            for line in requests.lines().map_while(Result::ok) {
                let answer = match serde_json::from_str(&line).unwrap() {
                    Request::Begin { .. } => Answer::Began { slot_ns: SLOT_NS },
                    Request::Slot { dl, ul } => {
                        let all = dl.iter().chain(&ul).flatten();
                        entered.extend(all.map(|&(number, _)| (slot, number)));
                        slot += 1;
                        let numbers =
                            |sent: &Vec<Sent>| sent.iter().map(|&(number, _)| number).collect();
                        let [mut dl, ul]: [PerUe<Vec<u64>>; 2] =
                            [dl, ul].map(|ues| ues.iter().map(numbers).collect());
                        dl[0].retain(|&number| number != 3);
                        inside.push_back([dl, ul]);
                        let [dl, ul] = inside.pop_front().unwrap();
                        Answer::Slot { dl, ul }
                    }
                    _ => Answer::State(Box::default()),
                };
                let text = serde_json::to_string(&answer).unwrap() + "\n";
                answers.write_all(text.as_bytes()).unwrap();
            }
            entered
        });
        (ours, thread)
    }

    fn entering(number: u64, bytes: u32) -> Entering {
        Entering {
            handle: Handle::new(number, lost),
            bytes,
            ecn: Ecn::NotEct,
            sent: Captured::default(),
        }
    }

    fn link(radio: UnixStream, behind_ns: u64) -> RadioLink {
        explained(radio, behind_ns, false)
    }

    fn explained(radio: UnixStream, behind_ns: u64, explains: bool) -> RadioLink {
        let behind_ns = PerDirection {
            dl: behind_ns,
            ul: behind_ns,
        };
        let mut link = RadioLink::over(radio, 2, behind_ns, explains).unwrap();
        link.start(0);
        link
    }

    /// Runs to `until`, and returns when which packet arrived.
    fn arrivals(link: &mut RadioLink, until: u64) -> Vec<(u64, u64)> {
        let mut found = vec![];
        while link.next_event() <= until {
            let now = link.next_event();
            link.advance(now);
            while let Some(arrival) = link.dequeue() {
                found.push((now, arrival.handle));
            }
        }
        found
    }

    #[test]
    fn packets_enter_with_the_next_slot_and_arrive_at_the_end_of_one() {
        let (radio, thread) = radio(2);
        let mut link = link(radio, 1_200_000);
        // The uplink enters slot 1 and comes out of slot 3, which ends at 2 ms, 1.2 ms away from the server.
        link.enqueue(UP, entering(70, 84), 300_000);
        // The downlink reaches the radio at 1.5 ms, as slot 3 begins, and comes out of slot 5.
        link.enqueue(DOWN, entering(80, 84), 300_000);
        let found = arrivals(&mut link, 6_000_000);
        assert_eq!(found, [(3_000_000, 80), (3_200_000, 70)]);
        let summary = link.close(&Counts::default(), 6_000_000);
        assert_eq!(summary["verdict"], "valid");
        assert!(summary["radio_time_factor"].as_f64().unwrap() > 0.0);
        drop(link);
        assert_eq!(thread.join().unwrap(), [(1, 1), (3, 1)]);
    }

    /// A radio that comes out with these packets at the end of each slot.
    fn prescribed_radio(mut slots: VecDeque<Vec<u64>>) -> UnixStream {
        let (ours, mut answers) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            let requests = BufReader::new(answers.try_clone().unwrap());
            for line in requests.lines().map_while(Result::ok) {
                let answer = match serde_json::from_str(&line).unwrap() {
                    Request::Begin { .. } => Answer::Began { slot_ns: SLOT_NS },
                    Request::Slot { .. } => Answer::Slot {
                        dl: vec![slots.pop_front().unwrap_or_default(), vec![]],
                        ul: vec![vec![], vec![]],
                    },
                    _ => Answer::State(Box::default()),
                };
                let text = serde_json::to_string(&answer).unwrap() + "\n";
                answers.write_all(text.as_bytes()).unwrap();
            }
        });
        ours
    }

    #[test]
    fn what_is_neither_the_least_time_nor_behind_others_is_the_radios() {
        // Three packets enter the radio with slot 1, at 0.5 ms, and a fourth with slot 7, at 3.5 ms.
        let mut slots = vec![vec![]; 11];
        slots[2] = vec![1];
        slots[5] = vec![2, 3];
        slots[10] = vec![4];
        let mut link = explained(prescribed_radio(slots.into()), 0, true);
        for number in 1..=3 {
            link.enqueue(DOWN, entering(number, 1500), 300_000);
        }
        link.advance(3_300_000);
        link.enqueue(DOWN, entering(4, 1500), 3_300_000);
        link.advance(6_000_000);
        let mut parts = vec![];
        while let Some(arrival) = link.dequeue() {
            let Explanation { delays, left, .. } = arrival.explanation.unwrap();
            assert_eq!(delays.entered + delays.total(), left);
            assert_eq!(delays.of(Part::Slot), 200_000);
            let of_radio = [Part::Transmission, Part::Queue, Part::Radio];
            parts.push((arrival.handle, of_radio.map(|part| delays.of(part) / 1000)));
        }
        let expected = [
            (1, [1000, 0, 0]),
            (2, [1000, 1000, 500]),
            (3, [1000, 1000, 500]),
            (4, [1000, 0, 1000]),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn a_packet_that_later_ones_have_overtaken_is_lost() {
        let (radio, _thread) = radio(0);
        let mut link = link(radio, 0);
        for number in 1..=5 {
            link.enqueue(DOWN, entering(number, 1500), 0);
        }
        let found = arrivals(&mut link, 900_000_000);
        let numbers: Vec<_> = found.iter().map(|&(_, handle)| handle).collect();
        assert_eq!(numbers, [1, 2, 4, 5]);
        assert_eq!(LOST_SUM.load(Ordering::SeqCst), 0);
        arrivals(&mut link, 1_100_000_000);
        assert_eq!(LOST_SUM.load(Ordering::SeqCst), 3);
        let summary = link.close(&Counts::default(), 1_100_000_000);
        assert_eq!(summary["lost_packets"]["dl"], 1);
    }

    #[test]
    fn packets_of_each_ue_have_numbers_of_their_own() {
        let (radio, thread) = radio(0);
        let mut link = link(radio, 0);
        let other = UeId(1);
        for (number, port) in [(1, DOWN), (2, Port::Core { ue: other }), (3, UP)] {
            link.enqueue(port, entering(number, 1500), 0);
        }
        link.enqueue(Port::Ue(other), entering(4, 1500), 0);
        link.advance(1_000_000);
        let mut devices = vec![];
        while let Some(Arrival { handle, device, .. }) = link.dequeue() {
            devices.push((handle, device));
        }
        // To both UEs, and from both to the server.
        assert_eq!(devices, [(1, 1), (2, 2), (3, 0), (4, 0)]);
        link.close(&Counts::default(), 1_000_000);
        drop(link);
        assert_eq!(thread.join().unwrap(), [(1, 1); 4]);
    }

    #[test]
    fn the_verdict_follows_the_coupling() {
        let exact = Account {
            slots: 1000,
            arrived_packets: [500, 500],
            late_packets: 10,
            ..Account::default()
        };
        assert_eq!(verdict(&exact, None).0, "valid");
        let late = Account {
            late_packets: 11,
            ..exact.clone()
        };
        assert_eq!(verdict(&late, None).0, "degraded");
        let unsettled = Account {
            unsettled_slots: 11,
            ..exact
        };
        let (worse, reasons) = verdict(&unsettled, None);
        assert_eq!((worse, reasons.len()), ("degraded", 1));
        let channel = |saturated_samples| Channel {
            samples: 1000,
            saturated_samples,
            ..Channel::default()
        };
        let channels = |dl: &[u64], ul| Channels {
            dl: dl.iter().map(|&count| channel(count)).collect(),
            ul: channel(ul),
        };
        let sound = Account::default();
        assert_eq!(verdict(&sound, Some(&channels(&[10, 10], 0))).0, "valid");
        let (worse, _) = verdict(&sound, Some(&channels(&[0, 11], 0)));
        assert_eq!(worse, "degraded");
        let (worse, reasons) = verdict(&sound, Some(&channels(&[0], 11)));
        assert_eq!(worse, "degraded");
        assert!(reasons[0].contains("11 of 1000 samples exceeded 16 bits"));
    }
}
