// SPDX-License-Identifier: GPL-2.0-only
/* Measures how long the sender's tcp_ack() takes for each congestion control: the whole cost of an
 * ACK, including the hooks of the congestion control. All are measured in the same way.
 * SINK_PORT: the destination port of the measured flows.
 */
#include "../bpf/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

/* A field of the kernel's type that kernel_types.h lacks (CO-RE ignores the suffix after ___). */
struct inet_connection_sock___ops {
	const struct tcp_congestion_ops *icsk_ca_ops;
} __attribute__((preserve_access_index));

struct total {
	__u64 count, ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, char[16]); /* the congestion control's name */
	__type(value, struct total);
} ack_totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} ack_began SEC(".maps");

SEC("fentry/tcp_ack")
int BPF_PROG(ack_begins)
{
	__u32 zero = 0;
	__u64 *began_ns = bpf_map_lookup_elem(&ack_began, &zero);

	if (began_ns)
		*began_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/tcp_ack")
int BPF_PROG(ack_ends, struct sock *sk)
{
	__u64 now_ns = bpf_ktime_get_ns(), *began_ns;
	struct inet_connection_sock___ops *icsk = (void *)sk;
	struct total *total, first = {};
	char name[16] = {};
	__u32 zero = 0;

	began_ns = bpf_map_lookup_elem(&ack_began, &zero);
	if (!began_ns || !*began_ns || sk->__sk_common.skc_dport != bpf_htons(SINK_PORT))
		return 0; /* the receiver also runs tcp_ack() */
	BPF_CORE_READ_STR_INTO(&name, icsk, icsk_ca_ops, name);
	total = bpf_map_lookup_elem(&ack_totals, &name);
	if (!total) {
		bpf_map_update_elem(&ack_totals, &name, &first, BPF_NOEXIST);
		total = bpf_map_lookup_elem(&ack_totals, &name);
	}
	if (total) {
		__sync_fetch_and_add(&total->count, 1);
		__sync_fetch_and_add(&total->ns, now_ns - *began_ns);
	}
	return 0;
}
