// SPDX-License-Identifier: Apache-2.0
//! The files of a run besides the kernel's own: `flows.json`, of the traffic program, and `virtual.json`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nr_link_virtual_plan::{Report, Run};
use serde_json::{Value, json};

use crate::kernel::Ended;

/// The content of `flows.json`: what both ends of each flow saw, as [`nr_link_virtual_plan::FlowReport`] has it.
const FLOWS_SCHEMA: &str = "nr-link-flows/1";

/// Writes the files into `folder`; gives what `virtual.json` holds.
///
/// # Errors
/// A file cannot be written.
pub fn write(folder: &Path, run: &Run, ended: &Ended) -> Result<Value> {
    let mut flows = vec![Value::Null; run.flows.len()];
    let mut reports = flows.clone();
    let mut programs = Vec::new();
    let mut policies = serde_json::Map::new();
    let mut changes = Vec::new();
    let (mut started, mut stopped) = (0, 0);
    let mut set = Value::Null;
    for report in &ended.reports {
        match report {
            Report::Flow(report) => {
                let number = run.flows.iter().position(|flow| flow.id == report.id);
                let number =
                    number.with_context(|| format!("flow {} is not in the plan", report.id))?;
                reports[number] = json!(report);
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
            Report::Changed { utc_ns, ccs } => {
                changes.push(json!({"utc_ns": utc_ns, "cc_read_back": ccs}));
            }
            Report::TrafficStarted { utc_ns } => started = *utc_ns,
            Report::TrafficStopped { utc_ns } => stopped = *utc_ns,
            Report::Unfinished(_) | Report::Failed { .. } => {}
        }
    }
    if !reports.is_empty() {
        let content = json!({"schema": FLOWS_SCHEMA, "flows": reports});
        write_json(&folder.join("flows.json"), &content)?;
    }
    let virtual_s = (stopped - started) as f64 / 1e9;
    let mut account = json!({
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
    if !changes.is_empty() {
        account["changes"] = json!(changes);
    }
    write_json(&folder.join("virtual.json"), &account)?;
    Ok(account)
}

/// Writes into `virtual.json` what a run had not finished at its limit; gives what the file holds. None: it did not fail so.
///
/// # Errors
/// The file cannot be written.
pub fn write_unfinished(folder: &Path, ended: &Ended) -> Result<Option<Value>> {
    let unfinished = ended.reports.iter().find_map(|report| match report {
        Report::Unfinished(unfinished) => Some(unfinished),
        _ => None,
    });
    let Some(unfinished) = unfinished else {
        return Ok(None);
    };
    let account = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "clock": "virtual",
        "unfinished": unfinished,
    });
    write_json(&folder.join("virtual.json"), &account)?;
    Ok(Some(account))
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    fs::write(path, format!("{value:#}\n")).with_context(|| path.display().to_string())
}
