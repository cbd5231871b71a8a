// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cgroup.h"

/* linux/mount.h, Linux 5.2; some supported distributions lack the C library's wrappers */
#define FSOPEN_CLOEXEC_FLAG  1
#define FSMOUNT_CLOEXEC_FLAG 1
#define FSCONFIG_CREATE	     6

int open_root_cgroup(void)
{
	int filesystem = syscall(SYS_fsopen, "cgroup2", FSOPEN_CLOEXEC_FLAG);
	int mount = -1, error;

	if (filesystem >= 0 && !syscall(SYS_fsconfig, filesystem, FSCONFIG_CREATE, 0, 0, 0))
		mount = syscall(SYS_fsmount, filesystem, FSMOUNT_CLOEXEC_FLAG, 0);
	error = errno;
	if (filesystem >= 0)
		close(filesystem);
	return mount >= 0 ? mount : -error;
}
