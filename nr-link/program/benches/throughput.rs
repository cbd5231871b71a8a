// SPDX-License-Identifier: Apache-2.0
//! What crosses two TUN devices, and what that costs: a raw copy with the same offloads is the limit.
//!
//! `cargo bench -p nr-link` prints a JSON line for each way to copy; nr-link/benchmarks/run compares the link with them.
//! Sender and receiver share the machine with the copy, and the receiver's TCP runs in the copying process (a write to a
//! TUN device is the reception): that is in its CPU time.

#[path = "../tests/testbed/mod.rs"]
mod testbed;

use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use nix::sys::time::TimeSpec;
use nr_link::burst::Burst;
use nr_link::clock::cpu_time;
use nr_link::merge::write_headers;
use nr_link::netns::Place;
use nr_link::pool::Pool;
use nr_link::tun::Tun;
use nr_link::wake::{Event, STOPPED, Waker};
use serde_json::{Value, json};
use testbed::{Testbed, UE};

const SECONDS: u64 = 5;

/// How a packet gets from one device to the other.
#[derive(Clone, Copy)]
enum Copying {
    /// As it is.
    Raw,
    /// Read as a burst and written with new headers, as the link does, without a model in between.
    Bursts,
}

fn main() {
    if let Some(reason) = testbed::missing() {
        return println!("skipped: {reason}");
    }
    copy("raw", Copying::Raw);
    copy("bursts", Copying::Bursts);
}

fn copy(name: &str, copying: Copying) {
    let testbed = Testbed::new();
    let stop = Arc::new(AtomicBool::new(false));
    let namespaces = (testbed.server.clone(), testbed.ue.clone());
    let (ready, is_ready) = std::sync::mpsc::channel();
    let copier = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let n6 = Tun::open("n6", Place::Named(&namespaces.0), 1500).unwrap();
            let ue1 = Tun::open("ue1", Place::Named(&namespaces.1), 1500).unwrap();
            ready.send(()).unwrap();
            forward([n6, ue1], copying, &stop)
        }
    });
    is_ready.recv().unwrap();
    testbed.address_devices();
    let _server = testbed.iperf3_server();
    let mbps = rate(testbed.iperf3_client(&testbed.server, UE, SECONDS, &["-Z"]));
    stop.store(true, Ordering::Relaxed);
    let cpu_ratio = copier.join().unwrap();
    println!(
        "{}",
        json!({"copy": name, "mbps": mbps, "cpu_ratio": cpu_ratio})
    );
}

/// Copies until told to stop; gives this thread's share of a core while packets came.
fn forward(mut tuns: [Tun; 2], copying: Copying, stop: &AtomicBool) -> f64 {
    let mut waker = Waker::new(&STOPPED).unwrap();
    waker.add(&tuns[0], 0).unwrap();
    waker.add(&tuns[1], 1).unwrap();
    let pool = Pool::default();
    let (mut scratch, mut headers) = (pool.scratch(), Vec::new());
    let (start, cpu) = (Instant::now(), cpu_time().unwrap());
    while !stop.load(Ordering::Relaxed) {
        let mut readable = Vec::new();
        let soon = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
        let deadline = soon + TimeSpec::new(1, 0);
        waker
            .sleep(deadline, |event| {
                if let Event::Packets(device) = event {
                    readable.push(device);
                }
            })
            .unwrap();
        for from in readable {
            while let Some(buffer) = tuns[from].read(&mut scratch, &pool).unwrap() {
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
