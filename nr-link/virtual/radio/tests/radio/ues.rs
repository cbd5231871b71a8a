// SPDX-License-Identifier: Apache-2.0
//! Several UEs: each hears the gNB over its own channel, and the gNB hears their sum.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use clap::Parser;
use nr_link_virtual_plan::radio::{Answer, Channels, Request};
use nr_link_virtual_radio::run;

use crate::channel::{LINK, SCENARIO};
use crate::modems::{
    Client, CommandLine, SLOT, end, eventually, free_address, gnb, sent_sample, ue,
};

/// The emulator is late by so many samples.
const LATE: u64 = 9;
const ATTACH_GAIN: f64 = 10.0;
/// The level of each UE, which is held, and of its uplink below the first UE's, by SNR, as amplitudes.
const DL_GAINS: [f64; 2] = [1.0, 1.0];
const UL_GAINS: [f64; 2] = [1.0, 0.501_187];

/// The samples that a modem has heard, with their numbers.
#[derive(Debug, Default)]
struct Heard(Vec<(u64, [i16; 2])>);

impl Heard {
    /// Returns the samples from number `from` on that differ by more than `allowed` from `gain` times what was sent `LATE` samples before.
    fn wrong(&self, from: u64, gain: f64, allowed: f64) -> Vec<(u64, [i16; 2])> {
        let after = self.0.iter().filter(|(n, _)| *n >= from);
        let wrong = after.filter(|(n, got)| {
            let sent = sent_sample(n.checked_sub(LATE));
            let off = |at: usize| (f64::from(got[at]) - gain * f64::from(sent[at])).abs();
            off(0).max(off(1)) > allowed
        });
        wrong.copied().collect()
    }
}

type Shared = Arc<Mutex<Heard>>;

fn hearing(heard: &Shared) -> impl FnMut(u64, [i16; 2]) + Send + 'static {
    let heard = Arc::clone(heard);
    move |n, got| heard.lock().unwrap().0.push((n, got))
}

fn connect(address: std::net::SocketAddr, heard: &Shared) -> TcpStream {
    let stream = eventually(|| TcpStream::connect(address).ok());
    let (kept, hear) = (stream.try_clone().unwrap(), hearing(heard));
    std::thread::spawn(move || ue(stream, hear));
    kept
}

#[test]
fn each_ue_has_its_channel_and_the_gnb_hears_their_sum() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let two = "ue: [{name: ue1}, {name: ue2, scenario: other.yaml}]";
    std::fs::write(file("link.yaml"), LINK.replace("ue: [{name: ue1}]", two)).unwrap();
    std::fs::write(file("scenario.yaml"), SCENARIO).unwrap();
    // 10 dB less of the signal, whose level is held, and 6 dB less SNR.
    let other = SCENARIO.replace("-74", "-84").replace("80", "74");
    std::fs::write(file("other.yaml"), other).unwrap();
    let (socket, listen) = (file("socket"), free_address());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let by_gnb = Shared::default();
    let hears = hearing(&by_gnb);
    std::thread::spawn(move || gnb(&listener, &AtomicU64::new(0), hears));
    let path = folder.path().display();
    let line = format!(
        "radio --listen {listen} --gnb {address} --slot-samples {SLOT} --socket {path}/socket \
         --channel {path}/link.yaml --channel-record {path}/channel.csv --slot-record {path}/slots.csv"
    );
    let arguments = CommandLine::parse_from(line.split(' ')).radio;
    std::thread::spawn(move || run(&arguments).unwrap());

    let by_ues = [(); 2].map(|()| Shared::default());
    let first = connect(listen, &by_ues[0]);
    let mut hosts = eventually(|| socket.exists().then(|| Client::connect(&socket)));
    let connected = |hosts: &mut Client, count| {
        eventually(|| (hosts.state().connected_ues == count).then_some(()));
    };
    connected(&mut hosts, 1);
    let hold = Request::Hold {
        server: end(7),
        ues: vec![end(8), end(9)],
        processes: vec![],
    };
    let Answer::Failed { reason } = hosts.ask(&hold) else {
        panic!("held without a UE");
    };
    assert_eq!(reason, "UE 2 is not connected");
    // A UE that leaves while others attach may come again.
    let attempt = Shared::default();
    let second = connect(listen, &attempt);
    connected(&mut hosts, 2);
    second.shutdown(Shutdown::Both).unwrap();
    connected(&mut hosts, 1);
    let _second = connect(listen, &by_ues[1]);
    connected(&mut hosts, 2);
    // One more finds no place.
    let third = connect(listen, &attempt);
    connected(&mut hosts, 2);
    drop(third);

    let Answer::Held { ul_lead_slots, .. } = hosts.ask(&hold) else {
        panic!("not held");
    };
    assert_eq!(ul_lead_slots.len(), 2);
    // While they attach, the gNB hears ten times what each sends, and both send the same.
    let heard = std::mem::take(&mut *by_gnb.lock().unwrap());
    let from = heard.0.last().unwrap().0 - SLOT;
    assert_eq!(heard.wrong(from, 2.0 * ATTACH_GAIN, 0.0), []);
    for heard in &by_ues {
        heard.lock().unwrap().0.clear();
    }
    hosts.ask(&Request::Begin { utc_ns: 0 });
    let slot = Request::Slot {
        dl: vec![vec![(1, 100)], vec![(1, 200), (2, 300)]],
        ul: vec![vec![], vec![(1, 84)]],
    };
    let Answer::Slot { dl, ul } = hosts.ask(&slot) else {
        panic!("no slot");
    };
    assert_eq!((dl, ul), (vec![vec![1], vec![1, 2]], vec![vec![], vec![1]]));
    for _ in 0..60 {
        hosts.slot(&[], &[]);
    }
    for (heard, gain) in by_ues.iter().zip(DL_GAINS) {
        let heard = heard.lock().unwrap();
        let from = heard.0[10 * SLOT as usize].0;
        assert_eq!(heard.wrong(from, gain, 0.52), []);
    }
    let heard = by_gnb.lock().unwrap();
    let from = heard.0[10 * SLOT as usize].0;
    assert_eq!(heard.wrong(from, UL_GAINS.iter().sum(), 0.53), []);
    let Channels { dl, ul } = hosts.state().channel.unwrap();
    assert_eq!(dl.len(), 2);
    assert!(dl.iter().chain([&ul]).all(|one| one.samples > 50 * SLOT));
    let record = std::fs::read_to_string(file("channel.csv")).unwrap();
    let rows: Vec<_> = record.lines().skip(1).take(2).collect();
    // The gNB hears the second UE by as much less as its SNR is.
    assert!(rows[0].starts_with("0,0.0000,0,-74.00,80.00,0.00,,80.00,0.00,,"));
    assert!(rows[1].starts_with("0,0.0000,1,-84.00,74.00,0.00,,74.00,-6.00,,"));

    let slots = std::fs::read_to_string(file("slots.csv")).unwrap();
    let slots: Vec<Vec<u64>> = slots
        .lines()
        .skip(1)
        .map(|row| row.split(',').map(|word| word.parse().unwrap()).collect())
        .collect();
    assert_eq!(slots.len(), 61);
    assert_eq!(slots[60][0], 60 * 500_000);
    // Each slot's wall times follow each other, and those of the slot before.
    let walls: Vec<u64> = slots.iter().flat_map(|row| row[1..].to_vec()).collect();
    assert!(walls.is_sorted(), "{walls:?}");

    // Now all are needed, and one that leaves is named.
    first.shutdown(Shutdown::Both).unwrap();
    let reason = eventually(|| match hosts.slot(&[], &[]) {
        Answer::Failed { reason } => Some(reason),
        _ => None,
    });
    assert!(reason.starts_with("UE 1 "), "{reason}");
}
