// SPDX-License-Identifier: Apache-2.0
// Fails one call of a program to the C library, or kills the program at it. For LD_PRELOAD.
//
// The file that FAULTS_STATE names is mapped by every process of a command, so that their calls are
// counted together. Without it, or while `kinds` is 0, every call is the C library's.
//
// It also marks the files whose content is not on disk (fsync(2)): a loss of power would take it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// Bits of `kinds`, as testsupport.faults.calls names them.
enum { WRITE = 1, FSYNC = 2, RENAME = 4, MKDIR = 8, OPEN = 16, REMOVE = 32, SEND = 64, MEMORY = 128, LOOK = 256 };

// A prime number: inodes of one command lie close together, or a power of two apart.
enum { UNSYNCED = 65521 };

struct state {
	_Atomic unsigned kinds;
	_Atomic int error; // 0: the process is killed; -1: power is lost after the call
	_Atomic long at;   // the number of the call, from 1
	_Atomic long count;
	_Atomic int fired;
	_Atomic int command; // its process, which may have others
	_Atomic long counts[9]; // of each kind
	_Atomic unsigned char unsynced[UNSYNCED]; // by the number of the inode, modulo UNSYNCED
};

static struct state nowhere;
static struct state *state = &nowhere;
static int takes_part; // Not the process that injects, and not the store's server.

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("FAULTS_STATE");
	int file = name ? (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC) : -1;
	if (file < 0)
		return;
	void *mapped = (void *)syscall(SYS_mmap, NULL, sizeof(struct state), PROT_READ | PROT_WRITE,
				       MAP_SHARED, file, 0);
	syscall(SYS_close, file);
	if (mapped != MAP_FAILED)
		state = mapped;
	// git's calls depend on the state of its repository.
	takes_part = state->kinds != 0 && strcmp(program_invocation_short_name, "git");
}

// Lets this process, and those that it forks, meet the fault.
void faults_take_part(void)
{
	takes_part = 1;
	state->command = syscall(SYS_getpid);
}

// Whether this call is the one to fail; errno is set.
static int due(unsigned kind)
{
	if (!takes_part || !state->kinds)
		return 0;
	++state->counts[__builtin_ctz(kind)];
	if (!(state->kinds & kind) || ++state->count != state->at)
		return 0;
	state->fired = 1;
	if (!state->error)
		syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
	if (state->error < 0)
		return 0; // The call is done first: lose_power().
	errno = state->error;
	return 1;
}

// Ends the command where its power is to be lost after this call.
static void lose_power(unsigned kind)
{
	if (takes_part && state->kinds & kind && state->error < 0 && state->count == state->at) {
		syscall(SYS_kill, state->command, SIGKILL);
		syscall(SYS_kill, 0, SIGKILL);
	}
}

static void mark(int descriptor, int unsynced)
{
	struct stat status;
	int before = errno;
	if (takes_part && state->kinds && !fstat(descriptor, &status) && S_ISREG(status.st_mode))
		state->unsynced[status.st_ino % UNSYNCED] = unsynced;
	errno = before;
}

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

// A call with its arguments, which returns `failed` if it is due.
#define CALL(kind, failed, type, name, parameters, arguments)                                       \
	type name parameters                                                                        \
	{                                                                                           \
		static __typeof__(&name) known;                                                     \
		if (due(kind))                                                                      \
			return failed;                                                              \
		if (!known)                                                                         \
			known = REAL(name);                                                         \
		return known arguments;                                                             \
	}

// Files only: a message on a pipe, a socket or a terminal is no data.
static int is_file(int descriptor)
{
	struct stat status;
	return state->kinds && !fstat(descriptor, &status) && S_ISREG(status.st_mode);
}

#define CALL_ON_FILE(type, name, parameters, arguments, descriptor)                                 \
	type name parameters                                                                        \
	{                                                                                           \
		static __typeof__(&name) known;                                                     \
		if (is_file(descriptor) && due(WRITE))                                              \
			return -1;                                                                  \
		if (!known)                                                                         \
			known = REAL(name);                                                         \
		mark(descriptor, 1);                                                                \
		return known arguments;                                                             \
	}

CALL_ON_FILE(ssize_t, write, (int file, const void *data, size_t size), (file, data, size), file)
CALL_ON_FILE(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at),
	     (file, data, size, at), file)
CALL_ON_FILE(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at),
	     (file, data, size, at), file)
CALL_ON_FILE(ssize_t, writev, (int file, const struct iovec *parts, int count),
	     (file, parts, count), file)
CALL_ON_FILE(ssize_t, sendfile, (int to, int from, off_t *at, size_t size), (to, from, at, size), to)
CALL_ON_FILE(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t size),
	     (to, from, at, size), to)
CALL_ON_FILE(ssize_t, copy_file_range,
	     (int from, off64_t *at, int to, off64_t *to_at, size_t size, unsigned flags),
	     (from, at, to, to_at, size, flags), to)
CALL_ON_FILE(int, ftruncate, (int file, off_t size), (file, size), file)
CALL_ON_FILE(int, ftruncate64, (int file, off64_t size), (file, size), file)
CALL(WRITE, errno, int, posix_fallocate, (int file, off_t at, off_t size), (file, at, size))
CALL(WRITE, errno, int, posix_fallocate64, (int file, off64_t at, off64_t size), (file, at, size))

// A call after which something else holds on the disk, if it succeeds.
#define CALL_ON_DISK(kind, name, parameters, arguments, then)                                       \
	int name parameters                                                                         \
	{                                                                                           \
		static __typeof__(&name) known;                                                     \
		if (due(kind))                                                                      \
			return -1;                                                                  \
		if (!known)                                                                         \
			known = REAL(name);                                                         \
		int failed = known arguments;                                                       \
		if (!failed)                                                                        \
			then;                                                                       \
		return failed;                                                                      \
	}
#define RENAMING(name, parameters, arguments)                                                       \
	CALL_ON_DISK(RENAME, name, parameters, arguments, lose_power(RENAME))

CALL_ON_DISK(FSYNC, fsync, (int file), (file), mark(file, 0))
CALL_ON_DISK(FSYNC, fdatasync, (int file), (file), mark(file, 0))
RENAMING(rename, (const char *from, const char *to), (from, to))
RENAMING(renameat, (int in, const char *from, int into, const char *to), (in, from, into, to))
RENAMING(renameat2, (int in, const char *from, int into, const char *to, unsigned flags),
	 (in, from, into, to, flags))
RENAMING(link, (const char *from, const char *to), (from, to))
RENAMING(linkat, (int in, const char *from, int into, const char *to, int flags),
	 (in, from, into, to, flags))
CALL(MKDIR, -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(MKDIR, -1, int, mkdirat, (int in, const char *path, mode_t mode), (in, path, mode))
CALL(REMOVE, -1, int, unlink, (const char *path), (path))
CALL(REMOVE, -1, int, unlinkat, (int in, const char *path, int flags), (in, path, flags))
CALL(REMOVE, -1, int, rmdir, (const char *path), (path))

// A connection that breaks is broken for both ends: else the client waits for what the server says.
ssize_t send(int to, const void *data, size_t size, int flags)
{
	static __typeof__(&send) known;
	if (due(SEND)) {
		shutdown(to, SHUT_RDWR);
		errno = state->error;
		return -1;
	}
	if (!known)
		known = REAL(send);
	return known(to, data, size, flags);
}

// A look at the machine: a slow run takes more of them.
static int is_look(const char *path)
{
	return !strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5);
}

#define OPEN_CALL(name, parameters, arguments)                                                      \
	int name parameters                                                                         \
	{                                                                                           \
		static int (*known) parameters;                                                     \
		mode_t mode = 0;                                                                    \
		if (flags & (O_CREAT | __O_TMPFILE)) {                                              \
			va_list more;                                                               \
			va_start(more, flags);                                                      \
			mode = va_arg(more, mode_t);                                                \
			va_end(more);                                                               \
		}                                                                                   \
		if (due(is_look(path) ? LOOK : OPEN))                                               \
			return -1;                                                                  \
		if (!known)                                                                         \
			known = real(#name);                                                        \
		return known arguments;                                                             \
	}

OPEN_CALL(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN_CALL(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN_CALL(openat, (int in, const char *path, int flags, ...), (in, path, flags, mode))
OPEN_CALL(openat64, (int in, const char *path, int flags, ...), (in, path, flags, mode))

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

// Small requests are most, and what fails them on a real machine has failed a large one before.
#define LARGE 4096

void *malloc(size_t size)
{
	return size >= LARGE && due(MEMORY) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return count * size >= LARGE && due(MEMORY) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *before, size_t size)
{
	return size >= LARGE && due(MEMORY) ? NULL : __libc_realloc(before, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
	if (due(MEMORY))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int file, off64_t offset)
{
	return mmap(at, size, protection, flags, file, offset);
}
