// SPDX-License-Identifier: Apache-2.0
//! Every number that inet_diag reports about a TCP socket: its column, the attribute it is in, and where.
//!
//! Layouts: Linux `uapi/linux/inet_diag.h` and `struct tcp_info` of `uapi/linux/tcp.h` up to Linux 7.0. Both only grow
//! at their end, so the length of what a kernel sends shows which fields it has.

use crate::bytes::Endian;

/// The storage of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Some bits of a byte: the lowest's position, and how many.
    Bits(u8, u8),
    /// Whole bytes.
    U8,
    /// Two, in the kernel's byte order.
    U16,
    /// Four.
    U32,
    /// Eight.
    U64,
    /// Two of four bytes, the lower half first in every byte order.
    LowHigh,
}

/// A number.
pub struct Field {
    /// Column; with the unit where it is not a count.
    pub name: &'static str,
    /// INET_DIAG_… attribute; MESSAGE for inet_diag_msg itself.
    pub attribute: u16,
    /// Offset in it.
    pub at: usize,
    /// Its size.
    pub kind: Kind,
    /// The value with which the kernel says "not known" or "no limit"; null in the column.
    pub unknown: Option<u64>,
}

/// Stands for the fixed part of the answer, before its attributes.
pub const MESSAGE: u16 = 0;
const INFO: u16 = 2;
const VEGAS: u16 = 3;
/// Name of the congestion control.
pub const CONG: u16 = 4;
const TOS: u16 = 5;
const TCLASS: u16 = 6;
const SKMEM: u16 = 7;
const DCTCP: u16 = 9;
const MARK: u16 = 15;
const BBR: u16 = 16;

const fn field(attribute: u16, at: usize, kind: Kind, name: &'static str) -> Field {
    Field {
        name,
        attribute,
        at,
        kind,
        unknown: None,
    }
}

const fn u8(attribute: u16, at: usize, name: &'static str) -> Field {
    field(attribute, at, Kind::U8, name)
}

const fn u16(attribute: u16, at: usize, name: &'static str) -> Field {
    field(attribute, at, Kind::U16, name)
}

const fn u32(attribute: u16, at: usize, name: &'static str) -> Field {
    field(attribute, at, Kind::U32, name)
}

const fn u64(attribute: u16, at: usize, name: &'static str) -> Field {
    field(attribute, at, Kind::U64, name)
}

impl Field {
    const fn unknown(mut self, value: u64) -> Self {
        self.unknown = Some(value);
        self
    }

    /// The number in the attribute's bytes; None: this kernel has no such field, or does not know.
    pub fn read(&self, endian: Endian, attribute: &[u8]) -> Option<u64> {
        let bytes = attribute.get(self.at..self.at + self.size())?;
        let value = match self.kind {
            Kind::Bits(lowest, count) => u64::from(bytes[0] >> lowest) & ((1 << count) - 1),
            Kind::U8 => u64::from(bytes[0]),
            Kind::U16 => u64::from(endian.u16(bytes, 0)),
            Kind::U32 => u64::from(endian.u32(bytes, 0)),
            Kind::U64 => endian.u64(bytes, 0),
            Kind::LowHigh => {
                u64::from(endian.u32(bytes, 4)) << 32 | u64::from(endian.u32(bytes, 0))
            }
        };
        (Some(value) != self.unknown).then_some(value)
    }

    fn size(&self) -> usize {
        match self.kind {
            Kind::Bits(..) | Kind::U8 => 1,
            Kind::U16 => 2,
            Kind::U32 => 4,
            Kind::U64 | Kind::LowHigh => 8,
        }
    }
}

/// TCP_INFINITE_SSTHRESH: still in its first slow start.
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;
const NO_MINIMUM: u64 = u32::MAX as u64;
const NO_LIMIT: u64 = u64::MAX;

/// In the order of the columns.
pub const FIELDS: &[Field] = &[
    u8(MESSAGE, 1, "state"),
    u8(MESSAGE, 2, "timer"),
    u32(MESSAGE, 52, "timer_expires_ms"),
    u32(MESSAGE, 56, "rqueue_bytes"),
    u32(MESSAGE, 60, "wqueue_bytes"),
    u32(MESSAGE, 64, "uid"),
    u32(MESSAGE, 68, "inode"),
    u64(MESSAGE, 44, "cookie"),
    u8(INFO, 1, "ca_state"),
    u8(INFO, 2, "retransmits"),
    u8(INFO, 3, "probes"),
    u8(INFO, 4, "backoff"),
    u8(INFO, 5, "options"),
    field(INFO, 6, Kind::Bits(0, 4), "snd_wscale"),
    field(INFO, 6, Kind::Bits(4, 4), "rcv_wscale"),
    field(INFO, 7, Kind::Bits(0, 1), "delivery_rate_app_limited"),
    field(INFO, 7, Kind::Bits(1, 2), "fastopen_client_fail"),
    u32(INFO, 8, "rto_us"),
    u32(INFO, 12, "ato_us"),
    u32(INFO, 16, "snd_mss_bytes"),
    u32(INFO, 20, "rcv_mss_bytes"),
    u32(INFO, 24, "unacked_packets"),
    u32(INFO, 28, "sacked_packets"),
    u32(INFO, 32, "lost_packets"),
    u32(INFO, 36, "retrans_packets"),
    u32(INFO, 44, "last_data_sent_ms"),
    u32(INFO, 52, "last_data_recv_ms"),
    u32(INFO, 56, "last_ack_recv_ms"),
    u32(INFO, 60, "pmtu_bytes"),
    u32(INFO, 64, "rcv_ssthresh_bytes"),
    u32(INFO, 68, "rtt_us"),
    u32(INFO, 72, "rttvar_us"),
    u32(INFO, 76, "snd_ssthresh_packets").unknown(INFINITE_SSTHRESH),
    u32(INFO, 80, "snd_cwnd_packets"),
    u32(INFO, 84, "advmss_bytes"),
    u32(INFO, 88, "reordering_packets"),
    u32(INFO, 92, "rcv_rtt_us"),
    u32(INFO, 96, "rcv_space_bytes"),
    u32(INFO, 100, "total_retrans_count"),
    u64(INFO, 104, "pacing_rate_bytes_per_s").unknown(NO_LIMIT),
    u64(INFO, 112, "max_pacing_rate_bytes_per_s").unknown(NO_LIMIT),
    u64(INFO, 120, "bytes_acked"),
    u64(INFO, 128, "bytes_received"),
    u32(INFO, 136, "segs_out_count"),
    u32(INFO, 140, "segs_in_count"),
    u32(INFO, 144, "notsent_bytes"),
    u32(INFO, 148, "min_rtt_us").unknown(NO_MINIMUM),
    u32(INFO, 152, "data_segs_in_count"),
    u32(INFO, 156, "data_segs_out_count"),
    u64(INFO, 160, "delivery_rate_bytes_per_s"),
    u64(INFO, 168, "busy_time_us"),
    u64(INFO, 176, "rwnd_limited_us"),
    u64(INFO, 184, "sndbuf_limited_us"),
    u32(INFO, 192, "delivered_count"),
    u32(INFO, 196, "delivered_ce_count"),
    u64(INFO, 200, "bytes_sent"),
    u64(INFO, 208, "bytes_retrans"),
    u32(INFO, 216, "dsack_dups_count"),
    u32(INFO, 220, "reord_seen_count"),
    u32(INFO, 224, "rcv_ooopack_count"),
    u32(INFO, 228, "snd_wnd_bytes"),
    u32(INFO, 232, "rcv_wnd_bytes"),
    u32(INFO, 236, "rehash_count"),
    u16(INFO, 240, "total_rto_count"),
    u16(INFO, 242, "total_rto_recoveries_count"),
    u32(INFO, 244, "total_rto_time_ms"),
    u32(INFO, 248, "received_ce_count"),
    u32(INFO, 252, "delivered_e1_bytes"),
    u32(INFO, 256, "delivered_e0_bytes"),
    u32(INFO, 260, "delivered_ce_bytes"),
    u32(INFO, 264, "received_e1_bytes"),
    u32(INFO, 268, "received_e0_bytes"),
    u32(INFO, 272, "received_ce_bytes"),
    // Linux 6.18: two words, fail mode and option seen; 7.0: bit fields. The length does not show which.
    u32(INFO, 276, "accecn_bits"),
    u8(TOS, 0, "tos"),
    u8(TCLASS, 0, "tclass"),
    u32(MARK, 0, "mark"),
    u32(SKMEM, 0, "skmem_rmem_alloc_bytes"),
    u32(SKMEM, 4, "skmem_rcvbuf_bytes"),
    u32(SKMEM, 8, "skmem_wmem_alloc_bytes"),
    u32(SKMEM, 12, "skmem_sndbuf_bytes"),
    u32(SKMEM, 16, "skmem_fwd_alloc_bytes"),
    u32(SKMEM, 20, "skmem_wmem_queued_bytes"),
    u32(SKMEM, 24, "skmem_optmem_bytes"),
    u32(SKMEM, 28, "skmem_backlog_bytes"),
    u32(SKMEM, 32, "skmem_drops_count"),
    u32(VEGAS, 0, "vegas_enabled"),
    u32(VEGAS, 4, "vegas_rttcnt"),
    u32(VEGAS, 8, "vegas_rtt_us"),
    u32(VEGAS, 12, "vegas_minrtt_us").unknown(INFINITE_SSTHRESH),
    field(BBR, 0, Kind::LowHigh, "bbr_bw_bytes_per_s"),
    u32(BBR, 8, "bbr_min_rtt_us").unknown(NO_MINIMUM),
    u32(BBR, 12, "bbr_pacing_gain_256ths"),
    u32(BBR, 16, "bbr_cwnd_gain_256ths"),
    u16(DCTCP, 0, "dctcp_enabled"),
    u16(DCTCP, 2, "dctcp_ce_state"),
    u32(DCTCP, 4, "dctcp_alpha_1024ths"),
    u32(DCTCP, 8, "dctcp_ab_ecn_bytes"),
    u32(DCTCP, 12, "dctcp_ab_tot_bytes"),
];
