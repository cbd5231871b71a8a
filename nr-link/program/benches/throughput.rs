// SPDX-License-Identifier: Apache-2.0
//! What crosses two TUN devices, and what that costs: a raw copy with the same offloads is the limit.
//!
//! `cargo bench -p nr-link` prints a table. Sender and receiver share the machine with the copy, and the receiver's
//! TCP runs in the copying process (a write to a TUN device is the reception): that is in its CPU time.

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
use serde_json::Value;
use testbed::{SERVER, Testbed, UE};

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
    println!(
        "{:34} {:>10} {:>10} {:>12}",
        "", "DL Mbit/s", "UL Mbit/s", "CPU (1=core)"
    );
    copy("raw copy, MTU 1500", Copying::Raw);
    copy("bursts, MTU 1500", Copying::Bursts);
    nr_link("nr-link, 106 PRB, both ways", 106);
    nr_link("nr-link, 24 PRB, both ways", 24);
}

fn row(name: &str, [dl_mbps, ul_mbps]: [f64; 2], cpu_ratio: f64) {
    println!("{name:34} {dl_mbps:10.1} {ul_mbps:10.1} {cpu_ratio:12.4}");
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
    let mbps = rate(testbed.iperf3_client(&testbed.server, UE, SECONDS, &[]));
    stop.store(true, Ordering::Relaxed);
    row(name, [mbps, f64::NAN], copier.join().unwrap());
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
            .sleep(None, deadline, |event| {
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

fn nr_link(name: &str, prb: u16) {
    let testbed = Testbed::new();
    let config = testbed.configure(prb, 10.0);
    // A long uplink queue would hold up the downlink's ACKs: that is the network's doing, and not what is measured.
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(
        &config,
        text.replace("ul: {packets: 3200}", "ul: {packets: 60}"),
    )
    .unwrap();
    let link = testbed.start(&config);
    let _server = testbed.iperf3_server();
    let both = testbed.iperf3_client(&testbed.server, UE, SECONDS, &["--bidir", "-C", "cubic"]);
    let report = wait(both);
    link.stop();
    let text = std::fs::read(testbed.folder.path().join("link-summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&text).unwrap();
    let mbps = |key: &str| report["end"][key]["bits_per_second"].as_f64().unwrap() * 1e-6;
    row(
        name,
        [mbps("sum_received"), mbps("sum_received_bidir_reverse")],
        summary["cpu_ratio"].as_f64().unwrap(),
    );
    println!(
        "    {SERVER}–{UE}: verdict {}, lateness p99 {} µs",
        summary["verdict"], summary["lateness_p99_us"]
    );
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
