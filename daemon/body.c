/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.c: see body.h. The file is written a block at a time, one write
 * underway; blocks that wait behind it are few, because reading stops.
 */
#include "body.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "conn.h"
#include "engine.h"
#include "log.h"
#include "loop.h"

#define BLOCK_BYTES (256u * 1024u)
#define BLOCKS_MAX 4u

struct body_block {
	struct body_block *next;
	size_t len, cap, written;
	uint64_t off;
	bool is_placed; /* off is set */
	char data[];
};

struct body_spill {
	struct body_block *head, *tail; /* head is being written; tail is being filled */
	unsigned count;
	uint64_t off;                   /* of the next block in the file */
	int fd;                         /* the request's, until it has gone: then ours */
	bool is_writing, is_ending, is_dropped;
};

static int file_open(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/ringtail-body-XXXXXX", dir) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
	} else {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0) {
			unlink(path);
			return fd;
		}
	}
	int error = errno;

	log_error("cannot keep a request body in a file of %s: %s (set TMPDIR to a directory that can be written, or raise body-memory)",
		  dir, strerror(error));
	return -error;
}

static struct body_block *block_new(size_t cap)
{
	struct body_block *block = malloc(sizeof(*block) + cap);

	if (block) {
		block->next = NULL;
		block->len = block->written = 0;
		block->off = 0;
		block->is_placed = false;
		block->cap = cap;
	}
	return block;
}

static void block_queue(struct body_spill *spill, struct body_block *block)
{
	if (spill->tail)
		spill->tail->next = block;
	else
		spill->head = block;
	spill->tail = block;
	spill->count++;
}

/* Starts the write of the first block when it is full, or the body is at its end. */
static enum body_verdict write_next(struct loop *loop, struct conn *conn)
{
	struct body_spill *spill = conn->spill;
	struct body_block *block = spill->head;

	if (spill->is_writing || !block || (block->len < block->cap && !spill->is_ending))
		return BODY_OK;
	if (!block->is_placed) {
		block->is_placed = true;
		block->off = spill->off;
		spill->off += block->len;
	}
	if (engine_write(loop->engine, conn_handle(conn), spill->fd, block->data + block->written, block->len - block->written,
			 block->off + block->written))
		return BODY_FAILED;
	spill->is_writing = true;
	conn->inflight++;
	return BODY_OK;
}

static enum body_verdict to_file(struct loop *loop, struct conn *conn, const char *data, size_t len)
{
	struct body_spill *spill = conn->spill;

	conn->req->body.len += len;
	while (len) {
		struct body_block *block = spill->tail;
		size_t n;

		if (!block || block->len == block->cap) {
			block = block_new(BLOCK_BYTES);
			if (!block)
				return BODY_FAILED;
			block_queue(spill, block);
		}
		n = block->cap - block->len < len ? block->cap - block->len : len;
		memcpy(block->data + block->len, data, n);
		block->len += n;
		data += n;
		len -= n;
	}
	if (write_next(loop, conn) == BODY_FAILED)
		return BODY_FAILED;
	return spill->count > BLOCKS_MAX ? BODY_WAIT : BODY_OK;
}

/* Memory is full: what is there becomes the first block of a file. */
static enum body_verdict spill_begin(struct conn *conn)
{
	struct body *body = &conn->req->body;
	struct body_spill *spill = calloc(1, sizeof(*spill));
	struct body_block *block = body->len ? block_new(body->len) : NULL;
	int fd;

	if (!spill || (body->len && !block)) {
		free(spill);
		free(block);
		return BODY_FAILED;
	}
	fd = file_open();
	if (fd < 0) {
		free(spill);
		free(block);
		return BODY_FAILED;
	}
	if (block) {
		memcpy(block->data, body->data, body->len);
		block->len = body->len;
		block_queue(spill, block);
	}
	free(body->data);
	body->data = NULL;
	body->cap = 0;
	body->kind = BODY_FILE;
	body->fd = spill->fd = fd;
	conn->spill = spill;
	return BODY_OK;
}

enum body_verdict body_append(struct loop *loop, struct conn *conn, const char *data, size_t len)
{
	struct request *req = conn->req;
	struct body *body = &req->body;
	uint64_t limit = loop->config->body_memory;

	if (!len)
		return BODY_OK;
	if (body->kind == BODY_FILE)
		return to_file(loop, conn, data, len);
	if (body->len + len > limit)
		return spill_begin(conn) == BODY_FAILED ? BODY_FAILED : to_file(loop, conn, data, len);
	if (body->len + len > body->cap) {
		uint64_t cap = body->cap ? body->cap * 2 : 4096;
		char *grown;

		/* The announced length at once, but not before a first piece of it has come. */
		if (req->has_content_length && cap < req->content_length)
			cap = req->content_length;
		if (cap > limit)
			cap = limit;
		if (cap < body->len + len)
			cap = body->len + len;
		grown = realloc(body->data, cap);
		if (!grown)
			return BODY_FAILED;
		body->data = grown;
		body->cap = cap;
	}
	memcpy(body->data + body->len, data, len);
	body->len += len;
	body->kind = BODY_MEMORY;
	return BODY_OK;
}

enum body_verdict body_end(struct loop *loop, struct conn *conn)
{
	if (!conn->spill)
		return BODY_OK;
	conn->spill->is_ending = true;
	if (write_next(loop, conn) == BODY_FAILED)
		return BODY_FAILED;
	if (conn->spill->head)
		return BODY_WAIT;
	body_drop(conn);
	return BODY_OK;
}

int body_is_ending(const struct conn *conn)
{
	return conn->spill && conn->spill->is_ending;
}

enum body_verdict body_written(struct loop *loop, struct conn *conn, const struct completion *completion)
{
	struct body_spill *spill = conn->spill;
	struct body_block *block = spill->head;

	conn->inflight--;
	spill->is_writing = false;
	if (spill->is_dropped) {
		body_drop(conn);
		return BODY_OK;
	}
	if (completion->res <= 0) {
		if (completion->res == -EINTR || completion->res == -EAGAIN)
			return write_next(loop, conn) == BODY_FAILED ? BODY_FAILED : BODY_WAIT;
		log_error("cannot write a request body to its file in $TMPDIR: %s", strerror(completion->res ? -completion->res : EIO));
		return BODY_FAILED;
	}
	block->written += (size_t)completion->res;
	if (block->written == block->len) {
		spill->head = block->next;
		if (!spill->head)
			spill->tail = NULL;
		spill->count--;
		free(block);
	}
	if (write_next(loop, conn) == BODY_FAILED)
		return BODY_FAILED;
	if (!spill->is_ending)
		return spill->count > BLOCKS_MAX / 2 ? BODY_WAIT : BODY_OK;
	if (spill->head)
		return BODY_WAIT;
	body_drop(conn);
	return BODY_OK;
}

void body_drop(struct conn *conn)
{
	struct body_spill *spill = conn->spill;

	if (!spill)
		return;
	if (spill->is_writing) {
		spill->is_dropped = true;
		return;
	}
	while (spill->head) {
		struct body_block *block = spill->head;

		spill->head = block->next;
		free(block);
	}
	free(spill);
	conn->spill = NULL;
}
