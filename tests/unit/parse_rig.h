/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_rig.h: runs bytes through the parser in pieces and writes down what
 * came of them, for unit tests and fuzzers: two ways of cutting the same bytes
 * must give the same text.
 */
#ifndef TESTS_PARSE_RIG_H
#define TESTS_PARSE_RIG_H

#include <stddef.h>

#include "daemon/config.h"
#include "daemon/request.h"

struct rig_cut {
	size_t first; /* bytes of the first piece, 0 = like the others */
	size_t step;  /* bytes of each other piece, 0 = all that is left */
};

/* The defaults of SPEC 2. */
struct config rig_config(void);

/* A peer of 192.0.2.1, port 5000. */
extern const struct endpoint rig_peer;
struct endpoint rig_endpoint(const char *addr, const char *port);

/*
 * All requests in data, until the bytes end or one is refused. The text, malloc'ed, a request each:
 *
 *   POST /a%20b?x HTTP/1.1 keep-alive length=3
 *   path=/a b query=x host=localhost client=192.0.2.1:5000 scheme=http
 *   Host: localhost
 *   Content-Length: 3
 *   body=abc
 *   done
 *
 * with "refused 400 Bad Request: why" or "more" (the bytes ended) in place of what did not come; a NUL is
 * written as \0.
 */
char *rig_run(const struct config *config, const struct endpoint *peer, const char *data, size_t len, struct rig_cut cut);

#endif
