// SPDX-License-Identifier: Apache-2.0
//! The throughput of two TUN devices and its cost; a raw copy with the same offloads is the limit.
//!
//! `cargo bench -p nr-link` prints a JSON line for each copy; nr-link/benchmarks/measure.py compares the link with
//! them. Sender and receiver share the machine with the copy. The receiver's TCP runs in the copying process, since a
//! write to a TUN device is the reception; its CPU time includes it.

#[path = "../tests/program/testbed/mod.rs"]
mod testbed;

use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use nr_link::burst::Burst;
use nr_link::clock::{Clock, cpu_time};
use nr_link::merge::write_headers;
use nr_link::netns::NamespaceRef;
use nr_link::pool::Pool;
use nr_link::priority;
use nr_link::tun::Tun;
use nr_link::wake::{Event, STOPPED, Waker};
use serde_json::{Value, json};
use testbed::{SERVER, Testbed, UE};

const SECONDS: u64 = 5;

/// The way in which packets are copied from one device to the other.
#[derive(Clone, Copy)]
enum Copying {
    /// Unchanged.
    Raw,
    /// Parsed as a burst and written with new headers, as the link does, but without a model.
    Bursts,
}

/// The traffic through the copy.
#[derive(Clone, Copy)]
enum Load {
    /// One flow at full rate.
    Full,
    /// The traffic of a link of 106 PRB in both directions, captured at both ends; the copy wakes
    /// up once per slot, like the link.
    BothWays,
}

/// Limits the sender's TCP, so that its super-packets are as small as on the link.
const DL_PACED: &str = "--fq-rate=92M";
const UL_PACED: &str = "--fq-rate=14M";
const SLOT_NS: u64 = 500_000;

fn main() {
    if let Some(reason) = testbed::missing() {
        return println!("skipped: {reason}");
    }
    copy("raw", Copying::Raw, Load::Full);
    copy("bursts", Copying::Bursts, Load::Full);
    copy("raw, 106 PRB both ways", Copying::Raw, Load::BothWays);
}

fn copy(name: &str, copying: Copying, load: Load) {
    let testbed = Testbed::new();
    let stop = Arc::new(AtomicBool::new(false));
    let namespaces = (testbed.server.clone(), testbed.ue.clone());
    let (ready, is_ready) = std::sync::mpsc::channel();
    let copier = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            priority::raise();
            let n6 = Tun::open("n6", NamespaceRef::Named(&namespaces.0), 1500).unwrap();
            let ue1 = Tun::open("ue1", NamespaceRef::Named(&namespaces.1), 1500).unwrap();
            ready.send(()).unwrap();
            forward([n6, ue1], copying, load, &stop)
        }
    });
    is_ready.recv().unwrap();
    testbed.address_devices();
    let mbps = match load {
        Load::Full => {
            let _server = testbed.iperf3_server(&testbed.ue);
            rate(testbed.iperf3_client(&testbed.server, UE, SECONDS, &["-Z"]))
        }
        Load::BothWays => {
            let _captures = [&testbed.server, &testbed.ue].map(|netns| testbed.capture(netns));
            let _servers = [&testbed.server, &testbed.ue].map(|netns| testbed.iperf3_server(netns));
            let dl = testbed.iperf3_client(&testbed.server, UE, SECONDS, &[DL_PACED]);
            let ul = testbed.iperf3_client(&testbed.ue, SERVER, SECONDS, &[UL_PACED]);
            rate(dl) + rate(ul)
        }
    };
    stop.store(true, Ordering::Relaxed);
    let cpu_ratio = copier.join().unwrap();
    println!(
        "{}",
        json!({"copy": name, "mbps": mbps, "cpu_ratio": cpu_ratio})
    );
}

/// Copies until stopped; returns the CPU usage of this process, in cores, from the first packet on.
fn forward(mut tuns: [Tun; 2], copying: Copying, load: Load, stop: &AtomicBool) -> f64 {
    let mut waker = Waker::new(&STOPPED).unwrap();
    waker.add(&tuns[0], 0).unwrap();
    waker.add(&tuns[1], 1).unwrap();
    let pool = Pool::default();
    let (mut scratch, mut headers) = (pool.scratch(), Vec::new());
    let clock = Clock::start().unwrap();
    let mut first = None;
    while !stop.load(Ordering::Relaxed) {
        let mut readable = vec![0, 1];
        match load {
            Load::Full => {
                readable.clear();
                let wakened = |event| match event {
                    Event::Packets(device) => readable.push(device),
                    Event::Deadline | Event::Signal(_) => {}
                };
                let deadline = clock.deadline(clock.now() + 1_000_000_000);
                waker.sleep(deadline, wakened).unwrap();
            }
            Load::BothWays => {
                let slot = (clock.now() + 1).next_multiple_of(SLOT_NS);
                waker.pause(clock.deadline(slot)).unwrap();
            }
        }
        for from in readable {
            while let Some(buffer) = tuns[from].read(&mut scratch, &pool).unwrap() {
                first.get_or_insert_with(|| (Instant::now(), cpu_time().unwrap()));
                match copying {
                    Copying::Raw => tuns[1 - from].write(&buffer, &[]).unwrap(),
                    Copying::Bursts => {
                        let burst = Burst::parse(buffer).unwrap();
                        let count = burst.segment_count();
                        write_headers(&burst, 0, count, false, &mut headers);
                        tuns[1 - from]
                            .write(&headers, burst.payload(0, count))
                            .unwrap()
                    }
                };
            }
        }
    }
    let (start, cpu) = first.expect("iperf3 sent something");
    (cpu_time().unwrap() - cpu) as f64 / start.elapsed().as_nanos() as f64
}

fn rate(client: Child) -> f64 {
    wait(client)["end"]["sum_received"]["bits_per_second"]
        .as_f64()
        .unwrap()
        * 1e-6
}

fn wait(client: Child) -> Value {
    serde_json::from_slice(&client.wait_with_output().unwrap().stdout).unwrap()
}
