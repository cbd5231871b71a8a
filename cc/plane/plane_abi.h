/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What the kernel and a policy exchange: reports of what ACKs say, and commands
 * for window and pacing rate. docs/congestion-controls.md describes the use;
 * cc/python/src/ccplane/abi.py has the same layouts.
 *
 * A command's sequence is written last, and another value is a new command. Its
 * generation names the flow that had the index when the command was written, so
 * that a successor does not obey it.
 */
#ifndef CC_PLANE_ABI_H
#define CC_PLANE_ABI_H

#define PLANE_FLOWS	   256	     /* of one policy at a time */
#define PLANE_RING_BYTES   (1 << 20) /* of reports; a power of two, whole pages */
#define PLANE_MOST_PACKETS (1 << 20) /* a window of more is reduced to this */

enum plane_event {
	PLANE_ACKS = 0,	 /* what the ACKs since the last report say */
	PLANE_START = 1, /* a new flow */
	PLANE_END = 2,	 /* the flow is over */
	PLANE_STATE = 3, /* ca_state became 3 (recovery) or 4 (loss, after an RTO) */
	PLANE_UNDO = 4,	 /* the loss was none: cwnd is the window from before it */
};

enum plane_report_flags {
	PLANE_APP_LIMITED = 1,	/* the rate sample began while the sender had no data */
	PLANE_CWND_LIMITED = 2, /* the window limits the flow */
	PLANE_FALLBACK = 4,	/* the policy is silent, and Reno controls the flow */
	PLANE_RETRANS = 8,	/* the rate sample is of a retransmission */
};

struct plane_report {  /* 128 bytes */
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 flow;    /* index of its command */
	__u16 generation;
	__u8 event;
	__u8 ca_state; /* 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss */
	/* over the ACKs since the last report; of PLANE_START the local and the remote port */
	__u32 acks;
	__u32 acked; /* packets */
	/* over the ACKs since the last report */
	__u32 losses;	  /* packets newly marked lost, also by timers */
	__u32 rtt_us;	  /* newest sample; 0: none */
	__u32 rtt_min_us; /* 0: none */
	__u32 rtt_avg_us; /* 0: none */
	/* now */
	__u32 srtt_us;
	__u32 min_rtt_us;	/* over net.ipv4.tcp_min_rtt_wlen */
	__u32 delivered;	/* packets, total */
	__u32 rate_delivered;	/* newest delivery rate sample: packets … */
	__u32 rate_interval_us; /* … in this time; 0: none */
	__u32 inflight;		/* packets */
	__u32 cwnd;		/* packets */
	__u32 mss;		/* bytes */
	__u64 pacing_rate;	/* bytes/s */
	__u64 bytes_acked;	/* total */
	__u32 lost;		/* packets, total */
	__u32 retransmitted;	/* packets, total */
	__u32 delivered_ce;	/* packets with a congestion mark, total */
	__u32 flags;
	__u32 prior_delivered;	/* total when the newest ACKed packet departed */
	__u32 tx_inflight;	/* packets in flight when it departed; 0: not known */
	__u64 applied;		/* sequence of the command in force */
	__u64 applied_after_ns; /* from report to application, newest command; 0: none since */
};

struct plane_command { /* 64 bytes */
	__u64 sequence;
	__u64 report_ns;   /* time_ns of the report that it answers; 0: of none */
	__u64 pacing_rate; /* bytes/s; 0: by cwnd and srtt_us, plane_pace_by_window() */
	__u32 cwnd;	   /* packets; 0: keep */
	__u32 ssthresh;	   /* packets; 0: keep */
	__u32 period_us;   /* the next report is at the first ACK after this time; 0: at each ACK */
	__u16 generation;
	__u16 reserved;
	__u64 reserved2[3];
};

struct plane_counters {
	__u64 reports;
	__u64 reports_lost; /* the ring was full */
	__u64 commands;	    /* applied */
	__u64 fallbacks;    /* to Reno */
	__u64 flows;
	__u64 flows_refused; /* PLANE_FLOWS were there already: Reno has them */
};

#endif
