// SPDX-License-Identifier: GPL-2.0-only
/*
 * nr-link's model as the network of a User Mode Linux kernel: a device n6 for
 * the core network and ue1, ue2, … for the UEs.
 *
 * What leaves one device passes through the model, which runs in this very
 * process, and enters another when the model says so. The only clock is the
 * kernel's; one timer waits for the model's next event. With
 * time-travel=inf-cpu all of that takes no virtual time.
 *
 * Super-packets are cut into segments, each of them a packet on the link, and
 * joined again by GRO at the receiver, as with a real interface. Payload is
 * never copied.
 */
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/prefetch.h>
#include <linux/reboot.h>
#include <linux/version.h>
#include <net/gro_cells.h>
#include <net/inet_ecn.h>
#include <net/ip_tunnels.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif

#include "nr_link.h"

#define HEAD_BYTES_MAX 65535 /* of the largest IP packet: all of it */
#define DUE_AT_ONCE 64

struct link_device {
	struct gro_cells gro;
	unsigned int number;
};

const struct nr_link_calls *nr_link_calls;
struct nr_link_setup nr_link_setup;
struct nr_link *nr_link;

static struct net_device *devices[NR_LINK_DEVICES_MAX];
static bool started;
static u64 start_ns; /* ktime_get_ns() at the link's time 0 */
static struct hrtimer timer;
static u64 timer_at;		 /* link time that the timer waits for */
static struct sk_buff_head lost; /* dropped by the link, to be freed outside of its calls */

/* arch/um/kernel/time.c, where setup/virtual-kernel has added it */
extern unsigned long nr_link_clock_step_ns;

struct net_device *nr_link_device(unsigned int number)
{
	return devices[number];
}

/*
 * With interrupts off, reading the clock costs no virtual time (timer_read() in
 * arch/um/kernel/time.c): observers may read it without effect on the guest.
 */
static u64 now_with_interrupts_off(void)
{
	return ktime_get_ns() - start_ns;
}

unsigned long long nr_link_now(void)
{
	unsigned long flags;
	u64 now;

	local_irq_save(flags);
	now = now_with_interrupts_off();
	local_irq_restore(flags);
	return now;
}

static void on_lost(unsigned long long handle)
{
	__skb_queue_tail(&lost, (struct sk_buff *)handle);
}

static void wait_until(u64 at)
{
	if (at == timer_at && hrtimer_active(&timer))
		return;
	timer_at = at;
	hrtimer_start(&timer, ns_to_ktime(start_ns + at), HRTIMER_MODE_ABS_SOFT);
}

/* Where the headers of a TCP packet end; 0: it is none. */
static unsigned int tcp_headers_end(const struct sk_buff *skb)
{
	unsigned int at = skb_transport_offset(skb);
	u8 protocol;

	if (skb->protocol == htons(ETH_P_IP))
		protocol = ip_hdr(skb)->protocol;
	else if (skb->protocol == htons(ETH_P_IPV6))
		protocol = ipv6_hdr(skb)->nexthdr;
	else
		return 0;
	if (protocol != IPPROTO_TCP || at + sizeof(struct tcphdr) > skb_headlen(skb))
		return 0;
	return min(at + tcp_hdrlen(skb), skb_headlen(skb));
}

/*
 * How much of a packet the library gets. What TCP carries lies in pages of its
 * own, and no analysis reads it: captures that do not keep whole packets end
 * with TCP's header.
 */
static unsigned int kept_bytes(const struct sk_buff *skb)
{
	unsigned int most = min(nr_link_setup.kept_bytes, (unsigned int)HEAD_BYTES_MAX);
	unsigned int headers;

	if (nr_link_setup.kept_bytes < nr_link_setup.mtu_bytes) {
		headers = tcp_headers_end(skb);
		if (headers)
			most = min(most, headers);
	}
	return min(most, skb->len);
}

struct head {
	const void *bytes;
	unsigned int kept;
};

/* The first bytes of a packet; where pages hold some of them, until the next call. */
static struct head head_of(const struct sk_buff *skb)
{
	static u8 copied[HEAD_BYTES_MAX];
	unsigned int kept = kept_bytes(skb);

	if (kept <= skb_headlen(skb))
		return (struct head){skb->data, kept};
	return (struct head){copied, skb_copy_bits(skb, 0, copied, kept) ? 0 : kept};
}

/* The packet is now one of `dev`, in a host that knows nothing of its past. */
static void enter_host(struct sk_buff *skb, struct net_device *dev, bool congestion_experienced)
{
	skb->dev = dev;
	skb_scrub_packet(skb, true);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_probe_transport_header(skb);
	if (congestion_experienced)
		INET_ECN_set_ce(skb);
}

static void deliver(struct sk_buff *skb)
{
	struct link_device *device = netdev_priv(skb->dev);

	dev_sw_netstats_rx_add(skb->dev, skb->len);
	gro_cells_receive(&device->gro, skb);
}

/*
 * What left its host some time ago is no longer in the processor's caches: all
 * packets that are due are fetched before the first is touched.
 */
static unsigned int take_due(struct nr_link_due *due)
{
	unsigned int count = 0, i;

	while (count < DUE_AT_ONCE && nr_link_calls->dequeue(nr_link, &due[count])) {
		struct sk_buff *skb = (struct sk_buff *)due[count++].handle;

		prefetch(skb);
		prefetch(&skb->len);
		prefetch(&skb->head);
	}
	for (i = 0; i < count; i++) {
		struct sk_buff *skb = (struct sk_buff *)due[i].handle;

		prefetchw(skb->data);
		prefetchw(skb->data + SMP_CACHE_BYTES);
		prefetch(skb_shinfo(skb));
	}
	return count;
}

/* Runs the model to now, delivers what is due and waits for the next event. */
static void run(void)
{
	static struct nr_link_due due[DUE_AT_ONCE];
	struct sk_buff_head arrivals;
	struct sk_buff *skb;
	struct head head;
	unsigned long flags;
	unsigned int count, i;
	u64 now, next;

	__skb_queue_head_init(&arrivals);
	local_irq_save(flags);
	/* The clock's steps are 256 ns long: it may show less than what the timer waited for. */
	now = max(now_with_interrupts_off(), timer_at);
	nr_link_calls->advance(nr_link, now);
	while ((count = take_due(due)) > 0) {
		for (i = 0; i < count; i++) {
			skb = (struct sk_buff *)due[i].handle;
			enter_host(skb, devices[due[i].device], due[i].congestion_experienced);
			head = head_of(skb);
			nr_link_calls->delivered(nr_link, due[i].device, head.bytes, head.kept,
						 skb->len, now);
			__skb_queue_tail(&arrivals, skb);
		}
	}
	next = nr_link_calls->next_event(nr_link);
	local_irq_restore(flags);
	wait_until(max(next, now + max(nr_link_setup.moderation_ns, 1ull)));
	while ((skb = __skb_dequeue(&arrivals)))
		deliver(skb);
	__skb_queue_purge(&lost);
}

static enum hrtimer_restart on_timer(struct hrtimer *unused)
{
	run();
	return HRTIMER_NORESTART;
}

/* Packets as they go over the link, or NULL; takes the super-packet. */
static struct sk_buff *segments_of(struct sk_buff *skb)
{
	struct sk_buff *segments;

	if (skb_is_gso(skb)) {
		segments = skb_gso_segment(skb, NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA);
		if (IS_ERR_OR_NULL(segments)) {
			kfree_skb(skb);
			return NULL;
		}
		consume_skb(skb);
		return segments;
	}
	/* TCP keeps a clone for retransmission, and gro_cells would let clones overtake others. */
	if (skb_cloned(skb)) {
		segments = pskb_copy(skb, GFP_ATOMIC);
		consume_skb(skb);
		skb = segments;
	}
	if (skb)
		skb_mark_not_on_list(skb);
	return skb;
}

static void enqueue(struct sk_buff *skb, struct net_device *dev, u64 now)
{
	struct link_device *device = netdev_priv(dev);
	struct head head = head_of(skb);

	dev_sw_netstats_tx_add(dev, 1, skb->len);
	if (!nr_link_calls->enqueue(nr_link, device->number, (u64)skb, head.bytes, head.kept,
				    skb->len, now))
		on_lost((u64)skb);
}

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *dev)
{
	struct sk_buff *segments, *next;
	u64 now, at;
	unsigned long flags;

	/* The link is not the sender's own interface: what waits in it is no longer in the host. */
	skb_orphan(skb);
	segments = segments_of(skb);
	local_irq_save(flags);
	now = now_with_interrupts_off();
	skb_list_walk_safe(segments, skb, next)
	{
		skb_mark_not_on_list(skb);
		enqueue(skb, dev, now);
	}
	at = max(nr_link_calls->next_event(nr_link), now);
	local_irq_restore(flags);
	/* An idle link waits for its next sample: a packet is due before that. */
	if (!hrtimer_active(&timer) || at + nr_link_setup.moderation_ns < timer_at)
		wait_until(at);
	__skb_queue_purge(&lost);
	return NETDEV_TX_OK;
}

/* The link's time 0 is when the first device comes up. */
static int open_device(struct net_device *dev)
{
	unsigned long flags;

	if (started)
		return 0;
	started = true;
	local_irq_save(flags);
	start_ns = ktime_get_ns();
	nr_link_calls->start(nr_link, ktime_get_real_ns());
	local_irq_restore(flags);
	wait_until(nr_link_calls->next_event(nr_link));
	nr_link_sockets_start(start_ns);
	return 0;
}

static int init_device(struct net_device *dev)
{
	struct link_device *device = netdev_priv(dev);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
#else
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!dev->tstats)
		return -ENOMEM;
#endif
	return gro_cells_init(&device->gro, dev);
}

static void uninit_device(struct net_device *dev)
{
	struct link_device *device = netdev_priv(dev);

	gro_cells_destroy(&device->gro);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	free_percpu(dev->tstats);
#endif
}

static const struct net_device_ops operations = {
	.ndo_init = init_device,
	.ndo_uninit = uninit_device,
	.ndo_open = open_device,
	.ndo_start_xmit = transmit,
	.ndo_get_stats64 = dev_get_tstats64,
};

static void setup_device(struct net_device *dev)
{
	dev->netdev_ops = &operations;
	dev->type = ARPHRD_NONE; /* bare IP, as a TUN device */
	dev->mtu = nr_link_setup.mtu_bytes;
	dev->max_mtu = nr_link_setup.mtu_bytes;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA | NETIF_F_RXCSUM |
			   NETIF_F_GSO_SOFTWARE;
	dev->features = dev->hw_features;
	dev->needs_free_netdev = true;
}

int nr_link_device_add(unsigned int number)
{
	struct net_device *dev;
	int error;

	if (number >= nr_link_setup.devices || devices[number])
		return -EINVAL;
	dev = alloc_netdev(sizeof(struct link_device), "n6", NET_NAME_PREDICTABLE, setup_device);
	if (!dev)
		return -ENOMEM;
	if (number)
		snprintf(dev->name, sizeof(dev->name), "ue%u", number);
	((struct link_device *)netdev_priv(dev))->number = number;
	dev_net_set(dev, current->nsproxy->net_ns);
	error = register_netdev(dev);
	if (error) {
		free_netdev(dev);
		return error;
	}
	devices[number] = dev;
	return 0;
}

static int on_reboot(struct notifier_block *block, unsigned long event, void *unused)
{
	u64 now = nr_link_now();

	nr_link_sockets_stop();
	hrtimer_cancel(&timer);
	local_irq_disable();
	nr_link_calls->close(nr_link, started ? now : 0);
	nr_link_exit(0);
}

static struct notifier_block reboot_block = {.notifier_call = on_reboot};

static int __init nr_link_init(void)
{
	int error;

	__skb_queue_head_init(&lost);
	nr_link_calls = nr_link_load();
	if (nr_link_calls)
		nr_link = nr_link_calls->open(&nr_link_setup, on_lost, nr_link_traces);
	if (!nr_link)
		nr_link_exit(2);
	nr_link_clock_step_ns = nr_link_setup.clock_step_ns;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	timer.function = on_timer;
#endif
	register_reboot_notifier(&reboot_block);
	error = nr_link_proc_files_init() ?: nr_link_sockets_init();
	if (error) {
		pr_err("nr-link: cannot start (error %d)\n", error);
		nr_link_exit(1);
	}
	return 0;
}
late_initcall(nr_link_init);
