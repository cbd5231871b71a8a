// SPDX-License-Identifier: Apache-2.0
//! The part of the crate qlog that quinn-proto calls, in its place (`[patch.crates-io]` of the workspace).
//!
//! That crate makes JSON of an event with serde, in some thirty calls of a writer, and rounds its time to f32: a third of
//! the CPU time of a flow at 100 Mbit/s, and microseconds of error after 10 s. Here an event becomes one
//! [`Record`](record::Record) with its exact time and the units of the main schema 0.3
//! (draft-ietf-quic-qlog-main-schema-02), and is written by one call. The file's header is its owner's.

pub mod events;
pub mod record;
pub mod streamer;

use std::time::Duration;

/// The version of the main schema.
pub const QLOG_VERSION: &str = "0.3";

/// The content of a log's header in other programs; here nothing.
#[derive(Debug)]
pub struct TraceSeq;

impl TraceSeq {
    /// Takes what quinn says of a trace.
    pub fn new(
        _: VantagePoint,
        _: Option<String>,
        _: Option<String>,
        _: Option<Configuration>,
        _: Option<String>,
    ) -> Self {
        Self
    }
}

/// The end that writes a log.
#[derive(Debug)]
pub struct VantagePoint {
    /// Its name.
    pub name: Option<String>,
    /// Its kind.
    pub ty: VantagePointType,
    /// The end whose flow is shown, in a log by neither end.
    pub flow: Option<VantagePointType>,
}

/// The kind of an end.
#[derive(Debug)]
pub enum VantagePointType {
    /// Quinn does not say.
    Unknown,
}

/// The settings with which a log is to be read.
#[derive(Debug)]
pub struct Configuration {
    /// The time to add to that of each event, in ms.
    pub time_offset: Option<f64>,
    /// The origin of the log.
    pub original_uris: Option<Vec<String>>,
}

/// Writes a time in milliseconds with six decimals.
fn put_milliseconds(text: &mut Vec<u8>, time: Duration) {
    let time_ns = time.as_nanos() as u64;
    put_number(text, time_ns / 1_000_000);
    text.push(b'.');
    let mut rest = time_ns % 1_000_000;
    let mut decimals = [b'0'; 6];
    for decimal in decimals.iter_mut().rev() {
        *decimal += (rest % 10) as u8;
        rest /= 10;
    }
    text.extend_from_slice(&decimals);
}

fn put_number(text: &mut Vec<u8>, number: u64) {
    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
