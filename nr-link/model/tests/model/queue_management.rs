// SPDX-License-Identifier: Apache-2.0
//! Queue management in a closed loop: senders that halve their window keep the wait at the target.

use std::collections::VecDeque;

use crate::common::{MS, SECOND, capacity_scenario, config, flat, link};
use nr_link_model::aqm::{Aqm, CoDel, Pie};
use nr_link_model::config::{Queue, QueueLimit};
use nr_link_model::scenario::Scenario;
use nr_link_model::{Direction, Ecn, Link, Nanos, Packet, Port, Totals, UeId};

const FLOWS: usize = 4;
const DURATION: Nanos = 20 * SECOND;
/// Slow start has ended by this time.
const SETTLED: Nanos = 5 * SECOND;
/// The delay to the sender, which with the path's 10 ms makes a round trip of 20 ms.
const RETURN: Nanos = 10 * MS;

/// A Reno window (RFC 5681) without timeouts: losses are detected as gaps, CE as in RFC 3168.
struct Reno {
    window: f64,
    threshold: f64,
    next: u64,
    acknowledged: u64,
    /// The window is halved once for all packets sent before a reduction.
    recover: u64,
}

impl Reno {
    fn new() -> Self {
        Self {
            window: 10.0,
            threshold: f64::INFINITY,
            next: 0,
            acknowledged: 0,
            recover: 0,
        }
    }

    fn may_send(&self) -> bool {
        ((self.next - self.acknowledged) as f64) < self.window
    }

    fn acknowledge(&mut self, number: u64, ce: bool) {
        let lost = number > self.acknowledged;
        self.acknowledged = number + 1;
        if (lost || ce) && number >= self.recover {
            self.threshold = (self.window / 2.0).max(2.0);
            self.window = self.threshold;
            self.recover = self.next;
        } else if self.window < self.threshold {
            self.window += 1.0;
        } else {
            self.window += 1.0 / self.window;
        }
    }
}

/// Returns the mean wait of each interval after settling, ms, and the counters at the end.
fn run(scenario: &Scenario, queue: Queue, ecn: Ecn) -> (Vec<f64>, Totals) {
    let mut config = config(&[]);
    config.ues[0].queue.dl = queue;
    let mut link: Link<u64> = link(&config, scenario);
    let mut flows: Vec<Reno> = (0..FLOWS).map(|_| Reno::new()).collect();
    let mut acks: VecDeque<(Nanos, usize, u64, bool)> = VecDeque::new();
    let (mut now, mut waits) = (0, Vec::new());
    while now < DURATION {
        for (index, flow) in flows.iter_mut().enumerate() {
            while flow.may_send() {
                let packet = Packet::new(1500, ecn, flow.next * FLOWS as u64 + index as u64);
                link.enqueue(Port::Core { ue: UeId(0) }, packet, now);
                flow.next += 1;
            }
        }
        let ack = acks.front().map_or(Nanos::MAX, |ack| ack.0);
        now = link.next_event().at.min(ack);
        link.advance(now);
        while let Some(delivery) = link.dequeue() {
            let (number, index) = (
                delivery.packet.payload / FLOWS as u64,
                (delivery.packet.payload % FLOWS as u64) as usize,
            );
            acks.push_back((delivery.due + RETURN, index, number, delivery.ce));
        }
        while acks.front().is_some_and(|ack| ack.0 <= now) {
            let Some((_, index, number, ce)) = acks.pop_front() else {
                break;
            };
            flows[index].acknowledge(number, ce);
        }
        let settled = link.samples().filter(|sample| sample.start >= SETTLED);
        waits.extend(settled.filter_map(|sample| sample.directions.dl.wait_ms));
    }
    (waits, link.totals(UeId(0), Direction::Downlink))
}

fn mean(waits: &[f64]) -> f64 {
    waits.iter().sum::<f64>() / waits.len() as f64
}

fn utilisation(totals: &Totals) -> f64 {
    totals.sdu_bytes as f64 / totals.capacity_sdu_bytes
}

fn fifty_mbps() -> Scenario {
    capacity_scenario("{dl: {constant_mbps: 50}, ul: {constant_mbps: 50}}")
}

fn managed(aqm: Option<Aqm>) -> Queue {
    Queue {
        limit: QueueLimit::Packets(3200),
        aqm,
    }
}

fn codel(ecn: bool) -> Option<Aqm> {
    Some(Aqm::CoDel(CoDel {
        target: 5 * MS,
        interval: 100 * MS,
        ecn,
    }))
}

#[test]
fn without_queue_management_the_buffer_stays_full() {
    let (waits, totals) = run(&fifty_mbps(), managed(None), Ecn::Ect0);
    assert!(mean(&waits) > 80.0, "{} ms", mean(&waits));
    assert_eq!(totals.ce_marks, 0);
}

#[test]
fn codel_holds_its_target_and_fills_the_link() {
    for ecn in [false, true] {
        let (waits, totals) = run(&fifty_mbps(), managed(codel(ecn)), Ecn::Ect0);
        let (wait_ms, utilisation) = (mean(&waits), utilisation(&totals));
        assert!((1.0..10.0).contains(&wait_ms), "{wait_ms} ms, ecn: {ecn}");
        assert!(utilisation > 0.9, "{utilisation}, ecn: {ecn}");
        assert_eq!(totals.queue_drops == 0, ecn, "{totals:?}");
        assert_eq!(totals.ce_marks > 0, ecn, "{totals:?}");
    }
}

#[test]
fn codel_drops_what_cannot_be_marked() {
    let (waits, totals) = run(&fifty_mbps(), managed(codel(true)), Ecn::NotEct);
    assert!(mean(&waits) < 10.0);
    assert!(totals.queue_drops > 0 && totals.ce_marks == 0, "{totals:?}");
}

#[test]
fn codel_holds_its_target_over_radio() {
    let unmanaged = run(&flat(15.0), managed(None), Ecn::Ect0);
    let (waits, totals) = run(&flat(15.0), managed(codel(false)), Ecn::Ect0);
    assert!(mean(&unmanaged.0) > 50.0, "{} ms", mean(&unmanaged.0));
    assert!(mean(&waits) < 10.0, "{} ms", mean(&waits));
    assert!(utilisation(&totals) > 0.85, "{}", utilisation(&totals));
}

#[test]
fn pie_steers_to_its_target_and_fills_the_link() {
    for ecn in [false, true] {
        let pie = Aqm::Pie(Pie {
            target: 15 * MS,
            update: 15 * MS,
            ecn,
            on_off: false,
            derandomise: ecn,
        });
        let (waits, totals) = run(&fifty_mbps(), managed(Some(pie)), Ecn::Ect0);
        let (wait_ms, utilisation) = (mean(&waits), utilisation(&totals));
        assert!((7.5..22.5).contains(&wait_ms), "{wait_ms} ms, ecn: {ecn}");
        assert!(utilisation > 0.9, "{utilisation}, ecn: {ecn}");
        assert!(totals.queue_drops > 0 || ecn, "{totals:?}");
        assert_eq!(totals.ce_marks > 0, ecn, "{totals:?}");
    }
}
