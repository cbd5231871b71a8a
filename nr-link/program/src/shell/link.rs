// SPDX-License-Identifier: Apache-2.0
//! The configuration of a shell's link.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use nr_link_model::{Problem, ResolvedConfig, Violation};
use serde_json::{Value, json};

use super::Shell;

/// Makes the configuration from the options. Files go to `folder` unless --config names others.
pub fn config(shell: &Shell, folder: &Path) -> Result<ResolvedConfig> {
    let config = match (&shell.config, &shell.trace) {
        (Some(file), _) => {
            let mut config = ResolvedConfig::load(file)?;
            if shell.output.is_some() {
                config.output = outputs(folder);
            }
            config
        }
        (None, Some(traces)) => from_traces(shell, traces, folder)?,
        (None, None) => {
            let prb = shell.prb.unwrap_or(DEFAULT_PRB);
            written(shell, static_radio(), Some(carrier(prb)), folder).map_err(by_option)?
        }
    };
    let refuse = |rule: String, fix: &str, key: &str| -> Problem {
        Violation::new(rule, fix)
            .at_key(key)
            .or_in_file(&config.file)
    };
    ensure!(
        config.ues.len() == 1,
        refuse(
            format!(
                "the link has {} UEs, and the command runs on one",
                config.ues.len()
            ),
            "List one UE",
            "devices.ue",
        )
    );
    let named = config.core.netns.is_some() || config.ues[0].device.netns.is_some();
    ensure!(
        !named,
        refuse(
            "a device names a netns, and nr-link shell makes its own".to_owned(),
            "Remove netns",
            "devices",
        )
    );
    Ok(config)
}

/// A width that the radio refuses was written on the command line.
fn by_option(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Problem>() {
        Ok(problem) if problem.place.key.as_deref() == Some("radio.prb") => {
            Violation::new(problem.rule, problem.fix)
                .at_key("--prb")
                .into()
        }
        Ok(problem) => problem.into(),
        Err(other) => other,
    }
}

fn outputs(folder: &Path) -> nr_link_model::config::Output {
    nr_link_model::config::Output {
        mac: folder.join("mac.csv"),
        link: folder.join("link.csv"),
        summary: folder.join("link-summary.json"),
        delays: None,
        mac_pcap: None,
    }
}

/// A link of two traces' capacity.
fn from_traces(shell: &Shell, traces: &[PathBuf], folder: &Path) -> Result<ResolvedConfig> {
    let rate = |trace: &Path| -> Result<Value> {
        let refuse = |rule: String| {
            Violation::new(
                format!("{}: {rule}", trace.display()),
                "Name a trace in Mahimahi's format",
            )
            .at_key("--trace")
        };
        let file = trace
            .canonicalize()
            .map_err(|error| refuse(error.to_string()))?;
        ensure!(file.is_file(), refuse("is not a file".to_owned()));
        let file = file
            .to_str()
            .ok_or_else(|| refuse("has a path that is not UTF-8".to_owned()))?;
        Ok(json!({"trace": {"file": file, "format": "mahimahi"}}))
    };
    let scenario = json!({
        "schema": "rf-scenario/1",
        "name": "traces",
        "summary": "Two traces in Mahimahi's format.",
        "sources": ["chosen by the caller of nr-link shell"],
        "license": "LicenseRef-unknown",
        "duration_s": 1, // traces repeat at their own ends
        "capacity": {"ul": rate(&traces[0])?, "dl": rate(&traces[1])?},
    });
    written(shell, scenario, None, folder)
}

/// A channel that stays as good as it is.
fn static_radio() -> Value {
    json!({
        "schema": "rf-scenario/1",
        "name": "static",
        "summary": "A strong and constant signal.",
        "sources": ["chosen"],
        "license": "Apache-2.0",
        "duration_s": 1,
        "at_end": "loop",
        "radio": {
            "ss_pbch_block_power_dbm": 0,
            "level": {"rsrp_dbm": -70},
            "noise": {"floor_dbm_per_re": -100},
        },
    })
}

/// 40 MHz of band n78, as `ccu run` has by default.
const DEFAULT_PRB: u32 = 106;

/// A carrier of band n78 of this width.
fn carrier(prb: u32) -> Value {
    json!({
        "carrier_ghz": 3.6,
        "numerology": 1,
        "prb": prb,
        "duplex": {"tdd": {"pattern": "DDDDDDDSUU", "special": {"dl_symbols": 6, "ul_symbols": 4}}},
    })
}

/// Writes scenario.yaml and link.yaml into `folder`, for reading and running them again. JSON is
/// YAML.
fn written(
    shell: &Shell,
    scenario: Value,
    radio: Option<Value>,
    folder: &Path,
) -> Result<ResolvedConfig> {
    let path = json!({"delay_ms": shell.delay_ms, "loss_ratio": shell.loss_ratio});
    let queue = json!({"packets": shell.queue_packets});
    let device = format!("nrl{}", std::process::id() % 100_000); // unique among the shells of this host
    let mut link = json!({
        "schema": "nr-link/1",
        "seed": 1,
        "mtu_bytes": 1500,
        "scenario": "scenario.yaml",
        "path": {"dl": path, "ul": path},
        "queue": {"dl": queue, "ul": queue},
        "samples": {"interval_ms": 10},
        "devices": {"core": {"name": device}, "ue": [{"name": "ue1"}]},
        "output": {"mac": "mac.csv", "link": "link.csv", "summary": "link-summary.json"},
    });
    if let Some(radio) = radio {
        link["radio"] = radio;
    }
    for (name, content) in [("scenario.yaml", scenario), ("link.yaml", link)] {
        let file = folder.join(name);
        fs::write(&file, format!("{content:#}\n"))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(ResolvedConfig::load(&folder.join("link.yaml"))?)
}
