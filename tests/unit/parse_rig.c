/* SPDX-License-Identifier: Apache-2.0 */
/* parse_rig.c: see parse_rig.h. Aborts where the parser breaks its contract. */
#include "parse_rig.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/check.h"
#include "daemon/parse.h"

const struct endpoint rig_peer = {
	.addr = "192.0.2.1", .port = "5000", .addr_len = 9, .port_len = 4, .family = AF_INET, .ip = { 192, 0, 2, 1 },
};

struct config rig_config(void)
{
	struct config config;

	memset(&config, 0, sizeof(config));
	config.max_uri = 8192;
	config.max_header_bytes = 32768;
	config.max_headers = 100;
	config.max_body = 16u << 20;
	return config;
}

struct endpoint rig_endpoint(const char *addr, const char *port)
{
	struct endpoint endpoint;

	memset(&endpoint, 0, sizeof(endpoint));
	endpoint.family = strchr(addr, ':') ? AF_INET6 : AF_INET;
	CHECK(inet_pton(endpoint.family, addr, endpoint.ip) == 1);
	endpoint.addr_len = (uint8_t)snprintf(endpoint.addr, sizeof(endpoint.addr), "%s", addr);
	endpoint.port_len = (uint8_t)snprintf(endpoint.port, sizeof(endpoint.port), "%s", port);
	return endpoint;
}

/* The bytes still to come, a piece at a time; what a piece has left over is given again, as the loop does. */
struct feed {
	char *piece; /* a copy of its own, so that a read behind it is seen by ASan */
	size_t piece_len;
	size_t piece_used;
	const char *data;
	size_t len;
	struct rig_cut cut;
	bool is_begun;
};

static bool feed_next(struct feed *feed)
{
	size_t take = feed->cut.step;

	if (feed->piece_used < feed->piece_len)
		return true;
	free(feed->piece);
	feed->piece = NULL;
	feed->piece_len = 0;
	feed->piece_used = 0;
	if (feed->len == 0)
		return false;
	if (!feed->is_begun && feed->cut.first > 0)
		take = feed->cut.first;
	feed->is_begun = true;
	if (take == 0 || take > feed->len)
		take = feed->len;
	feed->piece = malloc(take);
	CHECK(feed->piece != NULL);
	memcpy(feed->piece, feed->data, take);
	feed->piece_len = take;
	feed->data += take;
	feed->len -= take;
	return true;
}

static const char *feed_ptr(const struct feed *feed)
{
	return feed->piece != NULL ? feed->piece + feed->piece_used : "";
}

static void put(FILE *out, const char *label, const char *ptr, size_t len)
{
	fputs(label, out);
	for (size_t i = 0; i < len; i++) {
		if (ptr[i] == '\0')
			fputs("\\0", out);
		else
			fputc(ptr[i], out);
	}
}

static void put_span(FILE *out, const char *label, const struct request *req, struct span span)
{
	CHECK(span.off <= req->head_len && span.len <= req->head_len - span.off);
	put(out, label, request_ptr(req, span), span.len);
}

static void put_head(FILE *out, const struct request *req)
{
	CHECK(req->block_hash != 0 && req->block.off + req->block.len == req->head_len);
	put_span(out, "", req, req->method);
	put_span(out, " ", req, req->target);
	fprintf(out, " HTTP/1.%u", req->version_minor);
	if (req->is_keepalive)
		fputs(" keep-alive", out);
	if (req->is_head)
		fputs(" head", out);
	if (req->expects_continue)
		fputs(" continue", out);
	if (req->is_chunked)
		fputs(" chunked", out);
	if (req->has_content_length)
		fprintf(out, " length=%llu", (unsigned long long)req->content_length);
	if (req->dropped_names > 0)
		fprintf(out, " dropped=%u", req->dropped_names);
	if (req->script_name.len > 0)
		put(out, "\nscript=", req->script_name.ptr, req->script_name.len);
	put(out, "\npath=", req->path_info.ptr, req->path_info.len);
	put_span(out, " query=", req, req->query);
	put_span(out, " host=", req, req->host);
	if (req->forwarded_host.len > 0)
		put(out, " forwarded-host=", req->forwarded_host.ptr, req->forwarded_host.len);
	put(out, " client=", req->client_addr.ptr, req->client_addr.len);
	put(out, ":", req->client_port.ptr, req->client_port.len);
	put(out, " scheme=", req->scheme.ptr, req->scheme.len);
	if (req->id.len > 0)
		put(out, " id=", req->id.ptr, req->id.len);
	fputc('\n', out);
	for (uint32_t i = 0; i < req->header_count; i++) {
		put_span(out, "", req, req->headers[i].name);
		put_span(out, ": ", req, req->headers[i].value);
		fputc('\n', out);
	}
}

static enum parse_verdict run_head(struct feed *feed, struct parse *parse)
{
	enum parse_verdict verdict = PARSE_MORE;

	while (verdict == PARSE_MORE && feed_next(feed)) {
		size_t left = feed->piece_len - feed->piece_used;
		size_t used;

		verdict = parse_head(parse, feed_ptr(feed), left, &used);
		CHECK(used <= left && (verdict != PARSE_MORE || used == left));
		feed->piece_used += used;
	}
	return verdict;
}

static enum parse_verdict run_body(FILE *out, struct feed *feed, struct parse *parse)
{
	enum parse_verdict verdict = PARSE_MORE;
	uint64_t seen = 0;

	fputs("body=", out);
	while (verdict == PARSE_MORE || verdict == PARSE_DATA) {
		const char *data = NULL;
		size_t data_len = 0, used, left;

		/* After data also with nothing left: the contract of parse_body. */
		if (!feed_next(feed) && verdict == PARSE_MORE)
			break;
		left = feed->piece_len - feed->piece_used;
		verdict = parse_body(parse, feed_ptr(feed), left, &used, &data, &data_len);
		CHECK(used <= left && (verdict != PARSE_MORE || used == left));
		if (verdict == PARSE_DATA) {
			CHECK(data_len > 0 && data >= feed_ptr(feed) && data + data_len <= feed_ptr(feed) + used);
			put(out, "", data, data_len);
			seen += data_len;
		}
		CHECK(verdict == PARSE_REFUSED || seen == parse->body_seen);
		feed->piece_used += used;
	}
	fputc('\n', out);
	return verdict;
}

char *rig_run(const struct config *config, const struct endpoint *peer, const char *data, size_t len, struct rig_cut cut)
{
	struct feed feed = { .data = data, .len = len, .cut = cut };
	enum parse_verdict verdict = PARSE_DONE;
	struct request_pool pool;
	struct parse parse = { 0 };
	char *text = NULL;
	size_t text_len;
	FILE *out = open_memstream(&text, &text_len);

	CHECK(out != NULL);
	request_pool_init(&pool, 0);
	while (verdict == PARSE_DONE && feed_next(&feed)) {
		struct request *req = request_new(&pool, NULL, NULL);

		CHECK(req != NULL);
		req->peer = peer;
		req->local = peer;
		parse_reset(&parse, config, req);
		verdict = run_head(&feed, &parse);
		if (verdict == PARSE_HEAD || verdict == PARSE_DONE)
			put_head(out, req);
		if (verdict == PARSE_HEAD)
			verdict = run_body(out, &feed, &parse);
		if (verdict == PARSE_REFUSED)
			fprintf(out, "refused %s: %s\n", parse_refusal_status(parse.refusal), parse.detail);
		else
			fputs(verdict == PARSE_DONE ? "done\n" : "more\n", out);
		request_free(req);
	}
	free(feed.piece);
	request_pool_done(&pool);
	fclose(out);
	return text;
}
