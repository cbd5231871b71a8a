// SPDX-License-Identifier: Apache-2.0
//! One end's loop: datagrams and timers go into quinn's connections, what these make goes to the socket.
//!
//! One thread, one socket; the loop sleeps until something arrives or is due.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, EndpointConfig, Event, ServerConfig,
    Transmit,
};
use ring::hmac;

use crate::arrivals::{Burst, Wait};
use crate::certificate::SERVER_NAME;
use crate::clock::Clock;
use crate::policy::Policy;
use crate::qlog::{self, Log};
use crate::seed::{ConnectionIds, Seed};
use crate::socket::{Socket, Woken};

/// The use that one end makes of its connections.
pub trait Application {
    /// Something happened to a connection.
    ///
    /// # Errors
    /// The flow cannot go on.
    fn event(&mut self, connection: &mut Connection, event: Event, now: Instant) -> Result<()>;
    /// Does what can be done with a connection now.
    ///
    /// # Errors
    /// The flow cannot go on.
    fn work(&mut self, connection: &mut Connection, now: Instant) -> Result<()>;
    /// When [`Application::work`] has something to do by itself.
    fn due(&self) -> Option<Instant>;
    /// The connection that this end makes now.
    fn wanted(&mut self) -> Option<ClientConfig>;
    /// Whether everything is over, given whether a connection is left.
    fn is_over(&self, connected: bool, now: Instant) -> bool;
}

/// One end of a flow.
pub struct Endpoint {
    clock: Clock,
    socket: Socket,
    log: Option<Log>,
    policy: Option<Policy>,
    /// The time at which the policy lets the next packet depart, if one waits.
    paced_until: Option<Instant>,
    quinn: quinn_proto::Endpoint,
    connections: BTreeMap<ConnectionHandle, Connection>,
    /// The newest packets of quinn.
    made: Vec<u8>,
    /// Packets for which the socket had no space.
    unsent: Option<Transmit>,
}

impl Endpoint {
    /// Makes an end, which accepts connections if `server` says how.
    pub fn new(
        clock: Clock,
        socket: Socket,
        seed: &Seed,
        server: Option<ServerConfig>,
        log: Option<Log>,
        policy: Option<Policy>,
    ) -> Self {
        let reset_key = hmac::Key::new(hmac::HMAC_SHA256, &seed.bytes("reset key"));
        let mut config = EndpointConfig::new(Arc::new(reset_key));
        let ids = ConnectionIds::new(seed);
        config
            .rng_seed(Some(seed.bytes("quinn")))
            .cid_generator(move || Box::new(ids.clone()));
        Self {
            clock,
            socket,
            log,
            policy,
            paced_until: None,
            quinn: quinn_proto::Endpoint::new(Arc::new(config), server.map(Arc::new), true, None),
            connections: BTreeMap::new(),
            made: Vec::new(),
            unsent: None,
        }
    }

    /// Runs until the application is over.
    ///
    /// # Errors
    /// The socket or the application fails.
    pub fn run(&mut self, application: &mut dyn Application, peer: SocketAddr) -> Result<()> {
        let mut now = self.clock.read();
        loop {
            if let Some(config) = application.wanted() {
                let connected = self.quinn.connect(now, config, peer, SERVER_NAME);
                let (handle, connection) = connected.with_context(|| peer.to_string())?;
                self.connections.insert(handle, connection);
            }
            if let Err(failed) = self.drive(application, now) {
                let _ = self.transmit(now); // the peer learns why
                return Err(failed);
            }
            if application.is_over(!self.connections.is_empty(), now) {
                if let Some(policy) = &mut self.policy {
                    policy.end(now);
                }
                return self.log.as_ref().map_or(Ok(()), |log| Ok(log.flush()?));
            }
            let timers = self
                .connections
                .values_mut()
                .filter_map(Connection::poll_timeout);
            let due = timers
                .chain(application.due())
                .chain(self.paced_until)
                .min();
            let timeout = due.map(|due| due.saturating_duration_since(now));
            let commands = self.policy.as_ref().and_then(Policy::descriptor);
            let to_send = self.unsent.is_some();
            let woken = self.socket.wait(timeout, to_send, commands)?;
            if let Some(policy) = &mut self.policy {
                policy.obey(self.clock.read());
            }
            now = match (woken, due) {
                (Woken::ToReceive(wait), _) => self.receive(wait)?,
                (Woken::InTime, Some(due)) => self.clock.read_at_deadline(due),
                _ => self.clock.read(),
            };
        }
    }

    /// Gives quinn what has arrived; returns the time.
    fn receive(&mut self, wait: Wait) -> Result<Instant> {
        let Self {
            clock,
            socket,
            quinn,
            connections,
            log,
            ..
        } = self;
        let mut answers = Vec::new();
        let mut newest = None;
        let mut take = |burst: Burst| {
            let now = clock.read_at_arrival(burst.at);
            newest = Some(now);
            if let Some(log) = log {
                log.datagrams(
                    qlog::DatagramEvent::Received,
                    burst.content.len(),
                    burst.each,
                )?;
            }
            let ecn = burst
                .ecn
                .and_then(|ecn| quinn_proto::EcnCodepoint::from_bits(ecn as u8));
            let mut content = BytesMut::from(burst.content);
            while !content.is_empty() {
                let mut answer = Vec::new();
                let datagram = content.split_to(burst.each.clamp(1, content.len()));
                match quinn.handle(now, burst.from, None, ecn, datagram, &mut answer) {
                    Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                        if let Some(connection) = connections.get_mut(&handle) {
                            connection.handle_event(event);
                        }
                    }
                    Some(DatagramEvent::NewConnection(incoming)) => {
                        match quinn.accept(incoming, now, &mut answer, None) {
                            Ok((handle, connection)) => {
                                connections.insert(handle, connection);
                            }
                            Err(refused) => {
                                answers.extend(refused.response.map(|sent| (sent, answer)))
                            }
                        }
                    }
                    Some(DatagramEvent::Response(sent)) => answers.push((sent, answer)),
                    None => {}
                }
            }
            Ok(())
        };
        socket.receive(wait, &mut take)?;
        for (transmit, content) in answers {
            self.put(&transmit, &content)?;
        }
        Ok(newest.unwrap_or_else(|| self.clock.read()))
    }

    /// Lets each connection do everything that it can at `now`.
    fn drive(&mut self, application: &mut dyn Application, now: Instant) -> Result<()> {
        let Self {
            quinn, connections, ..
        } = self;
        for (handle, connection) in connections.iter_mut() {
            while connection.poll_timeout().is_some_and(|due| due <= now) {
                connection.handle_timeout(now);
            }
            while let Some(event) = connection.poll() {
                application.event(connection, event, now)?;
            }
            application.work(connection, now)?;
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(answer) = quinn.handle_event(*handle, event) {
                    connection.handle_event(answer);
                }
            }
        }
        let sent = self.transmit(now);
        self.connections
            .retain(|_, connection| !connection.is_drained());
        sent
    }

    fn transmit(&mut self, now: Instant) -> Result<()> {
        if let Some(transmit) = self.unsent.take() {
            let content = std::mem::take(&mut self.made);
            let sent = self.put(&transmit, &content);
            self.made = content;
            if !sent? {
                self.unsent = Some(transmit);
                return Ok(());
            }
        }
        self.paced_until = None;
        let handles: Vec<_> = self.connections.keys().copied().collect();
        for handle in handles {
            loop {
                let mut most = self.socket.most_datagrams();
                if let Some(policy) = &self.policy {
                    match policy.plane().allowance(now) {
                        Ok(allowed) => most = most.min(allowed),
                        Err(later) => self.paced_until = Some(later),
                    }
                    policy.plane().hold(self.paced_until.is_some());
                }
                let mut content = std::mem::take(&mut self.made);
                content.clear();
                let connection = self.connections.get_mut(&handle);
                let made = connection.and_then(|one| one.poll_transmit(now, most, &mut content));
                if let (Some(policy), Some(made)) = (&self.policy, &made) {
                    policy.plane().departed(made.size, now);
                }
                let sent = made.as_ref().map(|transmit| self.put(transmit, &content));
                self.made = content;
                match sent.transpose()? {
                    None => break,
                    Some(true) => {}
                    Some(false) => {
                        self.unsent = made;
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends and logs; returns false if the socket has no space.
    fn put(&self, transmit: &Transmit, content: &[u8]) -> Result<bool> {
        let sent = self.socket.send(transmit, content)?;
        if let (true, Some(log)) = (sent, &self.log) {
            let each = transmit.segment_size.unwrap_or(transmit.size);
            log.datagrams(qlog::DatagramEvent::Sent, transmit.size, each)?;
        }
        Ok(sent)
    }
}
