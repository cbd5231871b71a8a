// SPDX-License-Identifier: Apache-2.0
//! The radio as its clients see it: ccu, which prepares it and sets its channel, and the hosts' link.

use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use nr_link_virtual_plan::radio::{Account, Answer, PerUe, Request, Sent, State, TunnelEnd};

use crate::emulation::{Emulation, Ues};
use crate::gate::Gate;
use crate::pace::Pace;
use crate::steps::{DIRECTIONS, Steps};
use crate::threads::Threads;
use crate::tunnel::Tunnel;
use crate::wall_times::WallTimes;

/// Threads come and go at the start of a modem only.
const SEARCH_AFTER: u32 = 256;

/// A radio, and how its time is counted.
#[derive(Debug)]
pub struct Radio {
    slot_samples: u64,
    slot_ns: u64,
    emulation: Option<Mutex<Emulation>>,
    wall_times: Option<Mutex<WallTimes>>,
    gate: Mutex<Option<Arc<Gate>>>,
    attaching: Mutex<Attaching>,
    steps: Mutex<Option<Steps>>,
    progress: Mutex<Progress>,
    progressed: Condvar,
}

/// The pace of the radio while the UE attaches.
#[derive(Debug, Default)]
struct Attaching {
    processes: Vec<u32>,
    pace: Option<Pace>,
}

#[derive(Debug, Default)]
struct Progress {
    state: State,
    start_utc_ns: Option<i64>,
    /// The slot that is not run before somebody allows it.
    meeting: Option<u64>,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Radio {
    /// A radio without modems, whose slots have so many samples and ns; `emulation`: the channel that their samples will meet;
    /// `wall_times`: the record of its slots.
    pub fn new(
        (slot_samples, slot_ns): (u64, u64),
        emulation: Option<Emulation>,
        wall_times: Option<WallTimes>,
    ) -> Self {
        Self {
            slot_samples,
            slot_ns,
            emulation: emulation.map(Mutex::new),
            wall_times: wall_times.map(Mutex::new),
            gate: Mutex::default(),
            attaching: Mutex::default(),
            steps: Mutex::default(),
            progress: Mutex::default(),
            progressed: Condvar::new(),
        }
    }

    /// Connects a UE with the gNB at an address, over the connection that other UEs have with it, or a new one.
    ///
    /// # Errors
    /// The gNB does not answer, a socket refuses, or all UEs are connected.
    pub fn connect(&self, gnb: SocketAddr, ue: TcpStream) -> Result<()> {
        let before = locked(&self.gate).clone();
        let gate = match before.filter(|gate| gate.ended().is_none()) {
            Some(gate) => gate,
            None => self.open(gnb)?,
        };
        let emulation = self.emulation.as_ref();
        gate.join(ue, |number| {
            emulation.map(|emulation| locked(emulation).downlink(number))
        })?;
        *locked(&self.gate) = Some(gate);
        self.start_pace();
        Ok(())
    }

    fn open(&self, gnb: SocketAddr) -> Result<Arc<Gate>> {
        let gnb = TcpStream::connect(gnb).with_context(|| gnb.to_string())?;
        let emulation = self.emulation.as_ref().map(locked);
        let any = Ues {
            count: 1,
            antennas: None,
        };
        let ues = emulation.as_ref().map_or(any, |emulation| emulation.ues());
        let way = emulation.map(|emulation| emulation.uplink());
        Ok(Gate::open(gnb, ues, way)?)
    }

    /// Paces the radio by the processes that were named, once both they and the gate are there.
    fn start_pace(&self) {
        let mut attaching = locked(&self.attaching);
        attaching.pace = None;
        if let Some(gate) = &*locked(&self.gate)
            && !attaching.processes.is_empty()
        {
            let processes = attaching.processes.clone();
            let pace = Pace::start(Arc::clone(gate), processes, self.slot_samples);
            attaching.pace = Some(pace);
        }
    }

    fn pace(&self, processes: Vec<u32>) -> Answer {
        locked(&self.attaching).processes = processes;
        self.start_pace();
        Answer::Done
    }

    /// Answers a request.
    pub fn answer(&self, request: Request) -> Answer {
        let answered = match request {
            Request::Pace { processes } => Ok(self.pace(processes)),
            Request::Hold {
                server,
                ues,
                processes,
            } => self.hold(&server, &ues, processes),
            Request::Free => self.free(),
            Request::Begin { utc_ns } => self.begin(utc_ns),
            Request::Slot { dl, ul } => self.slot(&[dl, ul]),
            Request::Meet { slot } => Ok(self.meet(slot)),
            Request::State => Ok(Answer::State(Box::new(self.state()))),
        };
        answered.unwrap_or_else(|error| Answer::Failed {
            reason: format!("{error:#}"),
        })
    }

    fn state(&self) -> State {
        let mut state = locked(&self.progress).state.clone();
        if let Some(gate) = &*locked(&self.gate) {
            state.connected_ues = gate.connected();
            state.channel = self.emulation.as_ref().map(|_| gate.channels());
        }
        state
    }

    fn hold(
        &self,
        server: &TunnelEnd,
        ues: &PerUe<TunnelEnd>,
        processes: Vec<u32>,
    ) -> Result<Answer> {
        let gate = locked(&self.gate).clone();
        let gate = gate.context("no UE is connected")?;
        let tunnels = (0..)
            .zip(ues)
            .map(|(ue, end)| Tunnel::open(ue, server, end));
        let tunnels = tunnels.collect::<Result<_>>()?;
        *locked(&self.attaching) = Attaching::default();
        let steps = Steps::hold(
            gate,
            tunnels,
            Threads::of(processes, SEARCH_AFTER),
            self.slot_samples,
        )?;
        let (dl_lead_slots, ul_lead_slots) = steps.leads_slots();
        let threads = steps.threads();
        *locked(&self.steps) = Some(steps);
        Ok(Answer::Held {
            dl_lead_slots,
            ul_lead_slots,
            threads,
            late_energy_ratio: self
                .emulation
                .as_ref()
                .map(|emulation| locked(emulation).late_energy_ratio()),
        })
    }

    fn free(&self) -> Result<Answer> {
        *locked(&self.steps) = None;
        *locked(&self.attaching) = Attaching::default();
        if let Some(gate) = &*locked(&self.gate) {
            gate.free();
        }
        Ok(Answer::Done)
    }

    fn begin(&self, utc_ns: i64) -> Result<Answer> {
        match &*locked(&self.steps) {
            Some(steps) => {
                if let Some(emulation) = &self.emulation {
                    locked(emulation).begin(steps.limit());
                }
            }
            None => bail!("the radio is not held"),
        }
        let mut progress = locked(&self.progress);
        progress.start_utc_ns = Some(utc_ns);
        progress.state.utc_ns = Some(utc_ns);
        self.progressed.notify_all();
        Ok(Answer::Began {
            slot_ns: self.slot_ns,
        })
    }

    fn slot(&self, packets: &[PerUe<Vec<Sent>>; DIRECTIONS]) -> Result<Answer> {
        let mut account = self.await_permission();
        let mut steps = locked(&self.steps);
        let steps = steps.as_mut().context("the radio is not held")?;
        let State { slot, utc_ns, .. } = locked(&self.progress).state;
        let utc_ns = utc_ns.unwrap_or_default();
        if let Some(emulation) = &self.emulation {
            locked(emulation).record(slot, steps.limit(), utc_ns)?;
        }
        let [dl, ul] = steps.slot(packets, &mut account)?;
        if let Some(wall_times) = &self.wall_times {
            locked(wall_times).add(utc_ns, steps.latest())?;
        }
        let mut progress = locked(&self.progress);
        progress.state.account = account;
        progress.state.slot += 1;
        let now_ns = progress.state.slot * self.slot_ns;
        progress.state.utc_ns = progress.start_utc_ns.map(|start| start + now_ns as i64);
        self.progressed.notify_all();
        Ok(Answer::Slot { dl, ul })
    }

    /// Waits while somebody wants the radio to stand before this slot.
    fn await_permission(&self) -> Account {
        let began = Instant::now();
        let stands = |progress: &mut Progress| {
            progress
                .meeting
                .is_some_and(|slot| slot <= progress.state.slot)
        };
        let progress = self
            .progressed
            .wait_while(locked(&self.progress), stands)
            .unwrap_or_else(PoisonError::into_inner);
        let mut account = progress.state.account.clone();
        account.meeting_s += began.elapsed().as_secs_f64();
        account
    }

    fn meet(&self, slot: u64) -> Answer {
        let mut progress = locked(&self.progress);
        progress.meeting = Some(slot);
        self.progressed.notify_all();
        let not_there =
            |progress: &mut Progress| progress.start_utc_ns.is_none() || progress.state.slot < slot;
        let progress = self
            .progressed
            .wait_while(progress, not_there)
            .unwrap_or_else(PoisonError::into_inner);
        Answer::State(Box::new(progress.state.clone()))
    }

    /// Nobody waits for the radio any more.
    pub fn meet_no_more(&self) {
        locked(&self.progress).meeting = None;
        self.progressed.notify_all();
    }
}
