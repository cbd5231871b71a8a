// SPDX-License-Identifier: Apache-2.0
//! The radio's program between stand-ins for both modems, which send blocks of samples as
//! OpenAirInterface's rfsim does. Their tunnel is this machine's loopback, which carries at once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::Parser;
use nr_link_virtual_plan::radio::{Answer, Request, State, TunnelEnd};
use nr_link_virtual_radio::{RadioArguments, run};

const SLOT: u64 = 7680;
const GNB_LEAD_SLOTS: u64 = 5;
const UE_LEAD_SLOTS: u64 = 2;
/// The UE's blocks end so many samples before a slot's boundary.
const ADVANCE: u64 = 200;

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    radio: RadioArguments,
}

fn send(stream: &mut TcpStream, first: u64, samples: u64) {
    let mut block = Vec::new();
    block.extend((samples as u32).to_le_bytes());
    block.extend(1_u32.to_le_bytes());
    block.extend(first.to_le_bytes());
    block.extend([0; 8]);
    block.extend(1_u64.to_le_bytes());
    // Header and samples apart, as the real modems.
    let _ = stream.write_all(&block);
    let _ = stream.write_all(&vec![0; samples as usize * 4]);
}

/// The radio's time after the next block; `None` at the end.
fn receive(stream: &mut TcpStream) -> Option<u64> {
    let mut header = [0; 32];
    stream.read_exact(&mut header).ok()?;
    let samples = u32::from_le_bytes(header[..4].try_into().unwrap());
    let first = u64::from_le_bytes(header[8..16].try_into().unwrap());
    stream.read_exact(&mut vec![0; samples as usize * 4]).ok()?;
    Some(first + u64::from(samples))
}

/// Speaks first, and then keeps its lead over what it gets; `sent` is how far it is.
fn gnb(listener: &TcpListener, sent: &AtomicU64) {
    let (mut ue, _) = listener.accept().unwrap();
    send(&mut ue, 0, 1);
    let (mut until, mut got) = (1, 0);
    loop {
        while until < (got + GNB_LEAD_SLOTS) * SLOT {
            let samples = SLOT - until % SLOT;
            send(&mut ue, until, samples);
            until += samples;
            sent.store(until, Ordering::SeqCst);
        }
        match receive(&mut ue) {
            Some(end) => got = end.div_ceil(SLOT),
            None => return,
        }
    }
}

fn ue(mut gnb: TcpStream) {
    let mut until = 0;
    while let Some(got) = receive(&mut gnb) {
        let may_send = (got / SLOT + UE_LEAD_SLOTS) * SLOT - ADVANCE;
        while until < may_send {
            let samples = SLOT - (until + ADVANCE) % SLOT;
            send(&mut gnb, until, samples);
            until += samples;
        }
    }
}

struct Client(BufReader<UnixStream>);

impl Client {
    fn connect(socket: &Path) -> Self {
        Self(BufReader::new(UnixStream::connect(socket).unwrap()))
    }

    fn ask(&mut self, request: &Request) -> Answer {
        let line = serde_json::to_string(request).unwrap() + "\n";
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn state(&mut self) -> State {
        match self.ask(&Request::State) {
            Answer::State(state) => *state,
            other => panic!("{other:?}"),
        }
    }

    fn slot(&mut self, dl: &[(u64, u32)], ul: &[(u64, u32)]) -> Answer {
        let (dl, ul) = (dl.to_vec(), ul.to_vec());
        self.ask(&Request::Slot { dl, ul })
    }
}

fn end(last_byte: u8) -> TunnelEnd {
    TunnelEnd {
        netns: None,
        device: "lo".to_owned(),
        address: Ipv4Addr::new(127, 0, 47, last_byte),
    }
}

/// An address of this machine that nobody uses.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

fn eventually<T>(mut found: impl FnMut() -> Option<T>) -> T {
    for _ in 0..2000 {
        if let Some(value) = found() {
            return value;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("not within 10 s");
}

#[test]
fn a_radio_runs_slot_by_slot() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (gnb_address, listen) = (listener.local_addr().unwrap(), free_address());
    let sent = Arc::new(AtomicU64::new(0));
    let of_gnb = Arc::clone(&sent);
    std::thread::spawn(move || gnb(&listener, &of_gnb));
    let line = format!(
        "radio --listen {listen} --gnb {gnb_address} --slot-samples {SLOT} --socket {}",
        socket.display()
    );
    let arguments = CommandLine::parse_from(line.split(' ')).radio;
    std::thread::spawn(move || run(&arguments).unwrap());
    let of_ue = eventually(|| TcpStream::connect(listen).ok());
    let kept = of_ue.try_clone().unwrap();
    std::thread::spawn(move || ue(of_ue));

    let mut hosts = Client::connect(&socket);
    eventually(|| hosts.state().connected.then_some(()));
    assert!(matches!(
        hosts.ask(&Request::Begin { utc_ns: 0 }),
        Answer::Failed { .. }
    ));
    // Free, the radio runs by itself.
    eventually(|| (sent.load(Ordering::SeqCst) > 1000 * SLOT).then_some(()));
    // While the UE attaches, it waits for the modems' work: for long where that does not end.
    let mut busy = Command::new("sh")
        .args(["-c", "while :; do :; done"])
        .spawn()
        .unwrap();
    let processes = vec![busy.id()];
    assert_eq!(hosts.ask(&Request::Pace { processes }), Answer::Done);
    let before = sent.load(Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(300));
    assert!(sent.load(Ordering::SeqCst) < before + 100 * SLOT);
    busy.kill().unwrap();
    busy.wait().unwrap();
    eventually(|| (sent.load(Ordering::SeqCst) > before + 1000 * SLOT).then_some(()));

    let hold = Request::Hold {
        server: end(1),
        ue: end(2),
        processes: vec![],
    };
    let Answer::Held {
        dl_lead_slots,
        ul_lead_slots,
        ..
    } = hosts.ask(&hold)
    else {
        panic!("not held");
    };
    assert_eq!(dl_lead_slots, GNB_LEAD_SLOTS as f64);
    assert_eq!(
        ul_lead_slots,
        UE_LEAD_SLOTS as f64 - ADVANCE as f64 / SLOT as f64
    );

    let began = hosts.ask(&Request::Begin { utc_ns: 7 });
    assert_eq!(began, Answer::Began { slot_ns: 500_000 });
    // Each slot moves the gNB by a slot, and no further.
    let before = sent.load(Ordering::SeqCst);
    let answer = hosts.slot(&[(1, 1500), (2, 20)], &[(9, 84)]);
    let (dl, ul) = (vec![1, 2], vec![9]);
    assert_eq!(answer, Answer::Slot { dl, ul });
    let nothing = Answer::Slot {
        dl: vec![],
        ul: vec![],
    };
    for slots in 2..10 {
        assert_eq!(hosts.slot(&[], &[]), nothing);
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(sent.load(Ordering::SeqCst), before + slots * SLOT);
    }
    let state = hosts.state();
    assert_eq!((state.slot, state.utc_ns), (9, Some(7 + 9 * 500_000)));
    assert_eq!(state.account.sent_packets, [2, 1]);
    assert_eq!(state.account.arrived_packets, [2, 1]);
    assert_eq!(state.account.late_packets, 0);

    // Who meets the radio before a slot has it stand still until the next meeting.
    let mut channel_client = Client::connect(&socket);
    let Answer::State(met) = channel_client.ask(&Request::Meet { slot: 9 }) else {
        panic!("no state");
    };
    assert_eq!(met.slot, 9);
    let (told, tells) = channel();
    let waiting = std::thread::spawn(move || {
        for _ in 0..3 {
            told.send(hosts.slot(&[], &[])).unwrap();
        }
        hosts
    });
    let patience = Duration::from_millis(200);
    assert!(tells.recv_timeout(patience).is_err());
    let Answer::State(met) = channel_client.ask(&Request::Meet { slot: 11 }) else {
        panic!("no state");
    };
    assert_eq!(met.slot, 11);
    assert_eq!(tells.iter().take(2).count(), 2);
    assert!(tells.recv_timeout(patience).is_err());
    drop(channel_client);
    tells.recv_timeout(Duration::from_secs(10)).unwrap();
    let mut hosts = waiting.join().unwrap();

    // A modem that ends is named.
    kept.shutdown(Shutdown::Both).unwrap();
    let reason = eventually(|| match hosts.slot(&[], &[]) {
        Answer::Failed { reason } => Some(reason),
        _ => None,
    });
    assert!(reason.contains("the UE"), "{reason}");
}
