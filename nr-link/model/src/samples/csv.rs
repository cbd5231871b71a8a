// SPDX-License-Identifier: Apache-2.0
//! A sample as a row of `mac.csv`. The lists below are the columns: header, rows, and rows of a link without radio are
//! made from them. `ddu/src/ddu/schema/columns.yaml` has the unit and the definition of each, and
//! `docs/run-directory.md` says how the link measures it.

use std::io::{self, Write};

use super::{DirectionSample, MacSample, MobilitySample, RadioSample};
use crate::decimal::{append_fixed, append_whole};

/// A row is seldom longer.
const ROW_BYTES: usize = 1024;

/// The value of a column in a row.
enum Value {
    Absent,
    Count(u64),
    /// A mean, with four decimals.
    Gauge(f64),
    /// A count that is not a whole number, rounded.
    Rounded(f64),
}

type UeColumn = (&'static str, fn(&RadioSample) -> Value);
type MobilityColumn = (&'static str, fn(&MobilitySample) -> Value);
type DirectionColumn = (&'static str, for<'a> fn(&OnRadio<'a>) -> Value);

/// One direction of a sample, with the radio that it was carried on.
struct OnRadio<'a> {
    sample: &'a DirectionSample,
    radio: Option<&'a RadioSample>,
}

impl OnRadio<'_> {
    /// Returns a counter of transport blocks, which exist on a radio only.
    fn of_blocks(&self, count: u64) -> Value {
        self.radio.map_or(Value::Absent, |_| count.into())
    }
}

/// The columns before those of the radio; [`MacSample::write_csv`] writes them.
const INTERVAL: [&str; 3] = ["utc_ns", "duration_ns", "ue"];

/// The columns of a UE, with the prefix `mac_`; all are empty without a radio.
const OF_UE: &[UeColumn] = &[
    ("rnti", |radio| u64::from(radio.rnti).into()),
    ("in_sync", |radio| u64::from(radio.in_sync).into()),
    ("rsrp_dbm", |radio| radio.rsrp_dbm.into()),
    ("rsrp_meas_count", |radio| radio.rsrp_meas_count.into()),
    ("sinr_db", |radio| radio.sinr_db.into()),
    ("ul_snr_db", |radio| radio.ul_snr_db.into()),
    ("cqi", |radio| radio.cqi.into()),
    ("ri", |radio| radio.ri.into()),
    ("ul_ri", |radio| radio.ul_ri.into()),
    ("phr_db", |radio| radio.phr_db.into()),
    ("pcmax_dbm", |radio| Value::Gauge(radio.pcmax_dbm)),
    ("rssi_dbm", |radio| radio.rssi_dbm.into()),
];

/// The columns of a direction, with the prefix `mac_dl_` or `mac_ul_`.
const OF_DIRECTION: &[DirectionColumn] = &[
    ("mcs", |on| on.sample.mcs.into()),
    ("mcs_table", |on| {
        on.radio.map(|radio| radio.mcs_table).into()
    }),
    ("bler_ratio", |on| on.sample.bler_ratio.into()),
    ("rounds_1_count", |on| {
        on.of_blocks(on.sample.totals.rounds[0])
    }),
    ("rounds_2_count", |on| {
        on.of_blocks(on.sample.totals.rounds[1])
    }),
    ("rounds_3_count", |on| {
        on.of_blocks(on.sample.totals.rounds[2])
    }),
    ("rounds_4_count", |on| {
        on.of_blocks(on.sample.totals.rounds[3])
    }),
    ("errors_count", |on| on.of_blocks(on.sample.totals.errors)),
    ("bytes", |on| on.sample.totals.bytes.into()),
    ("header_bytes", |on| on.sample.totals.header_bytes.into()),
    ("padding_bytes", |on| on.sample.totals.padding_bytes.into()),
    ("sdu_bytes", |on| on.sample.totals.sdu_bytes.into()),
    ("sdu_count", |on| on.sample.totals.sdu_count.into()),
    ("capacity_bytes", |on| {
        Value::Rounded(on.sample.totals.capacity_bytes)
    }),
    ("capacity_sdu_bytes", |on| {
        Value::Rounded(on.sample.totals.capacity_sdu_bytes)
    }),
    ("prb_count", |on| on.of_blocks(on.sample.totals.prb)),
    ("rlc_queue_bytes", |on| on.sample.queue_bytes.into()),
    ("rlc_queue_packets", |on| on.sample.queue_packets.into()),
    ("rlc_wait_ms", |on| on.sample.wait_ms.into()),
    ("harq_ms", |on| on.sample.harq_ms.into()),
    ("rlc_delay_ms", |on| {
        let wait_ms = on.sample.wait_ms;
        wait_ms
            .map(|wait| wait + on.sample.harq_ms.unwrap_or(0.0))
            .into()
    }),
    ("queue_drop_count", |on| on.sample.totals.queue_drops.into()),
    ("path_loss_count", |on| on.sample.totals.path_losses.into()),
    ("rlc_loss_count", |on| {
        on.of_blocks(on.sample.totals.rlc_losses)
    }),
    ("enqueued_bytes", |on| {
        on.sample.totals.enqueued_bytes.into()
    }),
    ("queue_mark_count", |on| on.sample.totals.ce_marks.into()),
    ("path_ms", |on| on.sample.path_ms.into()),
    ("bytes_scheduled", |on| {
        on.of_blocks(on.sample.totals.scheduled_bytes)
    }),
    ("retx_prb_count", |on| {
        on.of_blocks(on.sample.totals.retx_prb)
    }),
];

/// The columns of a UE on a link with DRX or RRC states, with the prefix `mac_`; absent on others.
const OF_ACTIVITY: [&str; 2] = ["rrc_state", "drx_active_ratio"];

/// The column of a UE on a link with EN-DC; absent on others.
const TECHNOLOGY: &str = "mac_technology";

/// The columns of a UE among several cells, with the prefix `mac_`, before RSRP of each cell.
const OF_MOBILITY: &[MobilityColumn] = &[
    ("cell", |mobility| (mobility.cell as u64).into()),
    ("state", |mobility| (mobility.state as u64).into()),
];

/// The columns that depend on the link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Whether UEs have DRX or RRC states.
    pub activity: bool,
    /// Whether UEs have a leg of LTE.
    pub legs: bool,
    /// The number of cells.
    pub cells: usize,
}

/// Returns the columns that `mac.csv` may have with one cell.
pub fn csv_columns() -> Vec<String> {
    columns(Extent {
        activity: true,
        legs: true,
        cells: 1,
    })
}

/// Returns the header of `mac.csv`, without a line terminator.
pub(crate) fn csv_header(extent: Extent) -> String {
    columns(extent).join(",")
}

fn columns(extent: Extent) -> Vec<String> {
    let of_direction = |direction: &'static str| {
        let names = OF_DIRECTION.iter().map(|(name, _)| name);
        names.map(move |name| format!("mac_{direction}_{name}"))
    };
    let interval = INTERVAL.iter().map(ToString::to_string);
    let activity = OF_ACTIVITY.iter().map(|name| format!("mac_{name}"));
    interval
        .chain(OF_UE.iter().map(|(name, _)| format!("mac_{name}")))
        .chain(of_direction("dl"))
        .chain(of_direction("ul"))
        .chain(extent.legs.then(|| TECHNOLOGY.to_owned()))
        .chain(activity.filter(|_| extent.activity))
        .chain(of_mobility(extent.cells))
        .collect()
}

/// Returns the columns that a link has with several cells only.
fn of_mobility(cells: usize) -> impl Iterator<Item = String> {
    let several = cells > 1;
    let names = OF_MOBILITY.iter().map(|(name, _)| format!("mac_{name}"));
    let rsrp = (0..cells).map(|cell| format!("mac_cell_{cell}_rsrp_dbm"));
    names.chain(rsrp).filter(move |_| several)
}

impl MacSample {
    /// Writes the row with a line terminator. `start_utc_ns` is UTC at the link's time 0, ns since
    /// 1970.
    ///
    /// # Errors
    /// The writer fails.
    pub fn write_csv(&self, start_utc_ns: i64, to: &mut impl Write) -> io::Result<()> {
        let utc_ns = start_utc_ns + self.start as i64;
        let radio = self.radio.as_ref();
        let mut row = Vec::with_capacity(ROW_BYTES);
        write!(row, "{utc_ns},{},{}", self.duration, self.ue)?;
        for (_, value) in OF_UE {
            radio.map_or(Value::Absent, value).append(&mut row);
        }
        for sample in [&self.directions.dl, &self.directions.ul] {
            for (_, value) in OF_DIRECTION {
                value(&OnRadio { sample, radio }).append(&mut row);
            }
        }
        if let Some(technology) = self.technology {
            Value::from(u64::from(technology)).append(&mut row);
        }
        if let Some(activity) = &self.activity {
            Value::from(u64::from(activity.rrc_state)).append(&mut row);
            Value::from(activity.drx_active_ratio).append(&mut row);
        }
        if let Some(mobility) = radio.and_then(|radio| radio.mobility.as_ref()) {
            for (_, value) in OF_MOBILITY {
                value(mobility).append(&mut row);
            }
            for rsrp_dbm in &mobility.cells_rsrp_dbm {
                Value::from(*rsrp_dbm).append(&mut row);
            }
        }
        row.push(b'\n');
        to.write_all(&row)
    }
}

impl Value {
    /// Appends the value to a row, after a comma.
    fn append(self, row: &mut Vec<u8>) {
        row.push(b',');
        match self {
            Self::Absent => {}
            Self::Count(count) => append_whole(row, count),
            Self::Gauge(value) => append_fixed(row, value, 4),
            Self::Rounded(count) => append_fixed(row, count, 0),
        }
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<Option<u8>> for Value {
    fn from(index: Option<u8>) -> Self {
        index.map_or(Self::Absent, |index| Self::Count(index.into()))
    }
}

impl From<Option<f64>> for Value {
    fn from(gauge: Option<f64>) -> Self {
        gauge.map_or(Self::Absent, Self::Gauge)
    }
}
