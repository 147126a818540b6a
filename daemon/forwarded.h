/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forwarded.h: what a trusted proxy says of the client (X-Forwarded-*, or
 * Forwarded, RFC 7239), and script-name. Loop thread; no I/O.
 */
#ifndef RINGTAIL_FORWARDED_H
#define RINGTAIL_FORWARDED_H

#include <stdbool.h>

struct config;
struct endpoint;
struct request;

/* Start-up: compiles trusted-proxies ("10.0.0.0/8", "::1", "unix"). -EINVAL: *ret_bad is the entry that is none. */
int forwarded_start(const struct config *config, const char **ret_bad);

bool forwarded_is_trusted(const struct endpoint *peer);

/*
 * Sets script_name, path_info, client_addr, client_port, scheme, forwarded_host and id of a parsed request. path_info is
 * the percent-decoded path of the target (decoded once). 0, -ENOENT: target outside script-name, -EINVAL: target not
 * legal, -ENOMEM.
 */
int forwarded_apply(const struct config *config, struct request *req);

#endif
