// SPDX-License-Identifier: Apache-2.0
//! Quinn's settings for both ends.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{IdleTimeout, MtuDiscoveryConfig, QlogStream, TransportConfig, VarInt};

/// Longer than the longest dead zone of a scenario.
const IDLE: Duration = Duration::from_secs(120);
/// IPv4 and UDP.
const HEADERS_BYTES: u16 = 28;

/// The maker of a connection's congestion control.
pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// Quinn's congestion controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CongestionControl {
    /// RFC 9438.
    Cubic,
    /// RFC 9002.
    #[value(name = "newreno")]
    NewReno,
    /// BBR as in Google's QUICHE.
    Bbr,
}

impl CongestionControl {
    /// Returns what makes it.
    pub fn factory(self) -> Factory {
        match self {
            Self::Cubic => Arc::new(CubicConfig::default()),
            Self::NewReno => Arc::new(NewRenoConfig::default()),
            Self::Bbr => Arc::new(BbrConfig::default()),
        }
    }
}

/// The values on which quinn's settings depend.
pub struct Settings {
    /// The congestion control of what this end sends.
    pub congestion: Factory,
    /// Limit of the bytes in flight: the receiver's window and the sender's buffer.
    pub window_bytes: u32,
    /// MTU of the interface.
    pub mtu_bytes: u16,
    /// Most streams that the peer may open.
    pub streams: u32,
    /// The log of quinn's events.
    pub qlog: Option<QlogStream>,
}

/// Makes quinn's settings.
///
/// # Errors
/// A value that QUIC does not allow.
pub fn config(settings: Settings) -> Result<Arc<TransportConfig>> {
    let window = VarInt::from_u32(settings.window_bytes);
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(settings.mtu_bytes.saturating_sub(HEADERS_BYTES));
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(Some(IdleTimeout::try_from(IDLE)?))
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(settings.window_bytes.into())
        .max_concurrent_uni_streams(settings.streams.max(1).into())
        .mtu_discovery_config(Some(discovery))
        .congestion_controller_factory(settings.congestion)
        .qlog_stream(settings.qlog);
    Ok(Arc::new(config))
}
