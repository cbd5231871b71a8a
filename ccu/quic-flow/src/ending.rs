// SPDX-License-Identifier: Apache-2.0
//! The end of a connection: a good one, or a reason that a person can act on.

use std::net::SocketAddr;
use std::time::Duration;

use quinn_proto::{ApplicationClose, ConnectionError, TransportErrorCode, VarInt};

/// The sender has sent everything.
pub const DONE: VarInt = VarInt::from_u32(0);
/// The sender will come back with 0-RTT.
pub const RESUME: VarInt = VarInt::from_u32(1);

/// Returns the code with which the peer closed, if it did.
pub fn code_of_peer(reason: &ConnectionError) -> Option<VarInt> {
    match reason {
        ConnectionError::ApplicationClosed(ApplicationClose { error_code, .. }) => {
            Some(*error_code)
        }
        _ => None,
    }
}

/// Whether this end closed the connection.
pub fn is_our_close(reason: &ConnectionError) -> bool {
    matches!(reason, ConnectionError::LocallyClosed)
}

/// Says that the handshake got no answer.
pub fn no_answer(peer: SocketAddr, patience: Duration) -> String {
    format!(
        "{peer} does not answer by UDP within {} s. Look for a firewall that blocks UDP, a path MTU below 1228 bytes, \
         and whether the receiver runs",
        patience.as_secs_f64()
    )
}

/// Says why a connection was lost, and what helps.
pub fn explain(reason: &ConnectionError, peer: SocketAddr) -> String {
    match reason {
        ConnectionError::TransportError(error) if is_of_tls(error.code) => format!(
            "{peer}: its certificate was refused ({}). Make certificate and key again: quic-flow certificate",
            error.reason
        ),
        ConnectionError::ConnectionClosed(close) if is_of_tls(close.error_code) => format!(
            "{peer} refused this end's certificate ({}). Make certificate and key again: quic-flow certificate",
            close.error_code
        ),
        ConnectionError::TimedOut => {
            format!("{peer} was silent until the idle timeout. Look at its log")
        }
        other => format!("{peer}: the connection was lost: {other}. Look at the logs of both ends"),
    }
}

/// RFC 9000 section 20.1: CRYPTO_ERROR is 0x0100 and the alert of TLS.
fn is_of_tls(code: TransportErrorCode) -> bool {
    (0x100..0x200).contains(&u64::from(code))
}
