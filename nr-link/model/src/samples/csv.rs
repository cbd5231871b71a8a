// SPDX-License-Identifier: Apache-2.0
//! A sample as a row of `mac.csv`; `docs/run-directory.md` documents the columns.

use std::fmt::Display;
use std::io::{self, Write};

use super::{DirectionSample, MacSample, RadioSample};

macro_rules! columns_of {
    ($direction:literal: $($column:literal)*) => {
        concat!($(",mac_", $direction, "_", $column),*)
    };
    ($direction:literal) => {
        columns_of!($direction:
            "mcs" "mcs_table" "bler_ratio" "rounds_1_count" "rounds_2_count" "rounds_3_count"
            "rounds_4_count" "errors_count" "bytes" "header_bytes" "padding_bytes" "sdu_bytes"
            "sdu_count" "capacity_bytes" "capacity_sdu_bytes" "prb_count" "rlc_queue_bytes"
            "rlc_queue_packets" "rlc_wait_ms" "harq_ms" "rlc_delay_ms" "queue_drop_count"
            "path_loss_count" "rlc_loss_count" "enqueued_bytes" "queue_mark_count" "path_ms"
            "bytes_scheduled")
    };
}

/// The header of `mac.csv`, without a line terminator.
pub const CSV_HEADER: &str = concat!(
    "utc_ns,duration_ns,ue,mac_rnti,mac_in_sync,mac_rsrp_dbm,mac_rsrp_meas_count,",
    "mac_sinr_db,mac_ul_snr_db,mac_cqi,mac_ri,mac_ul_ri,mac_phr_db,mac_pcmax_dbm,mac_rssi_dbm",
    columns_of!("dl"),
    columns_of!("ul")
);

impl MacSample {
    /// Writes the row with a line terminator. `start_utc_ns` is UTC at the link's time 0, ns since
    /// 1970.
    ///
    /// # Errors
    /// The writer fails.
    pub fn write_csv(&self, start_utc_ns: i64, to: &mut impl Write) -> io::Result<()> {
        let utc_ns = start_utc_ns + self.start as i64;
        write!(to, "{utc_ns},{},{}", self.duration, self.ue)?;
        match &self.radio {
            Some(radio) => radio.write(to)?,
            None => write!(to, ",,,,,,,,,,,,")?,
        }
        let mcs_table = self.radio.as_ref().map(|radio| radio.mcs_table);
        self.directions.dl.write(mcs_table, to)?;
        self.directions.ul.write(mcs_table, to)?;
        writeln!(to)
    }
}

impl RadioSample {
    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write!(to, ",{},{}", self.rnti, u8::from(self.in_sync))?;
        gauge(to, self.rsrp_dbm)?;
        write!(to, ",{}", self.rsrp_meas_count)?;
        gauge(to, self.sinr_db)?;
        gauge(to, self.ul_snr_db)?;
        whole(to, self.cqi)?;
        whole(to, self.ri)?;
        whole(to, self.ul_ri)?;
        gauge(to, self.phr_db)?;
        gauge(to, Some(self.pcmax_dbm))?;
        gauge(to, self.rssi_dbm)
    }
}

impl DirectionSample {
    /// Writes the values of one direction. Without an MCS table there are no transport blocks, and
    /// their counters are empty.
    fn write(&self, mcs_table: Option<u8>, to: &mut impl Write) -> io::Result<()> {
        let totals = &self.totals;
        let if_radio = |count| mcs_table.map(|_| count);
        gauge(to, self.mcs)?;
        whole(to, mcs_table)?;
        gauge(to, self.bler_ratio)?;
        for count in totals.rounds.into_iter().chain([totals.errors]) {
            whole(to, if_radio(count))?;
        }
        write!(
            to,
            ",{},{},{},{},{},{:.0},{:.0}",
            totals.bytes,
            totals.header_bytes,
            totals.padding_bytes,
            totals.sdu_bytes,
            totals.sdu_count,
            totals.capacity_bytes,
            totals.capacity_sdu_bytes,
        )?;
        whole(to, if_radio(totals.prb))?;
        write!(to, ",{},{}", self.queue_bytes, self.queue_packets)?;
        gauge(to, self.wait_ms)?;
        gauge(to, self.harq_ms)?;
        gauge(
            to,
            self.wait_ms.map(|wait| wait + self.harq_ms.unwrap_or(0.0)),
        )?;
        write!(to, ",{},{}", totals.queue_drops, totals.path_losses)?;
        whole(to, if_radio(totals.rlc_losses))?;
        write!(to, ",{},{}", totals.enqueued_bytes, totals.ce_marks)?;
        gauge(to, self.path_ms)?;
        whole(to, if_radio(totals.scheduled_bytes))
    }
}

fn gauge(to: &mut impl Write, value: Option<f64>) -> io::Result<()> {
    match value {
        Some(value) => write!(to, ",{value:.4}"),
        None => write!(to, ","),
    }
}

fn whole(to: &mut impl Write, value: Option<impl Display>) -> io::Result<()> {
    match value {
        Some(value) => write!(to, ",{value}"),
        None => write!(to, ","),
    }
}
