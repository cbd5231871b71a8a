/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own CUBIC, for congestion controls above it. Its state takes the
 * first CUBIC_STATE bytes of the private area.
 */
#ifndef CC_CUBIC_H
#define CC_CUBIC_H

#define CUBIC_STATE 72 /* bytes, a multiple of 8; struct bictcp has 56 in Linux 6.12 and 6.18 */

#ifdef __KERNEL__
#include <linux/net.h>
#include <net/sock.h>

/* A module cannot call its functions, but a socket that uses it points to them. */
static const struct tcp_congestion_ops *kernels_cubic;

static int find_cubic(void)
{
	static char name[] = "cubic";
	struct socket *socket;
	int error = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &socket);

	if (error)
		return error;
	error = do_sock_setsockopt(socket, false, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR(name),
				   sizeof(name) - 1);
	if (!error)
		kernels_cubic = inet_csk(socket->sk)->icsk_ca_ops;
	sock_release(socket);
	return error;
}

#define BEFORE_REGISTRATION find_cubic

#define cubictcp_init(sk)		    kernels_cubic->init(sk)
#define cubictcp_recalc_ssthresh(sk)	    kernels_cubic->ssthresh(sk)
#define cubictcp_cong_avoid(sk, ack, acked) kernels_cubic->cong_avoid(sk, ack, acked)
#define cubictcp_state(sk, state)	    kernels_cubic->set_state(sk, state)
#define cubictcp_cwnd_event(sk, event)	    kernels_cubic->cwnd_event(sk, event)
#define cubictcp_acked(sk, sample)	    kernels_cubic->pkts_acked(sk, sample)
#else
extern void cubictcp_init(struct sock *sk) __ksym;
extern __u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern void cubictcp_state(struct sock *sk, __u8 state) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;
#endif

#endif
