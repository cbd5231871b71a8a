// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two flows that send in short turns; measures the CPU time of each turn.
 *
 *   slices sink PORT                                         accepts connections, discards the data
 *   slices send ADDRESS PORT MBIT SLICE_MS PAIRS CC CC       two flows, one per congestion control
 *
 * `send` keeps both connections open for the whole run. In each pair of turns one flow sends at
 * MBIT for SLICE_MS, then the other; the order alternates. A turn ends when all its data has been
 * acknowledged. For each turn it prints a line of JSON: pair, congestion control, acknowledged
 * bytes, and the CPU time of this process (user and system) in nanoseconds. The first pair is a
 * warm-up.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <netinet/tcp.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES (64 << 10)
#define SINK_FLOWS  16

static char block[BLOCK_BYTES];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec at = {at_ns / 1000000000, at_ns % 1000000000};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static int sink(const char *port)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
	struct pollfd flows[1 + SINK_FLOWS];
	int count = 1, one = 1;

	flows[0] = (struct pollfd){socket(AF_INET, SOCK_STREAM, 0), POLLIN, 0};
	setsockopt(flows[0].fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(flows[0].fd, (struct sockaddr *)&any, sizeof(any)) ||
	    listen(flows[0].fd, SINK_FLOWS))
		die("slices: sink");
	puts("ready");
	fflush(stdout);
	while (poll(flows, count, -1) > 0) {
		if (flows[0].revents && count <= SINK_FLOWS)
			flows[count++] =
				(struct pollfd){accept(flows[0].fd, NULL, NULL), POLLIN, 0};
		for (int i = 1; i < count; i++) /* MSG_TRUNC: discarded in the kernel */
			if (flows[i].revents && recv(flows[i].fd, NULL, 1 << 20, MSG_TRUNC) <= 0)
				return 0;
	}
	return 1;
}

static int connect_with(const char *address, const char *port, const char *cc)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
	int flow = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, address, &to.sin_addr);
	if (setsockopt(flow, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die(cc);
	if (connect(flow, (struct sockaddr *)&to, sizeof(to)))
		die("slices: connect");
	return flow;
}

/* Sends at the rate for slice_ns and waits for the last acknowledgement. Returns the bytes sent. */
static uint64_t take_turn(int flow, double bytes_per_ns, uint64_t slice_ns)
{
	uint64_t start_ns = now_ns(CLOCK_MONOTONIC), sent = 0;
	int unacknowledged = 1;

	while (sent < bytes_per_ns * slice_ns) {
		ssize_t bytes = send(flow, block, sizeof(block), 0);

		if (bytes < 0)
			die("slices: send");
		sent += bytes;
		sleep_until(start_ns + sent / bytes_per_ns);
	}
	while (!ioctl(flow, SIOCOUTQ, &unacknowledged) && unacknowledged)
		sleep_until(now_ns(CLOCK_MONOTONIC) + 1000000);
	return sent;
}

static int send_in_turns(char **arguments)
{
	double bytes_per_ns = atof(arguments[2]) / 8e3;
	uint64_t slice_ns = atof(arguments[3]) * 1e6;
	int pairs = atoi(arguments[4]), flows[2];

	for (int i = 0; i < 2; i++)
		flows[i] = connect_with(arguments[0], arguments[1], arguments[5 + i]);
	for (int pair = 0; pair <= pairs; pair++) {
		for (int turn = 0; turn < 2; turn++) {
			int own = (pair + turn) % 2;
			uint64_t cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
			uint64_t bytes = take_turn(flows[own], bytes_per_ns, slice_ns);

			cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
			if (pair)
				printf("{\"pair\":%d,\"cc\":\"%s\",\"bytes\":%" PRIu64
				       ",\"cpu_ns\":%" PRIu64 "}\n",
				       pair, arguments[5 + own], bytes, cpu_ns);
		}
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "sink"))
		return sink(argv[2]);
	if (argc == 9 && !strcmp(argv[1], "send"))
		return send_in_turns(argv + 2);
	fprintf(stderr,
		"usage: slices sink PORT | slices send ADDRESS PORT MBIT SLICE_MS PAIRS CC CC\n");
	return 2;
}
