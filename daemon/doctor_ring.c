/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_ring.c: what of io_uring this kernel, container and user allow. Makes
 * a small ring of its own and asks it. Main thread.
 */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/doctor_priv.h"

/* liburing 2.3 lacks the name. */
#define OP_FUTEX_WAKE 52

static const struct {
	int operation;
	bool is_needed;
	const char *name;
	const char *since;
} operations[] = {
	/* Multishot has no operation number of its own: what came with the same kernel tells. */
	{ IORING_OP_SOCKET, true, "accept, multishot", "5.19" },
	{ IORING_OP_SEND_ZC, true, "receive, multishot", "6.0" },
	{ IORING_OP_SEND, true, "send", "5.6" },
	{ IORING_OP_READ, true, "read", "5.6" },
	{ IORING_OP_WRITE, true, "write", "5.6" },
	{ IORING_OP_POLL_ADD, true, "poll", "5.1" },
	{ IORING_OP_ASYNC_CANCEL, true, "cancel", "5.5" },
	{ IORING_OP_CLOSE, true, "close", "5.6" },
	{ OP_FUTEX_WAKE, false, "futex wake", "6.7" },
};

const char *doctor_ring_remedy(int error, int io_uring_disabled, bool has_seccomp_filter)
{
	switch (error) {
	case EPERM:
		if (io_uring_disabled == 2)
			return "the administrator has turned io_uring off: sysctl -w kernel.io_uring_disabled=0";
		if (io_uring_disabled == 1)
			return "io_uring is for one group only: sysctl -w kernel.io_uring_disabled=0, or put this user into the group of "
			       "kernel.io_uring_group";
		if (has_seccomp_filter)
			return "the container's seccomp profile refuses it: allow io_uring_setup, io_uring_enter and io_uring_register in a "
			       "profile of your own (docker run --security-opt seccomp=FILE)";
		return "a security module refuses it: see the kernel's log (dmesg) for which";
	case ENOSYS:
		if (has_seccomp_filter)
			return "the container's seccomp profile hides it, or the kernel has none: allow io_uring_setup, io_uring_enter and "
			       "io_uring_register in a profile of your own (--security-opt seccomp=FILE)";
		return "the kernel is built without io_uring (CONFIG_IO_URING): use a kernel of the distribution, 6.0 or newer";
	case EACCES:
		return "SELinux refuses it: ausearch -m avc shows the rule, audit2allow makes one that allows it";
	case ENOMEM:
		return "the limit of locked memory is too low: ulimit -l unlimited (systemd: LimitMEMLOCK=infinity; docker: --ulimit memlock=-1)";
	case EINVAL:
		return "the kernel is too old: 6.0 or newer is needed";
	default:
		return "see the kernel's log (dmesg)";
	}
}

static void check_operations(struct doctor *doctor, struct io_uring *ring)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
	char name[64];

	if (!probe) {
		doctor_missing(doctor, true, "io_uring operations", "allow io_uring_register in the seccomp profile", "cannot be asked for");
		return;
	}
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		snprintf(name, sizeof(name), "io_uring %s", operations[i].name);
		if (io_uring_opcode_supported(probe, operations[i].operation)) {
			doctor_ok(doctor, name, "works");
			continue;
		}
		if (operations[i].is_needed)
			doctor_missing(doctor, true, name, "use a newer kernel (6.0 or newer serves)", "needs kernel %s", operations[i].since);
		else
			doctor_missing(doctor, false, name, "nothing to do: threads are woken by futex(2); kernel 6.7 and newer have it",
				       "needs kernel %s", operations[i].since);
	}
	io_uring_free_probe(probe);
}

static void check_buffers(struct doctor *doctor, struct io_uring *ring)
{
	struct io_uring_buf_reg reg = { .bgid = 1, .ring_entries = 8 };
	size_t size = 4096;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret = -ENOMEM;

	if (memory != MAP_FAILED) {
		reg.ring_addr = (uint64_t)(uintptr_t)memory;
		ret = io_uring_register_buf_ring(ring, &reg, 0);
	}
	if (ret == 0)
		doctor_ok(doctor, "io_uring buffer ring", "works");
	else
		doctor_missing(doctor, true, "io_uring buffer ring",
			       ret == -ENOMEM ? "raise the limit of locked memory: ulimit -l unlimited (systemd: LimitMEMLOCK=infinity)" :
						"use a newer kernel (5.19 brought it)",
			       "%s", strerror(-ret));
	if (ret == 0)
		io_uring_unregister_buf_ring(ring, 1);
	if (memory != MAP_FAILED)
		munmap(memory, size);
}

void doctor_ring(struct doctor *doctor)
{
	struct io_uring_params params = { .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CLAMP };
	bool has_defer = true;
	struct io_uring ring;
	int ret = io_uring_queue_init_params(8, &ring, &params);

	if (ret == -EINVAL) {
		has_defer = false;
		params = (struct io_uring_params){ .flags = IORING_SETUP_CLAMP };
		ret = io_uring_queue_init_params(8, &ring, &params);
	}
	if (ret < 0) {
		doctor_missing(doctor, true, "io_uring", doctor_ring_remedy(-ret, doctor->io_uring_disabled, doctor->has_seccomp_filter),
			       "io_uring_setup: %s", strerror(-ret));
		return;
	}
	doctor_ok(doctor, "io_uring", "io_uring_setup works");
	if (has_defer)
		doctor_ok(doctor, "io_uring deferred work", "SINGLE_ISSUER and DEFER_TASKRUN work");
	else
		doctor_missing(doctor, false, "io_uring deferred work", "nothing to do: it is slower without; kernel 6.1 and newer have it",
			       "needs kernel 6.1");
	check_operations(doctor, &ring);
	check_buffers(doctor, &ring);
	io_uring_queue_exit(&ring);
}
