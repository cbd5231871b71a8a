// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plane for policies (cc/plane/plane_core.h) in this kernel, which has no BPF.
 * A name written to /proc/nr-link/planes registers a congestion control of that
 * name, with a folder /proc/nr-link/plane-NAME for its policy:
 *
 *	reports   struct plane_report each; a read waits for the first
 *	commands  a struct plane_command is written at the flow's index times its size
 *	counters  JSON
 *
 * A policy that computes holds virtual time still: it answers at once.
 */
#include <linux/bottom_half.h>
#include <linux/nr_link_uptime.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <net/tcp.h>

#include "nr_link.h"

static __always_inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	return tp->is_cwnd_limited;
}

#include "plane/plane_core.h"

#define RING (PLANE_RING_BYTES / sizeof(struct plane_report))

struct policy {
	struct plane plane;
	struct tcp_congestion_ops ops;
	struct plane_history *histories[PLANE_FLOWS];
	struct wait_queue_head readers;
	unsigned int head, tail; /* reports written and read */
	struct plane_report ring[RING];
};

static struct proc_dir_entry *folder;

static struct policy *policy_of(struct plane *plane)
{
	return container_of(plane, struct policy, plane);
}

static __always_inline struct plane *plane_of(struct sock *sk)
{
	return &container_of(inet_csk(sk)->icsk_ca_ops, struct policy, ops)->plane;
}

/* CLOCK_MONOTONIC as programs see it. With interrupts off, reading the clock costs no virtual time. */
static __always_inline __u64 plane_now(void)
{
	unsigned long flags;
	u64 now;

	local_irq_save(flags);
	now = ktime_get_ns() + NR_LINK_UPTIME_NS;
	local_irq_restore(flags);
	return now;
}

static __always_inline struct plane_report *plane_reserve(struct plane *plane)
{
	struct policy *policy = policy_of(plane);

	return policy->head - policy->tail < RING ? &policy->ring[policy->head % RING] : NULL;
}

static __always_inline void plane_submit(struct plane *plane, struct plane_report *unused)
{
	struct policy *policy = policy_of(plane);

	policy->head++;
	wake_up_interruptible(&policy->readers);
}

static __always_inline __u16 plane_local_port(const struct sock *sk)
{
	return sk->sk_num;
}

static __always_inline __u16 plane_remote_port(const struct sock *sk)
{
	return ntohs(sk->sk_dport);
}

static __always_inline struct plane_history **history_of(struct sock *sk)
{
	return &policy_of(plane_of(sk))->histories[plane_flow_of(sk)->index];
}

static __always_inline struct plane_history *create_state(struct sock *sk)
{
	return *history_of(sk) = kzalloc(sizeof(struct plane_history), GFP_ATOMIC);
}

static __always_inline struct plane_history *state_of(struct sock *sk)
{
	return *history_of(sk);
}

static __always_inline void drop_state(struct sock *sk)
{
	kfree(*history_of(sk));
	*history_of(sk) = NULL;
}

static void init(struct sock *sk)
{
	plane_init(sk);
}

static void release(struct sock *sk)
{
	plane_release(sk);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
static void control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	plane_control(sk, ack, rs);
}
#else
static void control(struct sock *sk, const struct rate_sample *rs)
{
	plane_control(sk, 0, rs);
}
#endif

static void set_state(struct sock *sk, u8 state)
{
	plane_set_state(sk, state);
}

static u32 ssthresh(struct sock *sk)
{
	return plane_ssthresh(sk);
}

static u32 undo(struct sock *sk)
{
	return plane_undo(sk);
}

static u32 departure(struct sock *sk)
{
	plane_obey(sk);
	return PLANE_TSO_SEGS;
}

static const struct tcp_congestion_ops template = {
	.init = init,
	.release = release,
	.cong_control = control,
	.set_state = set_state,
	.ssthresh = ssthresh,
	.undo_cwnd = undo,
	.min_tso_segs = departure,
	.owner = THIS_MODULE,
};

static ssize_t read_reports(struct file *file, char __user *to, size_t length, loff_t *unused)
{
	struct policy *policy = pde_data(file_inode(file));
	struct plane_report report;
	size_t done = 0;
	int error = 0;

	if (!(file->f_flags & O_NONBLOCK))
		error = wait_event_interruptible(policy->readers, policy->head != policy->tail);
	if (error)
		return error;
	while (length - done >= sizeof(report) && policy->head != policy->tail) {
		local_bh_disable(); /* ACKs are processed there */
		report = policy->ring[policy->tail++ % RING];
		local_bh_enable();
		if (copy_to_user(to + done, &report, sizeof(report)))
			return -EFAULT;
		done += sizeof(report);
	}
	return done ?: -EAGAIN;
}

static __poll_t poll_reports(struct file *file, poll_table *table)
{
	struct policy *policy = pde_data(file_inode(file));

	poll_wait(file, &policy->readers, table);
	return policy->head != policy->tail ? EPOLLIN | EPOLLRDNORM : 0;
}

static ssize_t write_command(struct file *file, const char __user *from, size_t length,
			     loff_t *place)
{
	struct policy *policy = pde_data(file_inode(file));
	struct plane_command command;
	u64 index = *place;

	if (length != sizeof(command) || do_div(index, sizeof(command)) || index >= PLANE_FLOWS)
		return -EINVAL;
	if (copy_from_user(&command, from, sizeof(command)))
		return -EFAULT;
	local_bh_disable();
	policy->plane.commands[index] = command;
	local_bh_enable();
	return length;
}

static int show_counters(struct seq_file *file, void *unused)
{
	const struct plane_counters *c = &((struct policy *)file->private)->plane.counters;

	seq_printf(file,
		   "{\"reports\": %llu, \"reports_lost\": %llu, \"commands\": %llu, "
		   "\"fallbacks\": %llu, \"flows\": %llu, \"flows_refused\": %llu}\n",
		   c->reports, c->reports_lost, c->commands, c->fallbacks, c->flows,
		   c->flows_refused);
	return 0;
}

static const struct proc_ops reports_operations = {
	.proc_read = read_reports,
	.proc_poll = poll_reports,
};
static const struct proc_ops commands_operations = {
	.proc_write = write_command,
	.proc_lseek = default_llseek,
};

static int make_files(struct policy *policy)
{
	struct proc_dir_entry *own;
	char name[sizeof("plane-") + TCP_CA_NAME_MAX];

	snprintf(name, sizeof(name), "plane-%s", policy->ops.name);
	own = proc_mkdir(name, folder);
	if (own && proc_create_data("reports", 0400, own, &reports_operations, policy) &&
	    proc_create_data("commands", 0200, own, &commands_operations, policy) &&
	    proc_create_single_data("counters", 0400, own, show_counters, policy))
		return 0;
	return -ENOMEM;
}

/* It lasts as long as this kernel. */
static int add(const char *name)
{
	struct policy *policy = vzalloc(sizeof(*policy));
	int error;

	if (!policy)
		return -ENOMEM;
	policy->ops = template;
	strscpy(policy->ops.name, name, sizeof(policy->ops.name));
	init_waitqueue_head(&policy->readers);
	error = tcp_register_congestion_control(&policy->ops);
	if (error) {
		vfree(policy);
		return error;
	}
	return make_files(policy);
}

static ssize_t write_name(struct file *file, const char __user *text, size_t length, loff_t *unused)
{
	char name[TCP_CA_NAME_MAX] = {};
	int error;

	if (!length || length >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, text, length))
		return -EFAULT;
	error = add(name);
	return error ?: length;
}

static const struct proc_ops planes_operations = {.proc_write = write_name};

int nr_link_planes_init(struct proc_dir_entry *nr_link_folder)
{
	folder = nr_link_folder;
	return proc_create("planes", 0200, folder, &planes_operations) ? 0 : -ENOMEM;
}
