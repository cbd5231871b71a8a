// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/nr-link, for the guest's first program: `plan` is what it shall do;
 * a number written to `device` makes the link's device of that number in the
 * writer's network namespace; lines written to `report` go to the launcher.
 * `stdin`, `stdout` and `stderr` are the launcher's, for a program of the user.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "nr_link.h"

#define REPORT_BYTES_MAX (1 << 20)
#define STREAM_BYTES_MAX (1 << 16) /* at once */

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

static ssize_t read_input(struct file *file, char __user *text, size_t length, loff_t *unused)
{
	unsigned long flags;
	ssize_t count;
	void *copy;

	length = min_t(size_t, length, STREAM_BYTES_MAX);
	copy = kvmalloc(length, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	local_irq_save(flags);
	count = nr_link_calls->input(nr_link, copy, length);
	local_irq_restore(flags);
	if (count > 0 && copy_to_user(text, copy, count))
		count = -EFAULT;
	kvfree(copy);
	return count;
}

static ssize_t write_stream(unsigned int stream, const char __user *text, size_t length)
{
	unsigned long flags;
	ssize_t count;
	void *copy;

	length = min_t(size_t, length, STREAM_BYTES_MAX);
	copy = vmemdup_user(text, length);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	local_irq_save(flags);
	count = nr_link_calls->output(nr_link, stream, copy, length);
	local_irq_restore(flags);
	kvfree(copy);
	return count;
}

static ssize_t write_output(struct file *file, const char __user *text, size_t length,
			    loff_t *unused)
{
	return write_stream(1, text, length);
}

static ssize_t write_error(struct file *file, const char __user *text, size_t length,
			   loff_t *unused)
{
	return write_stream(2, text, length);
}

/* As of a pipe. */
static loff_t refuse_to_seek(struct file *file, loff_t offset, int whence)
{
	return -ESPIPE;
}

static const struct proc_ops device_operations = {.proc_write = write_device};
static const struct proc_ops report_operations = {.proc_write = write_report};
static const struct proc_ops input_operations = {
	.proc_read = read_input,
	.proc_lseek = refuse_to_seek,
};
static const struct proc_ops output_operations = {
	.proc_write = write_output,
	.proc_lseek = refuse_to_seek,
};
static const struct proc_ops error_operations = {
	.proc_write = write_error,
	.proc_lseek = refuse_to_seek,
};

int nr_link_proc_files_init(void)
{
	struct proc_dir_entry *folder = proc_mkdir("nr-link", NULL);

	if (!folder || !proc_create_single("plan", 0400, folder, show_plan) ||
	    !proc_create("device", 0200, folder, &device_operations) ||
	    !proc_create("report", 0200, folder, &report_operations) ||
	    !proc_create("stdin", 0400, folder, &input_operations) ||
	    !proc_create("stdout", 0200, folder, &output_operations) ||
	    !proc_create("stderr", 0200, folder, &error_operations))
		return -ENOMEM;
	return nr_link_planes_init(folder);
}
