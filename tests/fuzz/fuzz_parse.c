/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_parse.c: any bytes through the parser. The property, beside what the
 * sanitizers see: in one piece, byte by byte and in pieces of another size the
 * same requests and the same refusal come out.
 *
 * Byte 0 of an input chooses limits, mount point and trust; byte 1 the size of
 * the pieces; the rest is what a client sends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/check.h"
#include "daemon/forwarded.h"
#include "tests/unit/parse_rig.h"
#include "fuzz.h"

static struct config choose(uint8_t bits)
{
	static const char *const nets[] = { "192.0.2.0/24", "10.0.0.0/8", "2001:db8::/32" };
	struct config config = rig_config();
	const char *bad;

	if (bits & 1) {
		config.max_uri = 64;
		config.max_header_bytes = 256;
		config.max_headers = 8;
		config.max_body = 16;
	}
	if (bits & 2)
		config.script_name = "/app";
	if (bits & 4) {
		config.trusted_proxies.items = (const char **)nets;
		config.trusted_proxies.count = 3;
	}
	if (bits & 8)
		config.forwarded_headers = FORWARDED_RFC7239;
	if (bits & 16)
		config.max_body = 0;
	CHECK(forwarded_start(&config, &bad) == 0);
	return config;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct config config;
	const char *bytes = (const char *)data + 2;
	size_t steps[2];
	char *whole, *other;

	if (len < 2)
		return 0;
	len -= 2;
	config = choose(data[0]);
	steps[0] = 1;
	steps[1] = data[1] ? data[1] : 1024;
	whole = rig_run(&config, &rig_peer, bytes, len, (struct rig_cut){ 0, 0 });
	for (unsigned i = 0; i < 2; i++) {
		other = rig_run(&config, &rig_peer, bytes, len, (struct rig_cut){ 0, steps[i] });
		if (strcmp(whole, other) != 0) {
			fprintf(stderr, "as a whole:\n%s\nin pieces of %zu:\n%s\n", whole, steps[i], other);
			abort();
		}
		free(other);
	}
	free(whole);
	return 0;
}
