// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "registration.h"

#define ATTACH_STRUCT_OPS 44 /* BPF_STRUCT_OPS of enum bpf_attach_type, Linux 6.4 */

static bool name_is_taken(void)
{
	char names[1024] = "", *next = names, *name;
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "re");

	if (!file)
		return false;
	if (!fgets(names, sizeof(names), file))
		names[0] = '\0';
	fclose(file);
	while ((name = strsep(&next, " \n")))
		if (!strcmp(name, CC_NAME))
			return true;
	return false;
}

static bool fdinfo_has_map(const char *path, uint32_t map_id)
{
	char line[128];
	uint32_t id;
	bool found = false;
	FILE *file = fopen(path, "re");

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "map_id: %u", &id) == 1 && id == map_id;
	if (file)
		fclose(file);
	return found;
}

static bool process_holds_map(const char *pid, uint32_t map_id)
{
	char directory[64], path[512];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(directory, sizeof(directory), "/proc/%.20s/fdinfo", pid);
	dir = opendir(directory);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		found = isdigit(entry->d_name[0]) && fdinfo_has_map(path, map_id);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Returns the process, other than this one, that has the map open, or 0. */
static pid_t map_holder(uint32_t map_id)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (dir && !found && (entry = readdir(dir)))
		if (isdigit(entry->d_name[0]) && atoi(entry->d_name) != getpid() &&
		    process_holds_map(entry->d_name, map_id))
			found = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Opens the next struct_ops map of this program after *id; returns -1 at the end. */
static int next_own_map(uint32_t *id)
{
	struct bpf_map_info info;
	uint32_t size;
	int fd;

	while (!bpf_map_get_next_id(*id, id)) {
		fd = bpf_map_get_fd_by_id(*id);
		size = sizeof(info);
		memset(&info, 0, size);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    info.type == BPF_MAP_TYPE_STRUCT_OPS && !strcmp(info.name, MAP_NAME))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

struct registered find_registered(void)
{
	struct registered found = {.holder = HOLDER_NONE};
	uint32_t id = 0;
	int fd;

	if (!name_is_taken())
		return found;
	/* A killed loader's map may outlive its registration briefly: prefer one that is open. */
	while (!found.pid && (fd = next_own_map(&id)) >= 0) {
		close(fd);
		found = (struct registered){HOLDER_BPF, id, map_holder(id)};
	}
	if (found.holder == HOLDER_NONE)
		found.holder =
			access("/sys/module/tcp_reminis", F_OK) ? HOLDER_OTHER : HOLDER_MODULE;
	return found;
}

int register_map(struct bpf_map *map, bool kernel_has_links, int *error)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(map);
	bool libbpf_links = libbpf_major_version() > 1 || libbpf_minor_version() >= 2;
	int fd = -1;

	*error = link ? 0 : errno;
	if (!link || !kernel_has_links)
		return -1;
	if (libbpf_links)
		return bpf_link__fd(link);
	fd = bpf_link_create(bpf_map__fd(map), 0, ATTACH_STRUCT_OPS, NULL);
	*error = fd < 0 ? -fd : 0;
	return fd;
}

int unregister_map(int map_fd)
{
	uint32_t key = 0;

	return bpf_map_delete_elem(map_fd, &key) ? -errno : 0;
}

int remove_left_behind(void)
{
	int fd, error, removed = 0;
	uint32_t id = 0;

	while ((fd = next_own_map(&id)) >= 0) {
		error = 0;
		if (!map_holder(id)) {
			error = unregister_map(fd);
			removed += !error;
			if (error == -EOPNOTSUPP) /* a link, which the kernel is removing */
				error = 0;
		}
		close(fd);
		if (error)
			return error;
	}
	return removed;
}
