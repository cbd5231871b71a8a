// SPDX-License-Identifier: Apache-2.0
//! DualPI2 and a step threshold in a closed loop: a scalable sender with ECT(1), a CUBIC sender without ECN, over a
//! constant rate.

use std::collections::VecDeque;

use crate::common::{MS, SECOND, capacity_scenario, config, link};
use nr_link_model::aqm::{Aqm, DualPi2, Step};
use nr_link_model::config::{Queue, QueueLimit};
use nr_link_model::{Direction, Ecn, Link, Nanos, Packet, Port, Totals, UeId};

const DURATION: Nanos = 20 * SECOND;
const SETTLED: Nanos = 8 * SECOND;
/// The one-way delay of the path, and that of the return path.
const ONE_WAY: Nanos = 10 * MS;
const BYTES: u32 = 1500;
const LINK_MBPS: f64 = 50.0;

/// The congestion control of a sender.
enum Control {
    /// CUBIC (RFC 9438): the window is a cubic function of the time since the last reduction, which
    /// was to 0.7.
    Cubic { most: f64, cut: Nanos },
    /// DCTCP's response (RFC 8257), which Prague shares: the window is reduced by half the filtered
    /// ratio of marks.
    Scalable { share: f64, marked: u64, round: u64 },
}

struct Sender {
    control: Control,
    window: f64,
    slow_start: bool,
    next: u64,
    acknowledged: u64,
    /// The window is reduced once for all packets sent before a reduction.
    recover: u64,
    delivered: u64,
}

impl Sender {
    fn new(control: Control) -> Self {
        Self {
            control,
            window: 10.0,
            slow_start: true,
            next: 0,
            acknowledged: 0,
            recover: 0,
            delivered: 0,
        }
    }

    fn ecn(&self) -> Ecn {
        match self.control {
            Control::Cubic { .. } => Ecn::NotEct,
            Control::Scalable { .. } => Ecn::Ect1,
        }
    }

    fn may_send(&self) -> bool {
        ((self.next - self.acknowledged) as f64) < self.window
    }

    fn acknowledge(&mut self, number: u64, ce: bool, now: Nanos) {
        let lost = number > self.acknowledged;
        self.acknowledged = number + 1;
        let may_cut = number >= self.recover;
        match &mut self.control {
            Control::Cubic { most, cut } => {
                if (lost || ce) && may_cut {
                    (*most, *cut) = (self.window, now);
                    self.window = (0.7 * self.window).max(2.0);
                    self.slow_start = false;
                    self.recover = self.next;
                } else if self.slow_start {
                    self.window += 1.0;
                } else {
                    let t = (now - *cut) as f64 / 1e9;
                    let k = (*most * 0.3 / 0.4).cbrt();
                    let cubic = 0.4 * (t - k).powi(3) + *most;
                    // The window that Reno would have by now (section 4.3), with a round trip of 20
                    // ms and the queue.
                    let reno = 0.7 * *most + 3.0 * 0.3 / 1.7 * t / 0.035;
                    self.window += ((cubic.max(reno) - self.window) / self.window).max(0.0);
                }
            }
            Control::Scalable {
                share,
                marked,
                round,
            } => {
                *marked += u64::from(ce);
                self.slow_start &= !(ce || lost);
                if may_cut {
                    let all = (self.acknowledged - *round).max(1);
                    *share += (*marked as f64 / all as f64 - *share) / 16.0;
                    if *marked > 0 || lost {
                        self.window = (self.window * (1.0 - *share / 2.0)).max(2.0);
                    }
                    (*marked, *round, self.recover) = (0, self.acknowledged, self.next);
                }
                self.window += if self.slow_start {
                    1.0
                } else {
                    1.0 / self.window
                };
            }
        }
    }
}

struct Outcome {
    /// The waits of each sender's packets after settling, ms, sorted.
    waits_ms: Vec<Vec<f64>>,
    mbps: Vec<f64>,
    totals: Totals,
}

fn run(aqm: Option<Aqm>, controls: Vec<Control>) -> Outcome {
    let mut config = config(&[]);
    config.ues[0].queue.dl = Queue {
        limit: QueueLimit::Packets(3200),
        aqm,
    };
    let rate = capacity_scenario(&format!(
        "{{dl: {{constant_mbps: {LINK_MBPS}}}, ul: {{constant_mbps: {LINK_MBPS}}}}}"
    ));
    let mut link: Link<u64> = link(&config, &rate);
    let mut senders: Vec<Sender> = controls.into_iter().map(Sender::new).collect();
    // The sender of each packet, its number there, and when it was sent.
    let mut packets: Vec<(usize, u64, Nanos)> = Vec::new();
    let mut waits_ms = vec![Vec::new(); senders.len()];
    let mut acks: VecDeque<(Nanos, usize, u64, bool)> = VecDeque::new();
    let mut now = 0;
    while now < DURATION {
        for (index, sender) in senders.iter_mut().enumerate() {
            while sender.may_send() {
                let packet = Packet::new(BYTES, sender.ecn(), packets.len() as u64);
                packets.push((index, sender.next, now));
                link.enqueue(Port::Core { ue: UeId(0) }, packet, now);
                sender.next += 1;
            }
        }
        now = link
            .next_event()
            .at
            .min(acks.front().map_or(Nanos::MAX, |ack| ack.0));
        link.advance(now);
        link.samples();
        while let Some(delivery) = link.dequeue() {
            let (index, number, sent) = packets[delivery.packet.payload as usize];
            if now >= SETTLED {
                let wait = delivery.due - sent - ONE_WAY;
                waits_ms[index].push(wait as f64 / 1e6);
                senders[index].delivered += 1;
            }
            acks.push_back((delivery.due + ONE_WAY, index, number, delivery.ce));
        }
        while let Some(&(_, index, number, ce)) = acks.front().filter(|ack| ack.0 <= now) {
            acks.pop_front();
            senders[index].acknowledge(number, ce, now);
        }
    }
    waits_ms
        .iter_mut()
        .for_each(|waits| waits.sort_by(f64::total_cmp));
    let seconds = (DURATION - SETTLED) as f64 / 1e9;
    let mbps = |sender: &Sender| sender.delivered as f64 * f64::from(BYTES) * 8e-6 / seconds;
    Outcome {
        waits_ms,
        mbps: senders.iter().map(mbps).collect(),
        totals: link.totals(UeId(0), Direction::Downlink),
    }
}

fn cubic() -> Control {
    Control::Cubic { most: 0.0, cut: 0 }
}

fn scalable() -> Control {
    Control::Scalable {
        share: 1.0,
        marked: 0,
        round: 0,
    }
}

fn dual_pi2() -> Option<Aqm> {
    Some(Aqm::DualPi2(DualPi2 {
        target: 15 * MS,
        update: 15 * MS,
        coupling: 2.0,
        l4s_min: MS * 8 / 10,
        l4s_range: MS * 4 / 10,
        ecn: true,
    }))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_scalable_flow_beside_cubic_waits_less_than_5_ms_and_both_get_similar_rates() {
    let Outcome {
        waits_ms,
        mbps,
        totals,
    } = run(dual_pi2(), vec![cubic(), scalable()]);
    let [classic, l4s] = &waits_ms[..] else {
        panic!("two flows");
    };
    let p99 = l4s[l4s.len() * 99 / 100];
    assert!(
        mean(l4s) < 2.0 && p99 < 5.0,
        "mean {} ms, p99 {p99} ms",
        mean(l4s)
    );
    assert!((5.0..25.0).contains(&mean(classic)), "{} ms", mean(classic));
    assert!(mbps.iter().sum::<f64>() > 0.9 * LINK_MBPS, "{mbps:?}");
    let ratio = mbps[1] / mbps[0];
    assert!((0.4..2.5).contains(&ratio), "{mbps:?}");
    assert!(totals.ce_marks > 0 && totals.queue_drops > 0, "{totals:?}");
}

#[test]
fn without_management_the_same_flow_waits_behind_cubic() {
    let outcome = run(None, vec![cubic(), scalable()]);
    assert!(
        mean(&outcome.waits_ms[1]) > 20.0,
        "{}",
        mean(&outcome.waits_ms[1])
    );
}

#[test]
fn alone_each_kind_fills_the_link() {
    for (control, most_ms) in [(cubic(), 25.0), (scalable(), 2.0)] {
        let outcome = run(dual_pi2(), vec![control]);
        assert!(outcome.mbps[0] > 0.9 * LINK_MBPS, "{:?}", outcome.mbps);
        assert!(
            mean(&outcome.waits_ms[0]) < most_ms,
            "{}",
            mean(&outcome.waits_ms[0])
        );
    }
}

#[test]
fn a_step_holds_a_scalable_flow_at_its_threshold_and_the_link_stays_used() {
    for threshold_ms in [1, 4] {
        let step = Some(Aqm::Step(Step::Wait(threshold_ms * MS)));
        let outcome = run(step, vec![scalable()]);
        let (wait_ms, used) = (mean(&outcome.waits_ms[0]), outcome.mbps[0] / LINK_MBPS);
        // The window oscillates below the threshold, and exceeds it for one round trip.
        let expected = threshold_ms as f64;
        assert!(
            (0.4 * expected..1.6 * expected).contains(&wait_ms),
            "{wait_ms} ms at {threshold_ms}"
        );
        assert!(used > 0.95, "{used}");
        assert!(
            outcome.totals.ce_marks > 0 && outcome.totals.queue_drops == 0,
            "{:?}",
            outcome.totals
        );
    }
}

#[test]
fn a_step_of_packets_holds_about_that_many() {
    let outcome = run(Some(Aqm::Step(Step::Packets(20))), vec![scalable()]);
    let wait_of_one_ms = f64::from(BYTES) * 8e-3 / LINK_MBPS;
    let packets = mean(&outcome.waits_ms[0]) / wait_of_one_ms;
    assert!((8.0..32.0).contains(&packets), "{packets}");
}

#[test]
fn a_step_leaves_packets_without_ecn_alone() {
    let step = run(Some(Aqm::Step(Step::Wait(MS))), vec![cubic()]);
    let drop_tail = run(None, vec![cubic()]);
    assert_eq!(step.totals, drop_tail.totals);
    assert_eq!(step.waits_ms, drop_tail.waits_ms);
}
