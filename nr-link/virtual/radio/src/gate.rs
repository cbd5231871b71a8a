// SPDX-License-Identifier: Apache-2.0
//! The gate between both modems: blocks of samples pass up to a limit of radio time.
//!
//! Each direction has a reader, which takes whatever the modem has sent, so that it shows how far the
//! modem has run; and a writer, which lets blocks out up to the limit.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use nix::libc;

use nr_link_virtual_plan::radio::Channel;

use crate::emulation::Way;
use crate::sample_block::{Block, DIRECTIONS};

/// The state that both streams share.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

/// The state of the gate.
#[derive(Debug, Default)]
pub struct State {
    /// Radio time up to which blocks may pass, in samples; `None`: all may.
    limit: Option<u64>,
    /// The reason why no more samples come.
    ended: Option<String>,
    streams: [Stream; DIRECTIONS],
    channels: [Channel; DIRECTIONS],
}

#[derive(Debug, Default)]
struct Stream {
    waiting: VecDeque<Block>,
    /// Radio time that the sender has reached.
    sent: u64,
    /// Radio time up to which blocks have been taken to be passed on.
    taken: u64,
    /// Radio time that the receiver has been given.
    passed: u64,
}

impl Stream {
    /// Whether a block waits that ends by `limit`, or any without a limit.
    fn has_passing(&self, limit: Option<u64>) -> bool {
        let first = self.waiting.front();
        first.is_some_and(|block| limit.is_none_or(|limit| block.end <= limit))
    }
}

impl Gate {
    /// Connects the UE's stream with the gNB's, over a channel if there are `ways`.
    ///
    /// # Errors
    /// A socket refuses.
    pub fn open(
        gnb: &TcpStream,
        ue: &TcpStream,
        ways: Option<[Way; DIRECTIONS]>,
    ) -> io::Result<Arc<Self>> {
        let gate = Arc::new(Self::default());
        let ways = ways.map_or([None, None], |ways| ways.map(Some));
        for ((direction, from, to), way) in [(0, gnb, ue), (1, ue, gnb)].into_iter().zip(ways) {
            from.set_nodelay(true)?;
            let (source, target) = (from.try_clone()?, to.try_clone()?);
            let reader = Arc::clone(&gate);
            std::thread::spawn(move || reader.read(direction, &source));
            let writer = Arc::clone(&gate);
            let source = from.try_clone()?;
            std::thread::spawn(move || writer.write(direction, &source, &target, way));
        }
        Ok(gate)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with it")
    }

    fn read(&self, direction: usize, stream: &TcpStream) {
        let mut acknowledged = Acknowledging(stream);
        let reason = loop {
            match Block::read(&mut acknowledged) {
                Ok(Some(block)) => {
                    let mut state = self.lock();
                    let one = &mut state.streams[direction];
                    one.sent = block.end;
                    one.waiting.push_back(block);
                    self.changed.notify_all();
                }
                Ok(None) => break "closed its connection".to_owned(),
                Err(error) => break format!("sends no more samples ({error})"),
            }
        };
        let who = ["the gNB", "the UE"][direction];
        self.end(format!("{who} {reason}"));
    }

    fn write(
        &self,
        direction: usize,
        source: &TcpStream,
        target: &TcpStream,
        mut way: Option<Way>,
    ) {
        while let Some(mut block) = self.next(direction) {
            if let Some(way) = &mut way {
                if let Err(reason) = way.carry(&mut block) {
                    let who = ["the gNB", "the UE"][direction];
                    self.end(format!("{who} {reason}"));
                    break;
                }
                self.lock().channels[direction] = way.account();
            }
            if (&mut &*target).write_all(&block.bytes).is_err() {
                let who = ["the UE", "the gNB"][direction];
                self.end(format!("{who} takes no more samples"));
                break;
            }
            self.lock().streams[direction].passed = block.end;
            self.changed.notify_all();
        }
        // Either end learns that the other is gone.
        let _ = source.shutdown(Shutdown::Both);
        let _ = target.shutdown(Shutdown::Both);
    }

    /// Waits for the next block that may pass; `None` at the end.
    fn next(&self, direction: usize) -> Option<Block> {
        let may_not_pass = |state: &mut State| {
            state.ended.is_none() && !state.streams[direction].has_passing(state.limit)
        };
        let state = self.changed.wait_while(self.lock(), may_not_pass);
        let mut state = state.expect("no thread panics with it");
        match state.ended {
            Some(_) => None,
            None => {
                let stream = &mut state.streams[direction];
                let block = stream.waiting.pop_front();
                stream.taken = block.as_ref().map_or(stream.taken, |block| block.end);
                block
            }
        }
    }

    fn end(&self, reason: String) {
        self.lock().ended.get_or_insert(reason);
        self.changed.notify_all();
    }

    /// Returns why no more samples come, if that is so.
    pub fn ended(&self) -> Option<String> {
        self.lock().ended.clone()
    }

    /// Lets everything pass.
    pub fn free(&self) {
        self.lock().limit = None;
        self.changed.notify_all();
    }

    /// Lets blocks pass up to the end of a slot that both modems have not yet seen; returns that limit.
    pub fn hold(&self, slot_samples: u64) -> u64 {
        let mut state = self.lock();
        let furthest = state.streams.iter().map(|stream| stream.passed).max();
        let limit = (furthest.unwrap_or_default() / slot_samples + 2) * slot_samples;
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
            let waits =
                |stream: &Stream| stream.taken != stream.passed || stream.has_passing(limit);
            state.ended.is_none() && state.streams.iter().any(waits)
        };
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), patience, has_more);
        drop(waited.expect("no thread panics with it"));
    }

    /// Radio time that each modem has reached.
    pub fn sent(&self) -> [u64; DIRECTIONS] {
        self.lock().streams.each_ref().map(|stream| stream.sent)
    }

    /// Accounts of the channels.
    pub fn channels(&self) -> [Channel; DIRECTIONS] {
        self.lock().channels.clone()
    }

    /// Waits until each modem has reached its radio time; false: the radio has ended, or stands still.
    pub fn await_sent(&self, reached: [u64; DIRECTIONS], patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut state = self.lock();
        loop {
            let there = |(stream, reached): (&Stream, u64)| stream.sent >= reached;
            if state.streams.iter().zip(reached).all(there) {
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
