// SPDX-License-Identifier: GPL-2.0-only
/*
 * The socket option REMINIS_DTT (reminis_uapi.h). A congestion control cannot define
 * socket options, but netfilter lets modules handle option numbers that the IP layer
 * does not know; so any process can choose the DTT of its own sockets.
 */
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>

#include "reminis_uapi.h"
#include "tcp_reminis.h"

/* Locks the socket if it is a TCP socket that uses Reminis. */
static bool lock_own(struct sock *sk)
{
	if (sk->sk_protocol != IPPROTO_TCP || sk->sk_type != SOCK_STREAM)
		return false;
	lock_sock(sk);
	if (inet_csk(sk)->icsk_ca_ops == &reminis_ops)
		return true;
	release_sock(sk);
	return false;
}

static int set_dtt_option(struct sock *sk, int option, sockptr_t value, unsigned int length)
{
	u32 dtt_us;

	if (length != sizeof(dtt_us))
		return -EINVAL;
	if (copy_from_sockptr(&dtt_us, value, sizeof(dtt_us)))
		return -EFAULT;
	if (dtt_us > REMINIS_DTT_MAX_US)
		return -EINVAL;
	if (!lock_own(sk))
		return -ENOPROTOOPT;
	reminis_flow(sk)->socket_dtt_us = dtt_us;
	reminis_flow(sk)->guardian.dtt_us = reminis_flow_dtt(sk);
	/* accepted sockets then inherit it, also where Reminis is the default */
	inet_csk(sk)->icsk_ca_setsockopt = 1;
	release_sock(sk);
	return 0;
}

static int get_dtt_option(struct sock *sk, int option, void __user *value, int *length)
{
	struct reminis_params params = reminis_params_now();
	u32 dtt_us;

	if (*length < (int)sizeof(dtt_us))
		return -EINVAL;
	if (!lock_own(sk))
		return -ENOPROTOOPT;
	if (reminis_flow(sk)->guardian.min_rtt_us)
		dtt_us = reminis_dtt(&reminis_flow(sk)->guardian, &params);
	else
		dtt_us = reminis_flow_dtt(sk) ?: params.dtt_us;
	release_sock(sk);
	*length = sizeof(dtt_us);
	return copy_to_user(value, &dtt_us, sizeof(dtt_us)) ? -EFAULT : 0;
}

static struct nf_sockopt_ops sockopts[] = {
	{.pf = PF_INET, .owner = THIS_MODULE},
	{.pf = PF_INET6, .owner = THIS_MODULE},
};

int reminis_sockopt_register(void)
{
	for (int i = 0; i < ARRAY_SIZE(sockopts); i++) {
		int error;

		sockopts[i].set_optmin = REMINIS_DTT;
		sockopts[i].set_optmax = REMINIS_DTT + 1;
		sockopts[i].get_optmin = REMINIS_DTT;
		sockopts[i].get_optmax = REMINIS_DTT + 1;
		sockopts[i].set = set_dtt_option;
		sockopts[i].get = get_dtt_option;
		error = nf_register_sockopt(&sockopts[i]);
		if (error) {
			while (i--)
				nf_unregister_sockopt(&sockopts[i]);
			return error;
		}
	}
	return 0;
}

void reminis_sockopt_unregister(void)
{
	for (int i = 0; i < ARRAY_SIZE(sockopts); i++)
		nf_unregister_sockopt(&sockopts[i]);
}
