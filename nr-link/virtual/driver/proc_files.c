// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/nr-link, for the guest's first program: `plan` is what it shall do;
 * a number written to `device` makes the link's device of that number in the
 * writer's network namespace; lines written to `report` go to the launcher.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "nr_link.h"

#define REPORT_BYTES_MAX (1 << 20)

static int show_plan(struct seq_file *file, void *unused)
{
	seq_write(file, nr_link_setup.guest_plan, nr_link_setup.guest_plan_length);
	return 0;
}

static ssize_t write_device(struct file *file, const char __user *text, size_t length,
			    loff_t *unused)
{
	unsigned int number;
	int error;

	error = kstrtouint_from_user(text, length, 10, &number) ?: nr_link_device_add(number);
	return error ?: length;
}

static ssize_t write_report(struct file *file, const char __user *text, size_t length,
			    loff_t *unused)
{
	unsigned long flags;
	void *copy;

	copy = length <= REPORT_BYTES_MAX ? vmemdup_user(text, length) : ERR_PTR(-EFBIG);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	local_irq_save(flags);
	nr_link_calls->report(nr_link, copy, length);
	local_irq_restore(flags);
	kvfree(copy);
	return length;
}

static const struct proc_ops device_operations = {.proc_write = write_device};
static const struct proc_ops report_operations = {.proc_write = write_report};

int nr_link_proc_files_init(void)
{
	struct proc_dir_entry *folder = proc_mkdir("nr-link", NULL);

	if (!folder || !proc_create_single("plan", 0400, folder, show_plan) ||
	    !proc_create("device", 0200, folder, &device_operations) ||
	    !proc_create("report", 0200, folder, &report_operations))
		return -ENOMEM;
	return 0;
}
