// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plane for policies as a BPF program. Reports go through a ring buffer,
 * commands come through a mapped array: neither costs a system call.
 *
 * It is compiled for each policy with PLANE_NAME, the name of its congestion
 * control.
 */
#include "congestion.h"
#include <bpf/bpf_endian.h>
#include "plane_core.h"

char LICENSE[] SEC("license") = "GPL";

/* The only global variable: at offset 0 of the map .bss. */
struct plane plane;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, PLANE_RING_BYTES);
} reports SEC(".maps");

STATE_OF_SOCKET(struct plane_history)

static __always_inline struct plane *plane_of(struct sock *sk)
{
	return &plane;
}

static __always_inline __u64 plane_now(void)
{
	return bpf_ktime_get_ns();
}

static __always_inline struct plane_report *plane_reserve(struct plane *unused)
{
	return bpf_ringbuf_reserve(&reports, sizeof(struct plane_report), 0);
}

static __always_inline void plane_submit(struct plane *unused, struct plane_report *r)
{
	bpf_ringbuf_submit(r, 0);
}

static __always_inline __u16 plane_local_port(const struct sock *sk)
{
	return sk->__sk_common.skc_num;
}

static __always_inline __u16 plane_remote_port(const struct sock *sk)
{
	return bpf_ntohs(sk->__sk_common.skc_dport);
}

SEC("struct_ops/plane_init_bpf")
void BPF_PROG(plane_init_bpf, struct sock *sk)
{
	plane_init(sk);
}

SEC("struct_ops/plane_release_bpf")
void BPF_PROG(plane_release_bpf, struct sock *sk)
{
	plane_release(sk);
}

SEC("struct_ops/plane_control_bpf")
void CONG_CONTROL(plane_control_bpf, struct sock *sk, const struct rate_sample *rs)
{
	plane_control(sk, 0, rs);
}

SEC("struct_ops/plane_set_state_bpf")
void BPF_PROG(plane_set_state_bpf, struct sock *sk, __u8 state)
{
	plane_set_state(sk, state);
}

SEC("struct_ops/plane_ssthresh_bpf")
__u32 BPF_PROG(plane_ssthresh_bpf, struct sock *sk)
{
	return plane_ssthresh(sk);
}

SEC("struct_ops/plane_departure_bpf")
__u32 BPF_PROG(plane_departure_bpf, struct sock *sk)
{
	plane_obey(sk);
	return PLANE_TSO_SEGS;
}

SEC("struct_ops/plane_undo_cwnd_bpf")
__u32 BPF_PROG(plane_undo_cwnd_bpf, struct sock *sk)
{
	return plane_undo(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops plane_ops = {
	.init = (void *)plane_init_bpf,
	.release = (void *)plane_release_bpf,
	.cong_control = (void *)plane_control_bpf,
	.set_state = (void *)plane_set_state_bpf,
	.ssthresh = (void *)plane_ssthresh_bpf,
	.undo_cwnd = (void *)plane_undo_cwnd_bpf,
	.min_tso_segs = (void *)plane_departure_bpf,
	.name = PLANE_NAME,
};
