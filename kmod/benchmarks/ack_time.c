// SPDX-License-Identifier: GPL-2.0-only
/* ack_time OBJECT: loads ack_time.bpf.o, and for each line on stdin prints the totals so far as one
 * line of JSON: {"cubic":{"acks":N,"ns":N},…}. Ends when stdin is closed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

struct total {
	uint64_t count, ns;
};

static int quiet(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

static int attach_all(struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		if (!bpf_program__attach(program)) {
			perror("ack_time: attach");
			return -1;
		}
	}
	return 0;
}

static void print_totals(int map)
{
	char name[16], previous[16], *before = NULL;
	const char *comma = "";
	struct total total;

	printf("{");
	while (!bpf_map_get_next_key(map, before, name)) {
		if (!bpf_map_lookup_elem(map, name, &total)) {
			printf("%s\"%.15s\":{\"acks\":%" PRIu64 ",\"ns\":%" PRIu64 "}", comma, name,
			       total.count, total.ns);
			comma = ",";
		}
		memcpy(previous, name, sizeof(previous));
		before = previous;
	}
	printf("}\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	char line[16];
	int map;

	if (argc != 2) {
		fprintf(stderr, "usage: ack_time OBJECT\n");
		return 2;
	}
	libbpf_set_print(quiet);
	object = bpf_object__open_file(argv[1], NULL);
	if (!object || bpf_object__load(object) || attach_all(object))
		return 1;
	map = bpf_object__find_map_fd_by_name(object, "ack_totals");
	while (fgets(line, sizeof(line), stdin))
		print_totals(map);
	bpf_object__close(object);
	return 0;
}
