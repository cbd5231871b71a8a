// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cheap sender and sink: in virtual time system calls dominate the cost, so both
 * use large blocks and the sink discards data in the kernel.
 *
 *   traffic sink PORT
 *   traffic send ADDRESS PORT CC SECONDS [DTT_US [MBIT]]   one flow, at most MBIT; prints its state
 *   traffic flows ADDRESS PORT CC COUNT                    COUNT flows at once, 20 kB each
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "../../reminis_uapi.h"

#define BLOCK_BYTES (1 << 18)
#define FLOW_BYTES  20000

static char block[BLOCK_BYTES];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};

	inet_pton(AF_INET, host, &to.sin_addr);
	return to;
}

static void sink(const char *port)
{
	struct sockaddr_in at = address("0.0.0.0", port);
	int epoll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (void *)&at, sizeof(at)) || listen(listener, 1024))
		die("listen");
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	while (epoll_wait(epoll, &event, 1, -1) >= 0) {
		int fd = event.data.fd;

		if (fd == listener) {
			event.data.fd = accept(listener, NULL, NULL);
			event.events = EPOLLIN;
			epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
		} else if (recv(fd, block, sizeof(block), MSG_TRUNC | MSG_DONTWAIT) <= 0 &&
			   errno != EAGAIN) {
			close(fd);
		}
	}
}

static int open_flow(const char *host, const char *port, const char *cc, uint32_t dtt_us)
{
	struct sockaddr_in to = address(host, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die(cc);
	if (dtt_us && setsockopt(fd, IPPROTO_IP, REMINIS_DTT, &dtt_us, sizeof(dtt_us)))
		die("REMINIS_DTT");
	if (connect(fd, (void *)&to, sizeof(to)))
		die("connect");
	return fd;
}

/* Prints one line: acknowledged bytes, and the state that the congestion control reports. */
static void print_flow(int fd)
{
	struct tcp_info info = {0};
	struct tcpvegas_info cc = {0};
	uint32_t dtt_us = 0;
	socklen_t size = sizeof(info);

	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size);
	printf("acked=%llu acks=%u retransmitted=%u rtt_us=%u",
	       (unsigned long long)info.tcpi_bytes_acked, info.tcpi_segs_in,
	       info.tcpi_total_retrans, info.tcpi_rtt);
	size = sizeof(cc);
	if (!getsockopt(fd, IPPROTO_TCP, TCP_CC_INFO, &cc, &size) && size == sizeof(cc))
		printf(" zone=%u info_dtt_us=%u d_us=%u mrtt_us=%u", cc.tcpv_enabled,
		       cc.tcpv_rttcnt, cc.tcpv_rtt, cc.tcpv_minrtt);
	size = sizeof(dtt_us);
	if (!getsockopt(fd, IPPROTO_IP, REMINIS_DTT, &dtt_us, &size))
		printf(" dtt_us=%u", dtt_us);
	printf("\n");
}

/* Sends blocks as the window allows, at most bytes_per_s (0: no limit). */
static void send_for(int fd, double seconds, double bytes_per_s)
{
	double start = now_s(), now;
	struct pollfd writable = {.fd = fd, .events = POLLOUT};
	double sent_bytes = 0;

	while ((now = now_s()) < start + seconds) {
		ssize_t n;

		if (bytes_per_s && (now - start) * bytes_per_s < sent_bytes) {
			usleep(1000);
			continue;
		}
		n = send(fd, block, sizeof(block), MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			die("send");
		if (n > 0)
			sent_bytes += n;
		else
			poll(&writable, 1, 100);
	}
}

static void reset(int fd)
{
	struct linger now = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

static void many_flows(const char *host, const char *port, const char *cc, int count)
{
	struct rlimit files = {count + 64, count + 64};
	int *fds = calloc(count, sizeof(int));

	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < count; i++) {
		fds[i] = open_flow(host, port, cc, 0);
		if (send(fds[i], block, FLOW_BYTES, MSG_DONTWAIT) != FLOW_BYTES)
			die("send");
	}
	sleep(2);
	for (int i = 0; i < count; i++)
		close(fds[i]);
	printf("flows=%d\n", count);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "sink"))
		sink(argv[2]);
	if (argc >= 6 && !strcmp(argv[1], "send")) {
		int fd = open_flow(argv[2], argv[3], argv[4], argc > 6 ? atoi(argv[6]) : 0);

		send_for(fd, atof(argv[5]), argc > 7 ? atof(argv[7]) * 125000 : 0);
		print_flow(fd);
		reset(fd);
		return 0;
	}
	if (argc == 6 && !strcmp(argv[1], "flows")) {
		many_flows(argv[2], argv[3], argv[4], atoi(argv[5]));
		return 0;
	}
	fprintf(stderr, "usage: see the comment at the top of traffic.c\
");
	return 2;
}
