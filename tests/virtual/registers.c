// SPDX-License-Identifier: Apache-2.0
/*
 * Holds a value in a vector register over system calls, in two threads, in the child of a fork and around signals.
 * Exit code: 0 if every value stayed, else 1.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 200

static volatile sig_atomic_t signals;

/* Makes a system call without arguments with the value in a register; returns its result. */
static long call_with(long number, uint64_t value)
{
	uint64_t before[2] = {value, ~value}, after[2];
	long result;

	asm volatile("movdqu %[before], %%xmm15\n\t"
		     "syscall\n\t"
		     "movdqu %%xmm15, %[after]"
		     : "=a"(result), [after] "=m"(after)
		     : "a"(number), [before] "m"(before)
		     : "rcx", "r11", "xmm15", "memory");
	if (after[0] != before[0] || after[1] != before[1]) {
		fprintf(stderr, "%lx became %lx\n", before[0], after[0]);
		_exit(1);
	}
	return result;
}

static void *hold(void *value)
{
	for (int round = 0; round < ROUNDS; round++)
		call_with(SYS_sched_yield, (uintptr_t)value);
	return NULL;
}

static void on_alarm(int number)
{
	(void)number;
	call_with(SYS_getppid, 0xa1a2a3);
	signals++;
}

static void hold_in_threads(void)
{
	pthread_t threads[2];

	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, hold, (void *)(0xb1b2b3 + i)))
			exit(2);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void hold_in_children(void)
{
	for (uint64_t i = 0; i < 20; i++) {
		pid_t child = call_with(SYS_fork, 0xc1c2c3 + i);
		int status;

		if (child == 0) {
			hold((void *)(uintptr_t)(0xd1d2d3 + i));
			_exit(0);
		}
		hold((void *)(uintptr_t)(0xe1e2e3 + i));
		if (waitpid(child, &status, 0) != child || status != 0)
			exit(1);
	}
}

int main(void)
{
	struct itimerval each_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each_ms, NULL);
	while (signals < 20)
		call_with(SYS_pause, 0xf1f2f3);
	hold_in_threads();
	setitimer(ITIMER_REAL, &never, NULL);
	hold_in_children();
	puts("held");
	return 0;
}
