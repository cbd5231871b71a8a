// SPDX-License-Identifier: Apache-2.0
//! The gate between the modems: blocks of samples pass up to a limit of radio time.
//!
//! Each modem has a reader, which takes whatever it has sent, so that it shows how far it has run; and a writer,
//! which lets blocks out to it up to the limit: to each UE those of the gNB, and to the gNB those of all UEs together.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use nix::libc;
use nr_link_virtual_plan::radio::{Channel, Channels, PerUe};

use crate::emulation::{Ues, Way};
use crate::sample_block::{Block, Blocks};
use crate::uplink::Uplink;

/// The state that all streams share.
#[derive(Debug)]
pub struct Gate {
    gnb: TcpStream,
    antennas: Option<(usize, usize)>,
    state: Mutex<State>,
    changed: Condvar,
}

/// The state of the gate.
#[derive(Debug)]
struct State {
    /// Radio time up to which blocks may pass, in samples; `None`: all may.
    limit: Option<u64>,
    /// Whether the radio is of use without one of its UEs.
    complete: bool,
    /// The reason why no more samples come.
    ended: Option<String>,
    /// The latest block that the gNB has sent.
    latest: Option<Arc<Block>>,
    /// `None`: no such UE is connected.
    ues: PerUe<Option<Ue>>,
    uplink: Uplink,
    /// Radio time of the uplink that the gNB has been given.
    passed: u64,
    channels: Channels,
    /// Connections of UEs so far.
    connections: u64,
}

/// The connection of a UE.
#[derive(Debug)]
struct Ue {
    /// A UE that connects again has another one.
    connection: u64,
    /// Blocks of the gNB for it.
    waiting: VecDeque<Arc<Block>>,
    /// Radio time up to which blocks have been taken to be passed on.
    taken: u64,
    /// Radio time that it has been given.
    passed: u64,
}

impl Ue {
    /// Whether a block waits that ends by `limit`, or any without a limit.
    fn has_passing(&self, limit: Option<u64>) -> bool {
        let first = self.waiting.front();
        first.is_some_and(|block| limit.is_none_or(|limit| block.end <= limit))
    }
}

/// One connection of a UE.
#[derive(Debug, Clone, Copy)]
struct Place {
    ue: usize,
    connection: u64,
}

impl State {
    fn ue(&mut self, place: Place) -> Option<&mut Ue> {
        let ue = self.ues[place.ue].as_mut();
        ue.filter(|ue| ue.connection == place.connection)
    }

    /// No more samples come; the first reason counts, and is in the program's log.
    fn end(&mut self, reason: String) {
        if self.ended.is_none() {
            eprintln!("nr-link: {reason}");
            self.ended = Some(reason);
        }
    }

    /// Returns the name of a UE in sentences.
    fn name(&self, ue: usize) -> String {
        match self.ues.len() {
            1 => "the UE".to_owned(),
            _ => format!("UE {}", ue + 1),
        }
    }

    /// Radio time that each modem has reached: the gNB, then the UEs.
    fn sent(&self) -> Vec<u64> {
        let of_gnb = self.latest.as_ref().map_or(0, |block| block.end);
        let of_ues = (0..self.ues.len()).map(|ue| self.uplink.sent(ue));
        std::iter::once(of_gnb).chain(of_ues).collect()
    }

    /// Gives a new UE the blocks that another one has not got yet, after one sample, by which it knows the time.
    fn backlog(&self) -> VecDeque<Arc<Block>> {
        let others = self.ues.iter().flatten().map(|ue| &ue.waiting);
        let mut backlog = others
            .max_by_key(|one| one.len())
            .cloned()
            .unwrap_or_default();
        if let Some(latest) = &self.latest {
            let begins = backlog.front().map_or(latest.end, |block| block.first());
            let sample = vec![[0; 2]; latest.antennas as usize];
            let beacon = latest.with(begins.saturating_sub(1), latest.antennas, &sample);
            backlog.push_front(Arc::new(beacon));
        }
        backlog
    }
}

impl Gate {
    /// Opens the gate to a gNB; `way`: the channel from the UEs to it, if there is one.
    ///
    /// # Errors
    /// A socket refuses.
    pub fn open(gnb: TcpStream, ues: Ues, way: Option<Way>) -> io::Result<Arc<Self>> {
        gnb.set_nodelay(true)?;
        let ue_antennas = ues.antennas.map_or(1, |(_, ue)| ue);
        let gate = Arc::new(Self {
            state: Mutex::new(State {
                limit: None,
                complete: false,
                ended: None,
                latest: None,
                ues: (0..ues.count).map(|_| None).collect(),
                uplink: Uplink::new(ues.count, ue_antennas),
                passed: 0,
                channels: Channels {
                    dl: vec![Channel::default(); ues.count],
                    ul: Channel::default(),
                },
                connections: 0,
            }),
            changed: Condvar::new(),
            antennas: ues.antennas,
            gnb,
        });
        let writer = Arc::clone(&gate);
        std::thread::spawn(move || writer.write_to_gnb(way));
        Ok(gate)
    }

    /// Connects a UE, which gets the lowest free number; `way`: the channel from the gNB to the UE of a number, if there is
    /// one.
    ///
    /// # Errors
    /// All UEs are connected, or a socket refuses.
    pub fn join(
        self: &Arc<Self>,
        ue: TcpStream,
        way: impl FnOnce(usize) -> Option<Way>,
    ) -> Result<()> {
        ue.set_nodelay(true)?;
        let (from, to) = (ue.try_clone()?, ue);
        let mut state = self.lock();
        let count = state.ues.len();
        let Some(number) = state.ues.iter().position(Option::is_none) else {
            bail!("another UE has connected, and the radio has {count}");
        };
        let place = Place {
            ue: number,
            connection: state.connections,
        };
        state.connections += 1;
        let waiting = state.backlog();
        state.ues[number] = Some(Ue {
            connection: place.connection,
            waiting,
            taken: 0,
            passed: 0,
        });
        state.uplink.join(number);
        drop(state);
        if place.connection == 0 {
            let reader = Arc::clone(self);
            std::thread::spawn(move || reader.read_from_gnb());
        }
        let reader = Arc::clone(self);
        std::thread::spawn(move || reader.read_from_ue(place, &from));
        let (writer, way) = (Arc::clone(self), way(number));
        std::thread::spawn(move || writer.write_to_ue(place, &to, way));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with it")
    }

    fn read_from_gnb(&self) {
        let expected = self.antennas.map(|(gnb, _)| gnb);
        let reason = read(&self.gnb, expected, |block| {
            let block = Arc::new(block);
            let mut state = self.lock();
            for ue in state.ues.iter_mut().flatten() {
                ue.waiting.push_back(Arc::clone(&block));
            }
            state.latest = Some(block);
            self.changed.notify_all();
        });
        self.end(format!("the gNB {reason}"));
    }

    fn read_from_ue(&self, place: Place, stream: &TcpStream) {
        let expected = self.antennas.map(|(_, ue)| ue);
        let reason = read(stream, expected, |block| {
            let mut state = self.lock();
            if state.ue(place).is_some() {
                state.uplink.push(place.ue, block);
                self.changed.notify_all();
            }
        });
        self.leave(place, &reason);
    }

    fn write_to_ue(&self, place: Place, stream: &TcpStream, mut way: Option<Way>) {
        while let Some(block) = self.next_for_ue(place) {
            let carried = way.as_mut().map(|way| way.carry(&block));
            let passing = carried.as_ref().unwrap_or(&*block);
            if (&mut &*stream).write_all(&passing.bytes).is_err() {
                self.leave(place, "takes no more samples");
                break;
            }
            let mut state = self.lock();
            if let Some(ue) = state.ue(place) {
                ue.passed = block.end;
                if let Some(way) = &way {
                    state.channels.dl[place.ue] = way.account();
                }
            }
            self.changed.notify_all();
        }
        self.disconnect(stream);
    }

    fn write_to_gnb(&self, mut way: Option<Way>) {
        while let Some(block) = self.next_for_gnb() {
            let carried = way.as_mut().map(|way| way.carry(&block));
            let passing = carried.as_ref().unwrap_or(&block);
            if (&mut &self.gnb).write_all(&passing.bytes).is_err() {
                self.end("the gNB takes no more samples".to_owned());
                break;
            }
            let mut state = self.lock();
            state.passed = block.end;
            if let Some(way) = &way {
                state.channels.ul = way.account();
            }
            self.changed.notify_all();
        }
        self.disconnect(&self.gnb);
    }

    /// Has a modem learn that another is gone, to connect again; a radio that was complete ends with the one that left,
    /// and the others wait.
    fn disconnect(&self, modem: &TcpStream) {
        if !self.lock().complete {
            let _ = modem.shutdown(Shutdown::Both);
        }
    }

    /// Waits for the next block that may pass to a UE; `None` at its end.
    fn next_for_ue(&self, place: Place) -> Option<Arc<Block>> {
        let mut state = self.wait_while(|state| {
            let limit = state.limit;
            let ue = state.ue(place);
            ue.is_some_and(|ue| !ue.has_passing(limit))
        });
        if state.ended.is_some() {
            return None;
        }
        let ue = state.ue(place)?;
        let block = ue.waiting.pop_front()?;
        ue.taken = block.end;
        Some(block)
    }

    /// Waits for the next block that may pass to the gNB; `None` at the end.
    fn next_for_gnb(&self) -> Option<Block> {
        let mut state = self.wait_while(|state| !state.uplink.has_passing(state.limit));
        match state.ended {
            Some(_) => None,
            None => state.uplink.take(),
        }
    }

    /// Waits while this holds, and samples still come.
    fn wait_while(&self, holds: impl Fn(&mut State) -> bool) -> MutexGuard<'_, State> {
        let state = self
            .changed
            .wait_while(self.lock(), |state| state.ended.is_none() && holds(state));
        state.expect("no thread panics with it")
    }

    /// A UE leaves: the others go on as long as the radio is not complete.
    fn leave(&self, place: Place, reason: &str) {
        let mut state = self.lock();
        if state.ue(place).is_none() {
            return;
        }
        let connected = state.ues.iter().flatten().count();
        if state.complete || connected == 1 {
            let who = state.name(place.ue);
            state.end(format!("{who} {reason}"));
        } else {
            state.ues[place.ue] = None;
            state.uplink.leave(place.ue);
        }
        drop(state);
        self.changed.notify_all();
    }

    fn end(&self, reason: String) {
        self.lock().end(reason);
        self.changed.notify_all();
    }

    /// Returns why no more samples come, if that is so.
    pub fn ended(&self) -> Option<String> {
        self.lock().ended.clone()
    }

    /// Returns the number of UEs that are connected.
    pub fn connected(&self) -> usize {
        self.lock().ues.iter().flatten().count()
    }

    /// Has the end of any UE end the radio from now on.
    ///
    /// # Errors
    /// A UE is not connected.
    pub fn complete(&self) -> Result<()> {
        let mut state = self.lock();
        if let Some(missing) = state.ues.iter().position(Option::is_none) {
            bail!("{} is not connected", state.name(missing));
        }
        state.complete = true;
        Ok(())
    }

    /// Lets everything pass.
    pub fn free(&self) {
        self.lock().limit = None;
        self.changed.notify_all();
    }

    /// Lets blocks pass up to the end of a slot that no modem has yet seen; returns that limit.
    pub fn hold(&self, slot_samples: u64) -> u64 {
        let mut state = self.lock();
        let of_ues = state.ues.iter().flatten().map(|ue| ue.passed);
        let furthest = of_ues.fold(state.passed, u64::max);
        let limit = (furthest / slot_samples + 2) * slot_samples;
        state.limit = Some(limit);
        self.changed.notify_all();
        limit
    }

    /// Lets blocks pass up to `limit`.
    pub fn release(&self, limit: u64) {
        self.lock().limit = Some(limit);
        self.changed.notify_all();
    }

    /// Waits until nothing is left that may pass.
    pub fn await_passed(&self, patience: Duration) {
        let has_more = |state: &mut State| {
            let limit = state.limit;
            let waits = |ue: &Ue| ue.taken != ue.passed || ue.has_passing(limit);
            state.ended.is_none()
                && (state.uplink.taken() != state.passed
                    || state.uplink.has_passing(limit)
                    || state.ues.iter().flatten().any(waits))
        };
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), patience, has_more);
        drop(waited.expect("no thread panics with it"));
    }

    /// Radio time that each modem has reached: the gNB, then the UEs.
    pub fn sent(&self) -> Vec<u64> {
        self.lock().sent()
    }

    /// Accounts of the channels.
    pub fn channels(&self) -> Channels {
        self.lock().channels.clone()
    }

    /// Waits until each modem has reached its radio time; false: the radio has ended, or stands still.
    pub fn await_sent(&self, reached: &[u64], patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut state = self.lock();
        loop {
            let sent = state.sent();
            if sent
                .iter()
                .zip(reached)
                .all(|(sent, reached)| sent >= reached)
            {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.ended.is_some() || left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.expect("no thread panics with it").0;
        }
    }
}

/// Passes on each block of a modem with as many antennas as are `expected`; returns why there are no more.
fn read(stream: &TcpStream, expected: Option<usize>, mut take: impl FnMut(Block)) -> String {
    let mut blocks = Blocks::of(Acknowledging(stream));
    loop {
        match blocks.read() {
            Ok(Some(block)) => match expected {
                Some(antennas) if block.antennas as usize != antennas => {
                    return format!(
                        "sends with {} antennas or beams, and the channel has {antennas} (nr-link radio --antennas)",
                        block.antennas
                    );
                }
                _ => take(block),
            },
            Ok(None) => return "closed its connection".to_owned(),
            Err(error) => return format!("sends no more samples ({error})"),
        }
    }
}

/// A stream of which each read acknowledges what came before: the modems write a block's header and
/// samples apart, and Nagle's algorithm holds the samples until the header is acknowledged.
struct Acknowledging<'a>(&'a TcpStream);

impl Read for Acknowledging<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let on: libc::c_int = 1;
        // SAFETY: passes a number. A refusal costs time only.
        unsafe {
            libc::setsockopt(
                self.0.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_QUICKACK,
                (&raw const on).cast(),
                size_of_val(&on) as u32,
            );
        }
        self.0.read(buffer)
    }
}
