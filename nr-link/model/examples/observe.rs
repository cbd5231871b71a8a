// SPDX-License-Identifier: Apache-2.0
//! Writes the observations of a scenario as CSV.
//!
//! ```text
//! observe SCENARIO.yaml [SEED [SECONDS [STEP_MS [CARRIER_GHZ [PRB [SCS_KHZ]]]]]]
//! ```
//!
//! Columns: `t_s`, `rsrp_dbm`, `path_loss_db`, `sinr_db` (mean of the linear ratio over the groups
//! of PRBs), and the lowest and the highest group.

use std::error::Error;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use nr_link_model::channel::{Channel, Observation};
use nr_link_model::radio::Grid;
use nr_link_model::scenario::Scenario;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: f64| {
        arguments
            .get(index)
            .map_or(Ok(default), |text| text.parse())
    };
    let file = arguments.first().ok_or("name a scenario file")?;
    let scenario = Scenario::load(Path::new(file))?;
    let (seed, seconds, step_ms) = (number(1, 1.0)?, number(2, 100.0)?, number(3, 10.0)?);
    let grid = Grid {
        carrier_hz: number(4, 3.6)? * 1e9,
        prb: number(5, 106.0)? as u16,
        scs_hz: number(6, 30.0)? * 1e3,
    };
    let channel = Channel::new(&scenario, &grid, seed as u64)?;
    let mut seen = Observation::default();
    let mut out = BufWriter::new(stdout().lock());
    writeln!(
        out,
        "t_s,rsrp_dbm,path_loss_db,sinr_db,sinr_min_db,sinr_max_db"
    )?;
    for step in 0..(seconds * 1e3 / step_ms) as u64 {
        let t_s = step as f64 * step_ms / 1e3;
        channel.observe((t_s * 1e9).round() as u64, &mut seen);
        let (mean, low, high) = summary(&seen.sinr_db);
        let Observation {
            rsrp_dbm,
            path_loss_db,
            ..
        } = seen;
        writeln!(
            out,
            "{t_s:.3},{rsrp_dbm:.2},{path_loss_db:.2},{mean:.2},{low:.2},{high:.2}"
        )?;
    }
    Ok(())
}

fn summary(sinr_db: &[f32]) -> (f32, f32, f32) {
    let ratio: f32 = sinr_db.iter().map(|db| 10f32.powf(db / 10.0)).sum();
    let fold = |pick: fn(f32, f32) -> f32| sinr_db.iter().copied().reduce(pick).unwrap_or(f32::NAN);
    (
        10.0 * (ratio / sinr_db.len() as f32).log10(),
        fold(f32::min),
        fold(f32::max),
    )
}
