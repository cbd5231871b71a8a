// SPDX-License-Identifier: Apache-2.0
//! Scenarios and configurations as nr-link resolved them, as JSON for other programs (docs/nr-link.md).

use std::io::read_to_string;
use std::path::Path;

use anyhow::{Context, Result};
use nr_link_model::scenario::{Capacity, Mobility, Radio, Rate, Scenario};
use nr_link_model::{Direction, Problem, ResolvedConfig};
use serde_json::{Map, Value, json};

use crate::problems;

/// Loads a configuration from a file, or from standard input if it is `-`.
///
/// # Errors
/// The configuration cannot be read or breaks a rule.
pub fn load(file: &Path) -> Result<ResolvedConfig> {
    if file != Path::new("-") {
        return Ok(ResolvedConfig::load(file)?);
    }
    let text = read_to_string(std::io::stdin()).context("standard input")?;
    Ok(ResolvedConfig::parse(&text, file)?)
}

/// Returns the radio of a configuration, null if it has none, and the warnings about it.
pub fn config(config: &ResolvedConfig, warnings: &[Problem]) -> Value {
    let radio = config.radio.as_ref().map(|radio| {
        let carriers = radio.carriers.iter().map(|carrier| {
            json!({
                "carrier_ghz": carrier.hz / 1e9,
                "prb": carrier.prb,
                "numerology": carrier.numerology.mu(),
                "uplink": carrier.uplink,
            })
        });
        json!({
            "carriers": carriers.collect::<Vec<_>>(),
            "layers": {"dl": radio.layers.dl, "ul": radio.layers.ul},
            "bound_bps": {
                "dl": radio.bound_bps(Direction::Downlink),
                "ul": radio.bound_bps(Direction::Uplink),
            },
        })
    });
    let warnings = warnings.iter().map(problems::value);
    json!({ "radio": radio, "warnings": warnings.collect::<Vec<_>>() })
}

/// Returns what a scenario sets, without absent keys; `files` are relative to its folder.
///
/// # Errors
/// The scenario cannot be read or breaks a rule.
pub fn scenario(file: &Path) -> Result<Value> {
    let mut scenario = Scenario::load(file)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    for file in scenario.files() {
        if let Ok(relative) = file.strip_prefix(folder) {
            *file = relative.to_owned();
        }
    }
    let files: Vec<_> = scenario.files().iter().map(|file| json!(file)).collect();
    let trace = |rate: &Rate| match rate {
        Rate::Trace(trace) => Some(trace.clone()),
        _ => None,
    };
    let traces =
        |capacity: &Capacity| json!({"dl": trace(&capacity.dl), "ul": trace(&capacity.ul)});
    let route = |radio: &Radio| match &radio.mobility {
        Some(Mobility::Route(route)) => Some(route.clone()),
        _ => None,
    };
    Ok(without_nulls(json!({
        "name": scenario.name,
        "summary": scenario.summary,
        "duration_s": scenario.duration_s,
        "at_end": scenario.at_end,
        "seed": scenario.seed,
        "gives_capacity": scenario.capacity.is_some(),
        "traces": scenario.capacity.as_ref().map(traces),
        "carrier_ghz": scenario.radio.as_ref().and_then(|radio| radio.carrier_ghz),
        "ss_pbch_block_power_dbm": scenario.radio.as_ref().map(|radio| radio.ss_pbch_block_power_dbm),
        "route": scenario.radio.as_ref().and_then(route),
        "path": scenario.path,
        "link": scenario.link,
        "files": files,
    })))
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect::<Map<_, _>>(),
        ),
        other => other,
    }
}
