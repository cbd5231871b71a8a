// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's parameters. All of them may be written while flows run; a flow uses
 * the new value from its next SI on.
 */
#define pr_fmt(fmt) "tcp_reminis: " fmt

#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tcp_reminis.h"

#define PORTS_MAX 32

struct port_dtt {
	u16 port;
	u32 dtt_us;
};

struct port_table {
	struct rcu_head rcu;
	u32 count;
	struct port_dtt entries[PORTS_MAX];
};

static struct reminis_params params = {
	.dtt_factor_q16 = REMINIS_DTT_FACTOR_DEFAULT_Q16,
};

static struct port_table __rcu *port_table;

bool reminis_pacing = true;
module_param_named(pacing, reminis_pacing, bool, 0644);
MODULE_PARM_DESC(pacing, "pace new flows at 1.2 cwnd/srtt");

/* Draws depend on the seed and the flow's number, which a new seed resets to 0. */
static int set_seed(const char *value, const struct kernel_param *kp)
{
	u32 seed;

	if (kstrtou32(value, 10, &seed)) {
		pr_err("seed: not valid. Give a number from 0 to 4294967295\n");
		return -EINVAL;
	}
	WRITE_ONCE(params.seed, seed);
	atomic_set(&reminis_flow_count, 0);
	return 0;
}

static int get_seed(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", params.seed);
}

static const struct kernel_param_ops seed_ops = {.set = set_seed, .get = get_seed};
module_param_cb(seed, &seed_ops, NULL, 0644);
MODULE_PARM_DESC(seed, "seed of the draws; 0: the kernel's random numbers");

struct reminis_params reminis_params_now(void)
{
	return (struct reminis_params){
		.dtt_us = READ_ONCE(params.dtt_us),
		.dtt_factor_q16 = READ_ONCE(params.dtt_factor_q16),
		.switches = READ_ONCE(params.switches),
		.seed = READ_ONCE(params.seed),
	};
}

static int parse_dtt(const char *text, u32 *dtt_us)
{
	if (kstrtou32(text, 10, dtt_us) || !*dtt_us || *dtt_us > REMINIS_DTT_MAX_US) {
		pr_err("a DTT is a number of microseconds from 1 to %u, not \"%s\"\n",
		       REMINIS_DTT_MAX_US, text);
		return -EINVAL;
	}
	return 0;
}

static int set_dtt(const char *value, const struct kernel_param *kp)
{
	char text[16];
	u32 dtt_us = 0;

	strscpy(text, value, sizeof(text));
	if (strcmp(strim(text), "default") && parse_dtt(strim(text), &dtt_us))
		return -EINVAL;
	WRITE_ONCE(params.dtt_us, dtt_us);
	return 0;
}

static int get_dtt(char *buffer, const struct kernel_param *kp)
{
	if (!params.dtt_us)
		return sysfs_emit(buffer, "default\n");
	return sysfs_emit(buffer, "%u\n", params.dtt_us);
}

static const struct kernel_param_ops dtt_ops = {.set = set_dtt, .get = get_dtt};
module_param_cb(dtt_us, &dtt_ops, NULL, 0644);
MODULE_PARM_DESC(dtt_us, "delay tolerance threshold in us, or \"default\": dtt_percent of mRTT");

static int set_percent(const char *value, const struct kernel_param *kp)
{
	u32 percent;

	if (kstrtou32(value, 10, &percent) || percent <= 100 || percent > 10000) {
		pr_err("dtt_percent: not valid. Give a number above 100 and at most 10000\n");
		return -EINVAL;
	}
	WRITE_ONCE(params.dtt_factor_q16, (percent << 16) / 100);
	return 0;
}

static int get_percent(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", DIV_ROUND_CLOSEST(params.dtt_factor_q16 * 100, 1U << 16));
}

static const struct kernel_param_ops percent_ops = {.set = set_percent, .get = get_percent};
module_param_cb(dtt_percent, &percent_ops, NULL, 0644);
MODULE_PARM_DESC(dtt_percent, "default DTT in percent of mRTT (default: 150)");

/* Writers are serialised by the kernel's parameter lock. */
static int set_switch(const char *value, const struct kernel_param *kp)
{
	u32 flag = (uintptr_t)kp->arg;
	bool on = true; /* a switch without a value */

	if (value && kstrtobool(value, &on)) {
		pr_err("%s: \"%s\" is not valid. Give Y or N\n", kp->name, value);
		return -EINVAL;
	}
	WRITE_ONCE(params.switches, on ? params.switches | flag : params.switches & ~flag);
	return 0;
}

static int get_switch(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%c\n", params.switches & (uintptr_t)kp->arg ? 'Y' : 'N');
}

static const struct kernel_param_ops switch_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = set_switch,
	.get = get_switch,
};

#define REMINIS_SWITCH(name, flag, description)                                                    \
	module_param_cb(name, &switch_ops, (void *)(uintptr_t)(flag), 0644);                       \
	MODULE_PARM_DESC(name, description)

REMINIS_SWITCH(no_nde, REMINIS_NO_NDE, "no exploration");
REMINIS_SWITCH(nde_mean, REMINIS_NDE_MEAN, "explore by the mean instead of a random draw");
REMINIS_SWITCH(no_ps, REMINIS_NO_PS, "no proactive slowdown");
REMINIS_SWITCH(no_cm, REMINIS_NO_CM, "no catastrophe mitigation");
REMINIS_SWITCH(no_aimd, REMINIS_NO_AIMD, "no AIMD outside slow start");
REMINIS_SWITCH(ewma, REMINIS_EWMA, "average each new window with the mean window");
REMINIS_SWITCH(stale_rtt, REMINIS_STALE_RTT, "after a cut, also use RTTs of data sent before it");
REMINIS_SWITCH(jump_to_4, REMINIS_JUMP_TO_4, "cut to 4 segments beyond 2 mRTT");
REMINIS_SWITCH(mean_base, REMINIS_MEAN_BASE, "the base is the least mean delay of an SI");
REMINIS_SWITCH(one_way, REMINIS_ONE_WAY, "leave the reverse path's queue out of delays");
REMINIS_SWITCH(nde_bounded, REMINIS_NDE_BOUNDED, "explore up to the middle of base and DTT");
REMINIS_SWITCH(cm_drain, REMINIS_CM_DRAIN, "cut to the window that leaves no queue at most");
REMINIS_SWITCH(new_path, REMINIS_NEW_PATH, "measure mRTT again where a small window exceeds DTT");

static int parse_ports(char *text, struct port_table *table)
{
	char *entry, *dtt;

	if (!*text)
		return 0;
	while ((entry = strsep(&text, ","))) {
		struct port_dtt *port = &table->entries[table->count];

		dtt = entry;
		entry = strsep(&dtt, ":");
		if (table->count == PORTS_MAX || !dtt || kstrtou16(entry, 10, &port->port) ||
		    !port->port) {
			pr_err("port_dtt: give up to %d of PORT:MICROSECONDS, joined by commas\n",
			       PORTS_MAX);
			return -EINVAL;
		}
		if (parse_dtt(dtt, &port->dtt_us))
			return -EINVAL;
		table->count++;
	}
	return 0;
}

static void replace_ports(struct port_table *table)
{
	table = rcu_replace_pointer(port_table, table, true);
	if (table)
		kfree_rcu(table, rcu);
}

static int set_ports(const char *value, const struct kernel_param *kp)
{
	struct port_table *table = kzalloc(sizeof(*table), GFP_KERNEL);
	char *text = kstrdup(value, GFP_KERNEL);
	int error = table && text ? parse_ports(strim(text), table) : -ENOMEM;

	kfree(text);
	if (error)
		kfree(table);
	else
		replace_ports(table);
	return error;
}

static int get_ports(char *buffer, const struct kernel_param *kp)
{
	struct port_table *table;
	int length = 0;

	rcu_read_lock();
	table = rcu_dereference(port_table);
	for (u32 i = 0; table && i < table->count; i++)
		length += sysfs_emit_at(buffer, length, "%s%u:%u", i ? "," : "",
					table->entries[i].port, table->entries[i].dtt_us);
	rcu_read_unlock();
	return length + sysfs_emit_at(buffer, length, "\n");
}

/* Called when the module is unloaded or failed to load: no flow reads the table any more. */
static void free_ports(void *unused)
{
	replace_ports(NULL);
}

static const struct kernel_param_ops ports_ops = {
	.set = set_ports, .get = get_ports, .free = free_ports};
module_param_cb(port_dtt, &ports_ops, NULL, 0644);
MODULE_PARM_DESC(port_dtt, "DTT by local or remote port: PORT:MICROSECONDS,...");

/* Called once per SI: looks up the local port first, then the remote one. */
u32 reminis_port_dtt(u16 local, u16 remote)
{
	struct port_table *table;
	u32 found_us = 0;

	rcu_read_lock();
	table = rcu_dereference(port_table);
	for (u32 i = 0; table && i < table->count; i++) {
		const struct port_dtt *entry = &table->entries[i];

		if (entry->port == local || (entry->port == remote && !found_us))
			found_us = entry->dtt_us;
		if (entry->port == local)
			break;
	}
	rcu_read_unlock();
	return found_us;
}
