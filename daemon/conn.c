/* SPDX-License-Identifier: Apache-2.0 */
/* conn.c: the table of connections: slabs of 64, last freed first used, so that a busy server walks warm memory. */
#include "conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

#define SLAB 64u
#define GENERATION_MASK 0xffffffu

void conn_table_init(struct conn_table *table)
{
	*table = (struct conn_table){ 0 };
}

void conn_table_done(struct conn_table *table)
{
	for (uint32_t i = 0; i < table->slab_count; i++) {
		for (uint32_t j = 0; j < SLAB; j++)
			free(table->slabs[i][j].stash);
		free(table->slabs[i]);
	}
	free(table->slabs);
	*table = (struct conn_table){ 0 };
}

struct conn *conn_at(struct conn_table *table, uint32_t index)
{
	return &table->slabs[index / SLAB][index % SLAB];
}

static int grow(struct conn_table *table)
{
	struct conn *slab;

	if (table->slab_count == table->slab_cap) {
		uint32_t cap = table->slab_cap ? table->slab_cap * 2 : 16;
		struct conn **slabs = realloc(table->slabs, cap * sizeof(*slabs));

		if (!slabs)
			return -ENOMEM;
		table->slabs = slabs;
		table->slab_cap = cap;
	}
	slab = calloc(SLAB, sizeof(*slab));
	if (!slab)
		return -ENOMEM;
	table->slabs[table->slab_count++] = slab;
	for (uint32_t i = SLAB; i-- > 0;) {
		slab[i].index = table->high + i;
		slab[i].fd = -1;
		slab[i].next_free = table->free;
		table->free = &slab[i];
	}
	table->high += SLAB;
	return 0;
}

struct conn *conn_open(struct conn_table *table, int fd, const struct endpoint *local)
{
	struct conn *conn;
	uint32_t index, generation;

	if (!table->free && grow(table))
		return NULL;
	conn = table->free;
	table->free = conn->next_free;
	table->count++;
	index = conn->index;
	generation = conn->generation;
	memset(conn, 0, offsetof(struct conn, parse));
	conn->parse.blank_lines = 0;
	conn->index = index;
	conn->generation = generation;
	conn->fd = fd;
	conn->state = CONN_IDLE;
	conn->id = ++table->next_id;
	conn->local = local;
	return conn;
}

struct conn *conn_find(struct conn_table *table, uint64_t handle)
{
	uint32_t index = (uint32_t)handle;
	struct conn *conn;

	if (index >= table->high)
		return NULL;
	conn = conn_at(table, index);
	if (conn->state == CONN_FREE || conn->generation != (uint32_t)(handle >> 32))
		return NULL;
	return conn;
}

void conn_read_peer(struct conn *conn)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage storage;
	} sa;
	socklen_t len = sizeof(sa);
	struct endpoint *peer = &conn->peer;
	unsigned port = 0;

	memset(peer, 0, sizeof(*peer));
	peer->family = AF_UNIX;
	if (getpeername(conn->fd, &sa.any, &len))
		return;
	peer->family = (uint8_t)sa.any.sa_family;
	if (sa.any.sa_family == AF_INET) {
		memcpy(peer->ip, &sa.in.sin_addr, 4);
		port = ntohs(sa.in.sin_port);
	} else if (sa.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&sa.in6.sin6_addr)) {
		/* A dual-stack listener: the application sees the client as it would on an IPv4 one. */
		peer->family = AF_INET;
		memcpy(peer->ip, &sa.in6.sin6_addr.s6_addr[12], 4);
		port = ntohs(sa.in6.sin6_port);
	} else if (sa.any.sa_family == AF_INET6) {
		memcpy(peer->ip, &sa.in6.sin6_addr, 16);
		port = ntohs(sa.in6.sin6_port);
	} else {
		return;
	}
	inet_ntop(peer->family, peer->ip, peer->addr, sizeof(peer->addr));
	peer->addr_len = (uint8_t)strlen(peer->addr);
	peer->port_len = (uint8_t)snprintf(peer->port, sizeof(peer->port), "%u", port);
}

int conn_stash(struct conn *conn, const char *data, size_t len)
{
	size_t need;

	if (conn->stash_off) {
		memmove(conn->stash, conn->stash + conn->stash_off, conn->stash_len - conn->stash_off);
		conn->stash_len -= conn->stash_off;
		conn->stash_off = 0;
	}
	need = (size_t)conn->stash_len + len;
	if (need > conn->stash_cap) {
		size_t cap = conn->stash_cap ? conn->stash_cap : 4096;
		char *stash;

		while (cap < need)
			cap *= 2;
		stash = realloc(conn->stash, cap);
		if (!stash)
			return -ENOMEM;
		conn->stash = stash;
		conn->stash_cap = (uint32_t)cap;
	}
	memcpy(conn->stash + conn->stash_len, data, len);
	conn->stash_len += (uint32_t)len;
	return 0;
}

void conn_stash_drop(struct conn *conn)
{
	free(conn->stash);
	conn->stash = NULL;
	conn->stash_len = conn->stash_off = conn->stash_cap = 0;
}

void conn_shut(struct conn *conn, bool is_reset)
{
	static const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	if (conn->fd < 0)
		return;
	/*
	 * TCP is disconnected, not closed with SO_LINGER 0 behind a shutdown: the FIN of the latter comes first, and what the
	 * peer has read is then complete. A unix socket knows no reset.
	 */
	if (!is_reset || connect(conn->fd, &nobody, sizeof(nobody)))
		shutdown(conn->fd, SHUT_RDWR);
}

void conn_close(struct conn *conn)
{
	if (conn->fd < 0)
		return;
	close(conn->fd);
	conn->fd = -1;
}

void conn_reap(struct conn_table *table, struct conn *conn)
{
	CHECK(conn->state == CONN_CLOSED && !conn->inflight && !conn->req && conn->fd < 0 && !conn->out_head);
	conn_stash_drop(conn);
	conn->state = CONN_FREE;
	conn->generation = (conn->generation + 1) & GENERATION_MASK;
	conn->next_free = table->free;
	table->free = conn;
	table->count--;
}

const char *conn_close_text(enum conn_close reason)
{
	static const char *const texts[CONN_CLOSES] = {
		[CONN_CLOSE_NONE] = NULL,
#define X(id, text) [CONN_CLOSE_##id] = text,
		CONN_CLOSE_REASONS(X)
#undef X
	};

	return texts[reason];
}
