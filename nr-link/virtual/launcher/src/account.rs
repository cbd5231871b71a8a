// SPDX-License-Identifier: Apache-2.0
//! What a run leaves besides the kernel's own files: the flows' reports and `virtual.json`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nr_link_virtual_plan::{Report, Run};
use serde_json::{Value, json};

use crate::iperf3::{self, End};
use crate::kernel::Ended;

/// Writes the files into `folder`; gives what `virtual.json` holds.
///
/// # Errors
/// A file cannot be written.
pub fn write(folder: &Path, run: &Run, ended: &Ended) -> Result<Value> {
    let mut flows = vec![Value::Null; run.flows.len()];
    let mut programs = Vec::new();
    let mut policies = serde_json::Map::new();
    let (mut started, mut stopped) = (0, 0);
    let mut set = Value::Null;
    for report in &ended.reports {
        match report {
            Report::Flow(report) => {
                let number = run.flows.iter().position(|flow| flow.id == report.id);
                let number =
                    number.with_context(|| format!("flow {} is not in the plan", report.id))?;
                let plan = &run.flows[number];
                for end in [End::Client, End::Server] {
                    let name = format!("iperf3-{}-{}.json", report.id, end.name());
                    write_json(&folder.join(name), &iperf3::report(run, plan, report, end))?;
                }
                flows[number] = json!({
                    "id": report.id,
                    "cc_read_back": report.cc,
                    "start_utc_ns": report.start_utc_ns,
                    "sent_bytes": report.sent_bytes,
                    "received_bytes": report.received_bytes,
                    "retransmissions": report.retransmissions,
                    "sending_s": report.sending_s,
                    "receiving_s": report.receiving_s,
                    "sent_datagrams": report.sent_datagrams,
                    "received_datagrams": report.datagrams.received,
                });
            }
            Report::Program { name, code } => programs.push(json!({"name": name, "code": code})),
            Report::Policy { cc, counters } => {
                policies.insert(cc.clone(), json!(counters));
            }
            Report::Ready {
                sysctls,
                modules,
                module_parameters,
            } => {
                set = json!({
                    "sysctls": sysctls, "modules": modules, "module_parameters": module_parameters,
                });
            }
            Report::TrafficStarted { utc_ns } => started = *utc_ns,
            Report::TrafficStopped { utc_ns } => stopped = *utc_ns,
            Report::Failed { .. } => {}
        }
    }
    let virtual_s = (stopped - started) as f64 / 1e9;
    let account = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "clock": "virtual",
        "traffic_start_utc_ns": started,
        "traffic_stop_utc_ns": stopped,
        "virtual_s": virtual_s,
        "wall_s": ended.wall.as_secs_f64(),
        "cpu_s": ended.cpu.as_secs_f64(),
        "real_time_ratio": virtual_s / ended.wall.as_secs_f64(),
        "kernel": set,
        "hosts": run.hosts.iter().map(|host| json!({
            "name": host.name, "interface": host.device, "address": host.address,
        })).collect::<Vec<_>>(),
        "flows": flows,
        "programs": programs,
        "policies": policies,
    });
    write_json(&folder.join("virtual.json"), &account)?;
    Ok(account)
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    fs::write(path, format!("{value:#}\n")).with_context(|| path.display().to_string())
}
