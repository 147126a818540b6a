/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_forwarded.c: any line through the grammar of Forwarded, any text through
 * addresses, networks, targets and Host. The properties: values lie inside of
 * the line, unescaping never makes longer, what is formatted parses to itself.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/check.h"
#include "daemon/cidr.h"
#include "daemon/forwarded_line.h"
#include "daemon/parse_target.h"
#include "fuzz.h"

#define ELEMENTS 4

static void check_value(const char *line, size_t len, struct forwarded_value value)
{
	char *copy;

	if (value.ptr == NULL)
		return;
	CHECK(value.ptr >= line && value.ptr + value.len <= line + len);
	copy = malloc(value.len + 1);
	CHECK(copy != NULL && forwarded_unescape(value, copy) <= value.len);
	free(copy);
}

static void run_line(const char *line, size_t len)
{
	struct forwarded_element ring[ELEMENTS];
	int count = forwarded_line_parse(line, len, ring, ELEMENTS);

	for (int i = count - 1; i >= 0 && i >= count - ELEMENTS; i--) {
		const struct forwarded_element *element = &ring[i % ELEMENTS];

		check_value(line, len, element->node);
		check_value(line, len, element->by);
		check_value(line, len, element->host);
		check_value(line, len, element->proto);
	}
}

static void run_address(const char *text, size_t len)
{
	char out[IP_TEXT_MAX];
	struct ip ip, again;
	struct cidr cidr;
	char *copy;

	if (ip_parse(text, len, &ip) == 0) {
		size_t out_len = ip_format(&ip, out);

		CHECK(ip_parse(out, out_len, &again) == 0);
		CHECK(again.family == ip.family && memcmp(again.bytes, ip.bytes, ip.family == 2 ? 4 : 16) == 0);
		CHECK(cidr_parse(out, &cidr) == 0 && cidr_has(&cidr, &ip));
	}
	copy = strndup(text, len);
	CHECK(copy != NULL);
	if (cidr_parse(copy, &cidr) == 0)
		CHECK(cidr_has(&cidr, &cidr.net));
	free(copy);
}

static void run_target(const char *text, size_t len)
{
	char *out = malloc(len + 1);
	struct target target;

	CHECK(out != NULL && target_decode(out, text, len) <= len);
	free(out);
	for (int is_options = 0; is_options < 2; is_options++) {
		if (target_parse(text, len, is_options, &target) < 0)
			continue;
		CHECK(target.authority + target.authority_len <= len && target.path + target.path_len <= len);
		CHECK(target.query + target.query_len <= len);
		CHECK(target_host_is_legal(text + target.authority, target.authority_len));
	}
	target_host_is_legal(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* A copy, so that a read behind it is seen in the replay too. */
	char *text = malloc(len ? len : 1);

	CHECK(text != NULL);
	memcpy(text, data, len);
	run_line(text, len);
	run_address(text, len);
	run_target(text, len);
	free(text);
	return 0;
}
