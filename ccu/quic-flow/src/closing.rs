// SPDX-License-Identifier: Apache-2.0
//! A window without limit for CONNECTION_CLOSE.
//!
//! Quinn (quinn-proto 0.11.19) holds that frame back as long as data waits for room in the window, which never comes: a closed
//! connection takes no ACKs. The receiver would wait for its limit of time.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::transport::Factory;

/// Whether the sender has closed its connection.
#[derive(Debug, Clone, Default)]
pub struct Closing(Arc<AtomicBool>);

impl Closing {
    /// Says that the connection is closed now.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns the same congestion control, which limits nothing after the close.
    pub fn unlimited(&self, inner: Factory) -> Factory {
        let closing = self.clone();
        Arc::new(UntilClose { closing, inner })
    }
}

#[derive(Clone)]
struct UntilClose<T> {
    closing: Closing,
    inner: T,
}

impl ControllerFactory for UntilClose<Factory> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, current_mtu);
        let closing = self.closing.clone();
        Box::new(UntilClose { closing, inner })
    }
}

impl Controller for UntilClose<Box<dyn Controller>> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.inner
            .on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        match self.closing.0.load(Ordering::Relaxed) {
            true => u64::MAX,
            false => self.inner.window(),
        }
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let (closing, inner) = (self.closing.clone(), self.inner.clone_box());
        Box::new(Self { closing, inner })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
