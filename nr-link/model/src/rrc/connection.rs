// SPDX-License-Identifier: Apache-2.0
//! One UE's connection: which cell serves it, and the procedures by which that changes (TS 38.300 clause 9.2.3).
//!
//! ```text
//! connected ─ event ─▶ report ─▶ preparation ─▶ command ─▶ access to the target ─▶ connected
//!     │                                            └─ conditional: kept until its condition ─┘
//!     └─ T310, T304, RLC or beam recovery give up ─▶ search ─▶ access to the selected cell ─▶ connected
//! ```
//!
//! Without a connection that could be handed over, the UE reselects cells: see [`Service`].

use super::access::{Access, Cause, Progress};
use super::events::{Level, Trigger};
use super::history::History;
use super::link_monitor::LinkMonitor;
use super::measurements::Measurements;
use super::prescribed::Prescribed;
use super::signalling::{Air, Fate, Kind, Message};
use crate::Nanos;
use crate::config::{Event, Handover, HandoverKind};
use crate::ids::{CellId, UeId};
use crate::mac::surroundings::Surroundings;
use crate::radio_events::{EventKind, RadioEvent};

/// T_CHO_execution: from the condition to the execution (TS 38.133 clause 6.1.3.1).
const CONDITIONAL_EXECUTION: Nanos = 10_000_000;

/// The interval of layer 1's reports for LTM: two SSBs, chosen.
const LTM_PERIOD: Nanos = 40_000_000;

/// A change of the cell that serves the UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The source serves the UE no longer.
    Leave(Data),
    /// The target serves the UE.
    Join(CellId, Data),
    /// The UE is in another cell, and no cell serves it.
    Reselect(CellId),
    /// Its cell serves the UE again.
    Resume,
    /// The target fetches the data of a UE that was suspended in another cell, its anchor.
    Fetch { anchor: CellId, target: CellId },
}

/// The service that the network gives to a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// RRC_CONNECTED on NR: the gNB hands the UE over.
    Active,
    /// RRC_INACTIVE: the UE reselects cells, and the gNB that served it last keeps its context and data (TS 38.300 clause
    /// 9.2.2.1).
    Suspended,
    /// RRC_IDLE: the UE reselects cells, and the core keeps its data. Or in EN-DC, LTE alone serves it: the master node adds the
    /// strongest NR cell later (TS 37.340 clause 10.2), and PDCP keeps the data.
    Released,
}

/// The fate of the UE's data with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    /// Nothing yet, or any more.
    Stays,
    /// The source forwards it from now on, over Xn.
    CrossesXn,
    /// The target has it already.
    IsThere,
    /// Source and target share it.
    Shared,
    /// The UE re-establishes its connection in the cell that has its data.
    Kept,
}

#[derive(Debug)]
enum Step {
    Connected,
    Reporting {
        report: Message,
        target: CellId,
    },
    Preparing {
        target: CellId,
        until: Nanos,
    },
    Commanding {
        command: Message,
        target: CellId,
    },
    /// A conditional handover whose condition is fulfilled, until it is executed.
    Executing {
        target: CellId,
        from: Nanos,
    },
    Accessing(Access),
    /// After a failure, until a cell is selected.
    Searching(Search),
}

#[derive(Debug, Clone, Copy)]
struct Search {
    /// When the connection failed, and when the source served the UE last.
    failed: Nanos,
    left: Nanos,
    /// The target of the handover that failed.
    pending: Option<CellId>,
    until: Nanos,
    /// When T311 expires.
    deadline: Nanos,
}

#[derive(Debug)]
pub(crate) struct Connection {
    ue: UeId,
    config: Handover,
    serving: CellId,
    /// Whether the serving cell serves the UE at this time.
    served: bool,
    measurements: Measurements,
    /// The event that starts a handover, or prepares a conditional one.
    trigger: Trigger,
    /// The condition of a conditional handover.
    condition: Trigger,
    reports: Vec<Trigger>,
    prepared: Vec<CellId>,
    prescribed: Option<Prescribed>,
    step: Step,
    monitor: LinkMonitor,
    history: History,
    search: Option<Search>,
    service: Service,
    /// The cell that served the UE before it was suspended, and has its data.
    anchor: Option<CellId>,
    events: Vec<RadioEvent>,
}

impl Connection {
    /// Makes the connection of a UE that has selected no cell yet.
    pub fn new(ue: UeId, config: &Handover, cells: usize, prescribed: Option<Prescribed>) -> Self {
        let trigger =
            |event| Trigger::new(event, config.hysteresis_db, config.time_to_trigger, cells);
        let (period, coefficient) = match config.kind {
            // Measurements of layer 1, which layer 3 does not filter.
            HandoverKind::Ltm => (LTM_PERIOD, 0),
            _ => (config.l1_period, config.filter_coefficient),
        };
        Self {
            ue,
            serving: CellId(0),
            served: false,
            measurements: Measurements::new(period, coefficient, cells),
            trigger: trigger(match config.kind {
                HandoverKind::Cho => earlier(config.event, config.cho_margin_db),
                _ => config.event,
            }),
            condition: trigger(config.event),
            reports: config.reports.iter().copied().map(trigger).collect(),
            prepared: Vec::new(),
            step: Step::Connected,
            monitor: LinkMonitor::new(config.failure),
            history: History::default(),
            search: None,
            service: Service::Active,
            anchor: None,
            events: Vec::new(),
            config: config.clone(),
            prescribed,
        }
    }

    /// Selects the strongest cell at the start, or the one that a drive began in.
    pub fn select(&mut self, surroundings: &mut Surroundings) -> CellId {
        let rsrp = |cell: &CellId| surroundings.rsrp_dbm(*cell, 0);
        let strongest = self.measurements.cells().max_by(|a, b| {
            // Of equal cells, the first.
            rsrp(a).total_cmp(&rsrp(b)).then(b.0.cmp(&a.0))
        });
        let first = self.prescribed.as_mut().and_then(Prescribed::first);
        self.serving = first.or(strongest).unwrap_or(CellId(0));
        self.served = true;
        surroundings.aim(self.serving, 0);
        self.log(
            0,
            EventKind::CellSelected {
                cell: self.serving.0,
            },
        );
        self.serving
    }

    /// Returns the cell that serves the UE, or did so last.
    pub fn serving(&self) -> CellId {
        self.serving
    }

    /// Returns whether it serves the UE at this time.
    pub fn is_served(&self) -> bool {
        self.served
    }

    /// Returns the filtered RSRP of each cell, dBm.
    pub fn rsrp_dbm(&self) -> impl Iterator<Item = Option<f64>> {
        let cells = self.measurements.cells();
        cells.map(|cell| self.measurements.rsrp_dbm(cell))
    }

    /// Removes the events since the last call, in order of time.
    pub fn events(&mut self) -> std::vec::Drain<'_, RadioEvent> {
        self.events.drain(..)
    }

    /// Runs the slot that starts at `now`; calls `act` with each change for the UE's data.
    pub fn run(&mut self, now: Nanos, mut air: Air, mut act: impl FnMut(Action)) {
        let surroundings = &mut *air.surroundings;
        let measured = self
            .measurements
            .run(now, |cell| surroundings.rsrp_dbm(cell, now));
        if self.service != Service::Active {
            self.reselect(now, measured, surroundings, &mut act);
            return;
        }
        if measured {
            self.evaluate(now, surroundings);
        }
        self.report_others(now);
        if let Some(cause) = self.failure(now, &mut air) {
            match &mut self.step {
                // With DAPS the UE goes on towards the target (TS 38.331 clause 5.3.10.3).
                Step::Accessing(access) => {
                    access.left = now;
                    self.leave(Data::Stays, &mut act);
                }
                _ => self.fail(now, cause, None, &mut act),
            }
        }
        self.step(now, &mut air, &mut act);
    }

    /// Returns the cause of a radio link failure, if there is one (TS 38.331 clause 5.3.10.3).
    fn failure(&mut self, now: Nanos, air: &mut Air) -> Option<&'static str> {
        if !self.served {
            return None;
        }
        let (serving, surroundings) = (self.serving, &mut *air.surroundings);
        let sinr_db = || surroundings.downlink_sinr_db(serving, now);
        if self.monitor.run(now, sinr_db) {
            return Some("t310");
        }
        let beam_is_lost = air.beams.is_some_and(|beams| beams.has_given_up(now));
        beam_is_lost.then_some("beam_failure_recovery")
    }

    /// Returns whether a handover or re-establishment is under way.
    pub fn is_changing(&self) -> bool {
        !matches!(self.step, Step::Connected)
    }

    /// Follows the network's service to the UE, which is this one from now on.
    pub fn follow(&mut self, service: Service, mut act: impl FnMut(Action)) {
        let before = std::mem::replace(&mut self.service, service);
        if before == Service::Active && service != Service::Active {
            self.release(&mut act);
            self.anchor = Some(self.serving);
        }
        match service {
            Service::Suspended => {}
            Service::Released => self.anchor = None,
            Service::Active if before == Service::Active => {}
            Service::Active => {
                self.monitor.restart();
                act(Action::Resume);
                let target = self.serving;
                if let Some(anchor) = self.anchor.take().filter(|&anchor| anchor != target) {
                    act(Action::Fetch { anchor, target });
                }
            }
        }
    }

    /// Ends what is under way: the UE resets MAC and releases what it was configured to measure and to execute (TS 38.331
    /// clause 5.3.8.3). In EN-DC LTE may serve it in the middle of a change of the secondary cell.
    fn release(&mut self, act: &mut impl FnMut(Action)) {
        match std::mem::replace(&mut self.step, Step::Connected) {
            Step::Accessing(access) if !self.served => self.enter(access.target, access.cause, act),
            Step::Searching(_) => self.enter(self.serving, Cause::Reestablishment, act),
            _ => self.forget(),
        }
        self.search = None;
    }

    /// Camps on the cell that ranks highest (TS 38.304 clause 5.2.4.6): Rn = Qmeas,n − Qoffset above Rs = Qmeas,s + Qhyst, with
    /// the hysteresis of events as Qhyst and Treselection 0. A drive prescribes it instead.
    fn reselect(
        &mut self,
        now: Nanos,
        measured: bool,
        surroundings: &mut Surroundings,
        act: &mut impl FnMut(Action),
    ) {
        let highest = match &mut self.prescribed {
            Some(prescribed) => prescribed.due(now),
            None if measured => self.highest_ranking(surroundings),
            None => None,
        };
        let Some(target) = highest.filter(|&cell| cell != self.serving) else {
            return;
        };
        surroundings.aim(target, now);
        let cell = std::mem::replace(&mut self.serving, target).0;
        self.log(
            now,
            EventKind::CellReselected {
                cell,
                target: target.0,
            },
        );
        act(Action::Reselect(target));
    }

    fn highest_ranking(&self, surroundings: &Surroundings) -> Option<CellId> {
        let rank = |cell: CellId| {
            let kept_db = if cell == self.serving {
                self.config.hysteresis_db
            } else {
                0.0
            };
            let level_dbm = self.measurements.rsrp_dbm(cell);
            level_dbm.map(|dbm| dbm + surroundings.offset_db(cell) + kept_db)
        };
        let cells = self.measurements.cells();
        let ranked = cells.filter_map(|cell| rank(cell).map(|rank| (cell, rank)));
        ranked
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(cell, _)| cell)
    }

    /// Evaluates all events with new measurements.
    fn evaluate(&mut self, now: Nanos, surroundings: &Surroundings) {
        let measurements = &self.measurements;
        let level = |cell: CellId| {
            Some(Level {
                dbm: measurements.rsrp_dbm(cell)?,
                offset_db: surroundings.offset_db(cell),
                carrier_hz: surroundings.carrier_hz(cell),
            })
        };
        let triggers = [&mut self.trigger, &mut self.condition].into_iter();
        for trigger in triggers.chain(&mut self.reports) {
            trigger.measure(now, self.serving, level);
        }
    }

    /// Logs the reports that start nothing.
    fn report_others(&mut self, now: Nanos) {
        for index in 0..self.reports.len() {
            if let Some(cell) = self.reports[index].due(now, |_| true) {
                let event = self.reports[index].event;
                self.log_report(now, event, event.names_neighbour().then_some(cell));
            }
        }
    }

    fn step(&mut self, now: Nanos, air: &mut Air, act: &mut impl FnMut(Action)) {
        self.check_condition(now);
        match std::mem::replace(&mut self.step, Step::Connected) {
            Step::Connected => self.watch(now, air),
            Step::Reporting { mut report, target } => match report.run(now, air) {
                Fate::Underway => self.step = Step::Reporting { report, target },
                Fate::Arrived => {
                    let preparation = match self.config.kind {
                        HandoverKind::Ltm => 0, // candidates are prepared
                        _ => self.config.preparation,
                    };
                    let until = now + preparation;
                    self.step = Step::Preparing { target, until };
                }
                Fate::Lost => self.fail(now, "rlc", None, act),
            },
            Step::Preparing { target, until } if now < until => {
                self.step = Step::Preparing { target, until };
            }
            Step::Preparing { target, .. } => {
                let kind = match self.config.kind {
                    HandoverKind::Ltm => Kind::SwitchCommand,
                    _ => Kind::Command,
                };
                let command = Message::new(kind, self.serving, now, air.cell);
                self.step = Step::Commanding { command, target };
                self.step(now, air, act);
            }
            Step::Commanding {
                mut command,
                target,
            } => match command.run(now, air) {
                Fate::Underway => self.step = Step::Commanding { command, target },
                Fate::Arrived => self.command_arrived(now, target, command.transmissions, air, act),
                Fate::Lost => self.trigger.repeat(now),
            },
            Step::Executing { target, from } if now < from => {
                self.step = Step::Executing { target, from };
            }
            Step::Executing { target, .. } => self.execute(now, target, air, act),
            Step::Accessing(access) => self.access(now, access, air, act),
            Step::Searching(search) => self.search(now, search, air),
        }
    }

    /// Begins a handover if its event is due.
    fn watch(&mut self, now: Nanos, air: &mut Air) {
        if self.config.kind == HandoverKind::Off || !self.served {
            return;
        }
        if let Some(prescribed) = &mut self.prescribed {
            let target = prescribed.due(now).filter(|&target| target != self.serving);
            if let Some(target) = target {
                self.step = Step::Preparing { target, until: now };
            }
            return;
        }
        let Some(target) = self.trigger.due(now, |_| true) else {
            return;
        };
        if self.prepared.contains(&target) {
            return;
        }
        self.log_report(now, self.trigger.event, Some(target));
        if let Some(drx) = air.drx() {
            drx.request();
        }
        let report = Message::new(Kind::Report, self.serving, now, air.cell);
        self.step = Step::Reporting { report, target };
    }

    /// Executes a conditional handover whose condition is due, whatever else is under way.
    fn check_condition(&mut self, now: Nanos) {
        let waits = matches!(
            self.step,
            Step::Connected
                | Step::Reporting { .. }
                | Step::Preparing { .. }
                | Step::Commanding { .. }
        );
        let conditional = self.config.kind == HandoverKind::Cho && self.prescribed.is_none();
        if !conditional || !self.served || !waits {
            return;
        }
        let prepared = &self.prepared;
        if let Some(target) = self.condition.due(now, |cell| prepared.contains(&cell)) {
            let from = now + CONDITIONAL_EXECUTION;
            self.step = Step::Executing { target, from };
        }
    }

    fn command_arrived(
        &mut self,
        now: Nanos,
        target: CellId,
        transmissions: u32,
        air: &mut Air,
        act: &mut impl FnMut(Action),
    ) {
        self.log(
            now,
            EventKind::HandoverCommand {
                cell: self.serving.0,
                target: target.0,
                handover: self.config.kind.name(),
                transmissions,
            },
        );
        match self.config.kind {
            HandoverKind::Cho if self.prescribed.is_none() => {
                self.prepared.push(target);
                self.condition.forget(target); // the UE evaluates it from now on
            }
            _ => self.execute(now, target, air, act),
        }
    }

    /// Begins the access to the target; with DAPS the source serves on.
    fn execute(&mut self, now: Nanos, target: CellId, air: &mut Air, act: &mut impl FnMut(Action)) {
        self.log(
            now,
            EventKind::HandoverStart {
                cell: self.serving.0,
                target: target.0,
                handover: self.config.kind.name(),
            },
        );
        if self.config.kind != HandoverKind::Daps {
            self.leave(self.data_at_execution(), act);
        }
        let access = Access::by_handover(self.serving, target, now, &self.config, air);
        self.step = Step::Accessing(access);
    }

    /// Returns what happens to data when the UE leaves the source.
    fn data_at_execution(&self) -> Data {
        match self.config.kind {
            HandoverKind::A3 => Data::CrossesXn,
            HandoverKind::Ltm => Data::Shared,
            // The source does not know, or serves on.
            HandoverKind::Cho | HandoverKind::Daps | HandoverKind::Off => Data::Stays,
        }
    }

    /// Returns what happens to data when the target serves the UE. In the cell that it has left RLC is re-established (TS 38.331
    /// clause 5.3.7), and PDCP, with all packets, is where it was.
    fn data_at_completion(&self, target: CellId, cause: Cause) -> Data {
        match (cause, self.config.kind) {
            (Cause::Reestablishment, _) if target == self.serving => Data::Kept,
            (Cause::Reestablishment, _) | (_, HandoverKind::Cho) => Data::CrossesXn,
            (_, HandoverKind::Daps) => Data::IsThere,
            _ => Data::Stays,
        }
    }

    fn leave(&mut self, data: Data, act: &mut impl FnMut(Action)) {
        if std::mem::take(&mut self.served) {
            act(Action::Leave(data));
        }
    }

    fn access(
        &mut self,
        now: Nanos,
        mut access: Access,
        air: &mut Air,
        act: &mut impl FnMut(Action),
    ) {
        match access.run(now, air) {
            Progress::Underway => self.step = Step::Accessing(access),
            Progress::Preamble => {
                let (cell, attempt) = (access.target.0, access.attempts);
                self.log(now, EventKind::RandomAccess { cell, attempt });
                self.step = Step::Accessing(access);
            }
            Progress::Complete => self.complete(now, &access, act),
            Progress::Failed if access.cause == Cause::Handover => {
                // With DAPS the source still serves, and the UE stays (TS 38.331 clause 5.3.5.8.3).
                if self.served {
                    self.trigger.repeat(now);
                } else {
                    self.fail_after(now, access.left, "t304", Some(access.target), act);
                }
            }
            Progress::Failed => {
                let search = self.search.take();
                self.step = search.map_or(Step::Connected, Step::Searching);
            }
        }
    }

    fn complete(&mut self, now: Nanos, access: &Access, act: &mut impl FnMut(Action)) {
        let interruption_ns = if self.served { 0 } else { now - access.left };
        let (cell, target) = (access.source.0, access.target.0);
        match access.cause {
            Cause::Handover => {
                let ping_pong = self.history.complete(now, access.source, access.target);
                self.log(
                    now,
                    EventKind::HandoverComplete {
                        cell,
                        target,
                        handover: self.config.kind.name(),
                        interruption_ns,
                        processing_ns: access.processed - access.began,
                        synchronisation_ns: access.ready - access.processed,
                        access_ns: now - access.ready,
                        ping_pong,
                    },
                );
            }
            Cause::Reestablishment => {
                let search = self.search.take();
                let class = search.map_or("coverage", |search| {
                    let Search {
                        failed, pending, ..
                    } = search;
                    self.history
                        .class(failed, access.source, pending, access.target)
                });
                self.history.clear();
                self.log(
                    now,
                    EventKind::Reestablished {
                        cell,
                        target,
                        interruption_ns,
                        class,
                    },
                );
            }
        }
        self.leave(Data::Stays, act); // with DAPS
        self.enter(access.target, access.cause, act);
    }

    /// Lets the target serve the UE.
    fn enter(&mut self, target: CellId, cause: Cause, act: &mut impl FnMut(Action)) {
        let data = self.data_at_completion(target, cause);
        self.serving = target;
        self.served = true;
        self.step = Step::Connected;
        self.forget();
        self.monitor.restart();
        act(Action::Join(target, data));
    }

    /// Forgets what was measured and prepared for the cell that served the UE.
    fn forget(&mut self) {
        self.prepared.clear();
        self.trigger.reset();
        self.condition.reset();
        self.reports.iter_mut().for_each(Trigger::reset);
    }

    fn fail(
        &mut self,
        now: Nanos,
        cause: &'static str,
        pending: Option<CellId>,
        act: &mut impl FnMut(Action),
    ) {
        self.fail_after(now, now, cause, pending, act);
    }

    /// Gives the connection up at `now`; the source served the UE until `left`.
    fn fail_after(
        &mut self,
        now: Nanos,
        left: Nanos,
        cause: &'static str,
        pending: Option<CellId>,
        act: &mut impl FnMut(Action),
    ) {
        let cell = self.serving.0;
        self.log(now, EventKind::RadioLinkFailure { cell, cause });
        self.leave(Data::Stays, act);
        self.prepared.clear();
        self.step = Step::Searching(Search {
            failed: now,
            left,
            pending,
            until: now + self.config.failure.reestablishment,
            deadline: now + self.config.failure.t311,
        });
    }

    /// Selects the strongest cell that the UE can synchronise with, when the search is over.
    fn search(&mut self, now: Nanos, mut search: Search, air: &mut Air) {
        if now < search.until {
            self.step = Step::Searching(search);
            return;
        }
        let level = |cell: &CellId| {
            let dbm = self.measurements.rsrp_dbm(*cell);
            dbm.unwrap_or(f64::NEG_INFINITY)
        };
        let strongest = self
            .measurements
            .cells()
            .max_by(|a, b| level(a).total_cmp(&level(b)).then(b.0.cmp(&a.0)));
        let suitable = strongest.filter(|&cell| {
            air.surroundings.aim(cell, now);
            air.surroundings.downlink_sinr_db(cell, now) >= self.config.failure.q_out_db
        });
        if let Some(target) = suitable {
            self.search = Some(search);
            let (source, left) = (self.serving, search.left);
            let access = Access::by_reestablishment(source, target, left, now, &self.config);
            self.step = Step::Accessing(access);
            return;
        }
        if now >= search.deadline {
            let cell = self.serving.0;
            self.log(now, EventKind::ConnectionLost { cell });
            search.deadline = Nanos::MAX;
        }
        search.until = now + super::measurements::SSB_PERIOD;
        self.step = Step::Searching(search);
    }

    fn log_report(&mut self, now: Nanos, event: Event, target: Option<CellId>) {
        let rsrp = |cell| self.measurements.rsrp_dbm(cell);
        let report = EventKind::MeasurementReport {
            cell: self.serving.0,
            target: target.map(|cell| cell.0),
            event: event.name(),
            serving_rsrp_dbm: rsrp(self.serving).unwrap_or(f64::NAN),
            target_rsrp_dbm: target.and_then(rsrp),
        };
        self.log(now, report);
    }

    fn log(&mut self, time: Nanos, kind: EventKind) {
        self.events.push(RadioEvent {
            time,
            ue: self.ue,
            kind,
        });
    }
}

/// Returns the event at which a conditional handover is prepared: fulfilled `margin_db` earlier.
fn earlier(event: Event, margin_db: f64) -> Event {
    match event {
        Event::A3 { offset_db } => Event::A3 {
            offset_db: offset_db - margin_db,
        },
        Event::A6 { offset_db } => Event::A6 {
            offset_db: offset_db - margin_db,
        },
        Event::A4 { threshold_dbm } => Event::A4 {
            threshold_dbm: threshold_dbm - margin_db,
        },
        Event::A5 {
            serving_dbm,
            neighbour_dbm,
        } => Event::A5 {
            serving_dbm: serving_dbm + margin_db,
            neighbour_dbm: neighbour_dbm - margin_db,
        },
        other => other,
    }
}
