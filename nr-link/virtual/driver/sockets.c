// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples TCP sockets as inet_diag shows them, from a timer: no process of the
 * guest runs for it, and no packet changes by it.
 */
#include <linux/file.h>
#include <linux/hrtimer.h>
#include <linux/inet_diag.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/version.h>
#include <net/inet_hashtables.h>
#include <net/netlink.h>
#include <net/tcp.h>

#include "nr_link.h"

#define ANSWER_BYTES 32768

/* ESTABLISHED to LAST_ACK and CLOSING: full sockets with a congestion window. */
#define STATES                                                                                     \
	(TCPF_ESTABLISHED | TCPF_SYN_SENT | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2 | TCPF_CLOSE_WAIT |    \
	 TCPF_LAST_ACK | TCPF_CLOSING)

static struct hrtimer timer;
static struct socket *asker; /* the netlink socket that an asking process would have */
static struct sk_buff *question;
static struct sk_buff *answer;
static struct nlmsghdr question_header = {.nlmsg_type = SOCK_DIAG_BY_FAMILY};
static struct inet_diag_dump_data no_filter;
static struct netlink_callback callback = {.nlh = &question_header, .data = &no_filter};

static const struct inet_diag_req_v2 everything = {
	.sdiag_protocol = IPPROTO_TCP,
	.idiag_ext = 0xff,
	.idiag_states = STATES,
};

static bool wanted(const struct sock *sk)
{
	unsigned int i;

	if (!((1 << sk->sk_state) & STATES))
		return false;
	for (i = 0; i < nr_link_setup.ports_length; i++)
		if (sk->sk_num == nr_link_setup.ports[i] ||
		    ntohs(sk->sk_dport) == nr_link_setup.ports[i])
			return true;
	return !nr_link_setup.ports_length;
}

static void pass_on(unsigned int host, u64 now)
{
	nr_link_calls->sockets(nr_link, host, answer->data, answer->len, now);
	skb_trim(answer, 0);
}

/*
 * A process that holds the socket is interrupted where it read the clock; there
 * is one CPU, and we only read. tcp_get_info() would wait for it.
 */
static int fill(struct sock *sk)
{
	int owned = sk->sk_lock.owned, error;

	BUILD_BUG_ON(IS_ENABLED(CONFIG_SMP));
	sk->sk_lock.owned = 0;
	error = inet_sk_diag_fill(sk, inet_csk(sk), answer, &callback, &everything, NLM_F_MULTI,
				  true);
	sk->sk_lock.owned = owned;
	return error;
}

static void sample_host(unsigned int host, u64 now)
{
	struct net_device *dev = nr_link_device(nr_link_setup.sampled_devices[host]);
	struct hlist_nulls_node *node;
	struct nlmsghdr *done;
	struct sock *sk;
	unsigned int i;

	if (!dev)
		return;
	rcu_read_lock();
	for (i = 0; i <= tcp_hashinfo.ehash_mask; i++)
		sk_nulls_for_each_rcu(sk, node, &tcp_hashinfo.ehash[i].chain)
		{
			if (!net_eq(sock_net(sk), dev_net(dev)) || !sk_fullsock(sk) || !wanted(sk))
				continue;
			if (fill(sk)) {
				pass_on(host, now);
				fill(sk);
			}
		}
	rcu_read_unlock();
	if (skb_tailroom(answer) < nlmsg_total_size(sizeof(int)))
		pass_on(host, now);
	done = nlmsg_put(answer, 0, 0, NLMSG_DONE, sizeof(int), NLM_F_MULTI);
	*(int *)nlmsg_data(done) = 0;
	pass_on(host, now);
}

static enum hrtimer_restart on_timer(struct hrtimer *unused)
{
	u64 now = nr_link_now();
	unsigned int host;

	for (host = 0; host < nr_link_setup.sampled_hosts; host++)
		sample_host(host, now);
	hrtimer_forward(&timer, hrtimer_get_expires(&timer),
			ns_to_ktime(nr_link_setup.socket_interval_ns));
	return HRTIMER_RESTART;
}

/* The first sample is one interval after the link's time 0, which the caller has read without
 * effect. */
void nr_link_sockets_start(unsigned long long start_ns)
{
	if (nr_link_setup.sampled_hosts)
		hrtimer_start(&timer, ns_to_ktime(start_ns + nr_link_setup.socket_interval_ns),
			      HRTIMER_MODE_ABS_SOFT);
}

void nr_link_sockets_stop(void)
{
	if (nr_link_setup.sampled_hosts)
		hrtimer_cancel(&timer);
}

int nr_link_sockets_init(void)
{
	struct file *file;
	int error;

	if (!nr_link_setup.sampled_hosts)
		return 0;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	timer.function = on_timer;
#endif
	error = sock_create_kern(&init_net, PF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG, &asker);
	if (error)
		return error;
	file = sock_alloc_file(asker, O_CLOEXEC, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	question = nlmsg_new(0, GFP_KERNEL);
	answer = alloc_skb(ANSWER_BYTES, GFP_KERNEL);
	if (!question || !answer)
		return -ENOMEM;
	NETLINK_CB(question).sk = asker->sk;
	NETLINK_CB(question).portid = 0;
	callback.skb = question;
	return 0;
}
