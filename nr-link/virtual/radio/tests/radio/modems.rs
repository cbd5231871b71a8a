// SPDX-License-Identifier: Apache-2.0
//! Stand-ins for both modems, which send blocks of samples as OpenAirInterface's rfsim does. Their tunnel is this
//! machine's loopback, which carries at once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use nr_link_virtual_plan::radio::{Answer, Request, State, TunnelEnd};
use nr_link_virtual_radio::{RadioArguments, run};

pub const SLOT: u64 = 7680;
pub const GNB_LEAD_SLOTS: u64 = 5;
pub const UE_LEAD_SLOTS: u64 = 2;
/// The UE's blocks end so many samples before a slot's boundary.
pub const ADVANCE: u64 = 200;

#[derive(Parser)]
pub struct CommandLine {
    #[command(flatten)]
    pub radio: RadioArguments,
}

/// Sample `n` of what both modems send; nothing before the first.
pub fn sent_sample(n: Option<u64>) -> [i16; 2] {
    let part = |n: u64, step: u64| (n * step % 2001) as i16 - 1000;
    n.map_or([0; 2], |n| [part(n, 37), part(n, 101)])
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
    let parts = (first..first + samples).flat_map(|n| sent_sample(Some(n)));
    let payload: Vec<u8> = parts.flat_map(i16::to_le_bytes).collect();
    let _ = stream.write_all(&payload);
}

/// The radio's time after the next block, each sample of which `hear` gets; `None` at the end.
fn receive(stream: &mut TcpStream, hear: &mut impl FnMut(u64, [i16; 2])) -> Option<u64> {
    let mut header = [0; 32];
    stream.read_exact(&mut header).ok()?;
    let samples = u32::from_le_bytes(header[..4].try_into().unwrap());
    let first = u64::from_le_bytes(header[8..16].try_into().unwrap());
    let mut payload = vec![0; samples as usize * 4];
    stream.read_exact(&mut payload).ok()?;
    for (n, sample) in (first..).zip(payload.chunks_exact(4)) {
        let part = |at: usize| i16::from_le_bytes([sample[at], sample[at + 1]]);
        hear(n, [part(0), part(2)]);
    }
    Some(first + u64::from(samples))
}

/// Speaks first, and then keeps its lead over what it gets; `sent` is how far it is.
pub fn gnb(listener: &TcpListener, sent: &AtomicU64, mut hear: impl FnMut(u64, [i16; 2])) {
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
        match receive(&mut ue, &mut hear) {
            Some(end) => got = end.div_ceil(SLOT),
            None => return,
        }
    }
}

pub fn ue(mut gnb: TcpStream, mut hear: impl FnMut(u64, [i16; 2])) {
    let mut until = 0;
    while let Some(got) = receive(&mut gnb, &mut hear) {
        let may_send = (got / SLOT + UE_LEAD_SLOTS) * SLOT - ADVANCE;
        while until < may_send {
            let samples = SLOT - (until + ADVANCE) % SLOT;
            send(&mut gnb, until, samples);
            until += samples;
        }
    }
}

pub struct Client(BufReader<UnixStream>);

impl Client {
    pub fn connect(socket: &Path) -> Self {
        Self(BufReader::new(UnixStream::connect(socket).unwrap()))
    }

    pub fn ask(&mut self, request: &Request) -> Answer {
        let line = serde_json::to_string(request).unwrap() + "\n";
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub fn state(&mut self) -> State {
        match self.ask(&Request::State) {
            Answer::State(state) => *state,
            other => panic!("{other:?}"),
        }
    }

    /// Runs a slot with packets of the first UE.
    pub fn slot(&mut self, dl: &[(u64, u32)], ul: &[(u64, u32)]) -> Answer {
        let (dl, ul) = (vec![dl.to_vec()], vec![ul.to_vec()]);
        self.ask(&Request::Slot { dl, ul })
    }
}

pub fn end(last_byte: u8) -> TunnelEnd {
    TunnelEnd {
        netns: None,
        device: "lo".to_owned(),
        address: Ipv4Addr::new(127, 0, 47, last_byte),
    }
}

/// An address of this machine that nobody uses.
pub fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

/// Ends a test that hangs, on a machine however busy.
pub const PATIENCE: Duration = Duration::from_secs(600);

pub fn eventually<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(value) = found() {
            return value;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("not within {PATIENCE:?}");
}

/// Both modems, the radio between them, and its socket.
pub struct Testbed {
    pub folder: tempfile::TempDir,
    pub socket: PathBuf,
    /// The radio's time that the gNB has reached, in samples.
    pub sent: Arc<AtomicU64>,
    /// The UE's connection.
    pub ue: TcpStream,
}

impl Testbed {
    /// Starts them; `more`: further words for the radio; `heard` by the UE, and by the gNB.
    pub fn start(
        folder: tempfile::TempDir,
        more: &str,
        heard: [impl FnMut(u64, [i16; 2]) + Send + 'static; 2],
    ) -> Self {
        let socket = folder.path().join("socket");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (gnb_address, listen) = (listener.local_addr().unwrap(), free_address());
        let sent = Arc::new(AtomicU64::new(0));
        let of_gnb = Arc::clone(&sent);
        let [by_ue, by_gnb] = heard;
        std::thread::spawn(move || gnb(&listener, &of_gnb, by_gnb));
        let line = format!(
            "radio --listen {listen} --gnb {gnb_address} --slot-samples {SLOT} --socket {}{more}",
            socket.display()
        );
        let arguments = CommandLine::parse_from(line.split(' ')).radio;
        std::thread::spawn(move || run(&arguments).unwrap());
        let of_ue = eventually(|| TcpStream::connect(listen).ok());
        let kept = of_ue.try_clone().unwrap();
        std::thread::spawn(move || ue(of_ue, by_ue));
        Self {
            folder,
            socket,
            sent,
            ue: kept,
        }
    }
}
