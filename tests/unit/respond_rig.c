/* SPDX-License-Identifier: Apache-2.0 */
/* respond_rig.c: see respond_rig.h. */
#include "respond_rig.h"

struct returns returns;
struct request_pool pool;
struct request *req;

char wire[1 << 16];
size_t wire_len;
uint32_t wire_flags; /* of all buffers */
unsigned wire_bufs;

void setup(void)
{
	ck_assert_int_eq(returns_init(&returns), 0);
	request_pool_init(&pool, 4);
	pool.returns = &returns;
	pool.send_buffer = 1000;
	req = request_new(&pool, NULL, NULL);
	ck_assert_ptr_nonnull(req);
	req->version_minor = 1;
	wire_len = 0;
	wire_flags = 0;
	wire_bufs = 0;
}

void teardown(void)
{
	struct outbuf *out = returns_take(&returns), *next;

	for (; out; out = next) {
		next = out->next;
		outbuf_free(out);
	}
	if (req->resp.cur)
		outbuf_free(req->resp.cur);
	request_free(req);
	request_pool_done(&pool);
	returns_done(&returns);
}

void take(void)
{
	struct outbuf *out = returns_take(&returns), *next;

	for (; out; out = next) {
		next = out->next;
		ck_assert_ptr_eq(out->req, req);
		if (out->flags & OUT_HEAD)
			ck_assert_uint_eq(out->start, OUT_HEADROOM);
		memcpy(wire + wire_len, out->data + out->start, out->end - out->start);
		wire_len += out->end - out->start;
		if (out->flags & OUT_FILE)
			wire_len += (size_t)sprintf(wire + wire_len, "<%llu+%llu>", (unsigned long long)out->file_off,
						    (unsigned long long)out->file_len);
		wire_flags |= out->flags & ~(uint32_t)OUT_EMBEDDED;
		wire_bufs++;
		respond_sent(req, out->charged);
		outbuf_free(out);
	}
	wire[wire_len] = '\0';
}

void header(const char *name, const char *value)
{
	ck_assert_int_eq(respond_header(req, name, strlen(name), value, strlen(value)), 0);
}

void start(const char *status)
{
	ck_assert_int_eq(respond_start(req, status, strlen(status)), 0);
}

void put(const char *text)
{
	ck_assert_int_eq(respond_write(req, text, strlen(text)), 0);
}

void expect(const char *bytes, uint32_t flags, unsigned bufs)
{
	take();
	ck_assert_str_eq(wire, bytes);
	ck_assert_uint_eq(wire_flags, flags);
	ck_assert_uint_eq(wire_bufs, bufs);
	ck_assert_uint_eq(atomic_load(&req->buffered), 0);
}
