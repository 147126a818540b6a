/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h: what the code under test writes to standard error, as a string. One thread. */
#ifndef RINGTAIL_TESTS_CAPTURE_H
#define RINGTAIL_TESTS_CAPTURE_H

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct capture {
	int fd;
	int saved;
	char text[8192];
};

static inline void capture_start(struct capture *capture)
{
	fflush(stderr);
	capture->fd = memfd_create("capture", MFD_CLOEXEC);
	ck_assert_int_ge(capture->fd, 0);
	capture->saved = dup(STDERR_FILENO);
	dup2(capture->fd, STDERR_FILENO);
}

static inline const char *capture_stop(struct capture *capture)
{
	ssize_t len;

	fflush(stderr);
	dup2(capture->saved, STDERR_FILENO);
	close(capture->saved);
	len = pread(capture->fd, capture->text, sizeof(capture->text) - 1, 0);
	ck_assert_int_ge(len, 0);
	capture->text[len] = 0;
	close(capture->fd);
	return capture->text;
}

#endif
