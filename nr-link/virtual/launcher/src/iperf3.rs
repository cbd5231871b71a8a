// SPDX-License-Identifier: Apache-2.0
//! A flow's report in the form of `iperf3 --json`, one file for each end, so that what reads iperf3 reads it.

use nr_link_virtual_plan::{Flow, FlowReport, Host, Interval, Run, Transport};
use serde_json::{Map, Value, json};

/// iperf3 numbers streams by the socket's descriptor; there is one.
const STREAM: u32 = 1;

/// An end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It sends.
    Client,
    /// It receives.
    Server,
}

impl End {
    /// As in the file's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// The file of one end.
pub fn report(run: &Run, flow: &Flow, report: &FlowReport, end: End) -> Value {
    let intervals = match end {
        End::Client => &report.sender,
        End::Server => &report.receiver,
    };
    let intervals: Vec<Value> = intervals
        .iter()
        .map(|interval| {
            let stream = stream(interval, end);
            json!({"streams": [with_socket(stream.clone())], "sum": stream})
        })
        .collect();
    json!({
        "start": start(run, flow, report, end),
        "intervals": intervals,
        "end": totals(flow, report),
    })
}

fn start(run: &Run, flow: &Flow, report: &FlowReport, end: End) -> Value {
    let sender = (&run.hosts[flow.sender], flow.sending_port);
    let receiver = (&run.hosts[flow.receiver], flow.listening_port);
    let (local, remote) = match end {
        End::Client => (sender, receiver),
        End::Server => (receiver, sender),
    };
    let address = |(host, port): (&Host, u16)| (host.address.to_string(), port);
    let ((local_host, local_port), (remote_host, remote_port)) = (address(local), address(remote));
    json!({
        "connected": [{
            "socket": STREAM, "local_host": local_host, "local_port": local_port,
            "remote_host": remote_host, "remote_port": remote_port,
        }],
        "version": concat!("nr-link virtual ", env!("CARGO_PKG_VERSION")),
        "system_info": "User Mode Linux in virtual time",
        "timestamp": {"timesecs": report.start_utc_ns.div_euclid(1_000_000_000)},
        "test_start": {
            "protocol": match flow.transport {
                Transport::Tcp { .. } => "TCP",
                Transport::Udp { .. } => "UDP",
            },
            "num_streams": 1,
            "blksize": report.segment_bytes,
            "omit": 0,
            "duration": flow.duration_s,
            "bytes": match flow.transport {
                Transport::Tcp { volume_bytes, .. } => volume_bytes.unwrap_or(0),
                Transport::Udp { .. } => 0,
            },
            "reverse": 0,
        },
    })
}

fn stream(interval: &Interval, end: End) -> Map<String, Value> {
    let mut stream = amount(
        interval.start_s,
        interval.end_s,
        interval.bytes,
        end == End::Client,
    );
    if let Some(tcp) = interval.tcp {
        stream.extend(object(json!({
            "retransmits": tcp.retransmissions,
            "snd_cwnd": tcp.cwnd_bytes,
            "snd_wnd": tcp.send_window_bytes,
            "rtt": tcp.rtt_us,
            "rttvar": tcp.rtt_variation_us,
            "pmtu": tcp.path_mtu_bytes,
        })));
    }
    if let Some(seen) = interval.datagrams {
        match end {
            End::Client => {
                stream.insert("packets".into(), seen.received.into());
            }
            End::Server => {
                stream.extend(loss(seen.received + seen.lost, seen.lost, seen.jitter_ms))
            }
        }
    }
    stream.insert("omitted".into(), false.into());
    stream
}

fn with_socket(stream: Map<String, Value>) -> Value {
    let mut with = Map::from_iter([("socket".to_owned(), STREAM.into())]);
    with.extend(stream);
    with.into()
}

fn totals(flow: &Flow, report: &FlowReport) -> Value {
    let mut sent = amount(0.0, report.sending_s, report.sent_bytes, true);
    let mut received = amount(0.0, report.receiving_s, report.received_bytes, false);
    match &flow.transport {
        Transport::Tcp { .. } => {
            sent.insert("retransmits".into(), report.retransmissions.into());
            let streams = json!([{"sender": with_socket(sent.clone()), "receiver": with_socket(received.clone())}]);
            json!({
                "streams": streams,
                "sum_sent": sent,
                "sum_received": received,
                "sender_tcp_congestion": report.cc,
                "receiver_tcp_congestion": null,
            })
        }
        Transport::Udp { .. } => {
            let seen = report.datagrams;
            sent.extend(loss(report.sent_datagrams, 0, 0.0));
            received.extend(loss(report.sent_datagrams, seen.lost, seen.jitter_ms));
            received.insert("out_of_order".into(), seen.out_of_order.into());
            json!({
                "streams": [{"udp": with_socket(received.clone())}],
                "sum": received,
                "sum_sent": sent,
                "sum_received": received,
            })
        }
    }
}

fn amount(start_s: f64, end_s: f64, bytes: u64, sender: bool) -> Map<String, Value> {
    let lasted_s = end_s - start_s;
    let rate_bps = match lasted_s {
        0.0 => 0.0,
        lasted_s => bytes as f64 * 8.0 / lasted_s,
    };
    object(json!({
        "start": start_s,
        "end": end_s,
        "seconds": lasted_s,
        "bytes": bytes,
        "bits_per_second": rate_bps,
        "sender": sender,
    }))
}

fn loss(packets: u64, lost: u64, jitter_ms: f64) -> Map<String, Value> {
    object(json!({
        "jitter_ms": jitter_ms,
        "lost_packets": lost,
        "packets": packets,
        "lost_percent": if packets == 0 { 0.0 } else { lost as f64 * 100.0 / packets as f64 },
    }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
