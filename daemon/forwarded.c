/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forwarded.c: what a request means: mount point, path, client, scheme, host.
 *
 * Loop thread. The table of trusted networks is filled by forwarded_start and
 * read-only afterwards. Texts point into req->head where the bytes are there as
 * they are wanted (the head no longer moves once it is complete), else into the
 * request's arena.
 *
 * Who is believed. X-Forwarded-For is walked from its right end, the side that
 * the nearest proxy wrote: trusted addresses are passed over, the first other
 * one is the client; what is no address ends the walk, and the last address
 * before it (or the peer) stands. Of X-Forwarded-Proto, -Host and -Prefix, which
 * proxies set rather than append, the last list element counts: the only one
 * that a trusted proxy is known to have written. In Forwarded the parameters of
 * an element belong together: proto and host come from the element of the
 * client, or from the nearest one to its right that has them.
 */
#include "forwarded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "cidr.h"
#include "config.h"
#include "forwarded_line.h"
#include "parse_target.h"
#include "request.h"

#define TEXT(literal) ((struct text){ literal, sizeof(literal) - 1 })

/* Elements of one Forwarded line that are looked at, from the right: a longer chain of proxies does not exist. */
#define FORWARDED_ELEMENTS 32

#define REQUEST_ID_MAX 128u

static struct {
	struct cidr *nets;
	size_t count;
	bool is_unix;
} trusted;

int forwarded_start(const struct config *config, const char **ret_bad)
{
	const struct config_list *list = &config->trusted_proxies;
	struct cidr *nets = NULL;
	size_t count = 0;
	bool is_unix = false;

	if (list->count > 0) {
		nets = calloc(list->count, sizeof(*nets));
		if (nets == NULL)
			return -ENOMEM;
	}
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i], "unix") == 0) {
			is_unix = true;
		} else if (cidr_parse(list->items[i], &nets[count]) == 0) {
			count++;
		} else {
			*ret_bad = list->items[i];
			free(nets);
			return -EINVAL;
		}
	}
	free(trusted.nets);
	trusted.nets = nets;
	trusted.count = count;
	trusted.is_unix = is_unix;
	return 0;
}

static bool is_trusted_ip(const struct ip *ip)
{
	for (size_t i = 0; i < trusted.count; i++)
		if (cidr_has(&trusted.nets[i], ip))
			return true;
	return false;
}

bool forwarded_is_trusted(const struct endpoint *peer)
{
	struct ip ip;

	if (peer->family == AF_UNIX)
		return trusted.is_unix;
	if (trusted.count == 0)
		return false;
	ip = ip_make(peer->family, peer->ip);
	return is_trusted_ip(&ip);
}

/* The elements of all fields of one name, last first. */
struct walk {
	const struct request *req;
	struct text name;
	uint32_t left;  /* fields not yet looked at */
	struct text rest; /* of the present field; ptr NULL = take the next one */
};

static struct walk walk_begin(const struct request *req, struct text name)
{
	return (struct walk){ .req = req, .name = name, .left = req->header_count };
}

/* The field before the last one that was returned, whole. */
static bool walk_line(struct walk *walk, struct text *ret_line)
{
	while (walk->left > 0) {
		const struct header *header = &walk->req->headers[--walk->left];

		if (header->name.len == walk->name.len &&
		    strncasecmp(request_ptr(walk->req, header->name), walk->name.ptr, walk->name.len) == 0) {
			*ret_line = (struct text){ request_ptr(walk->req, header->value), header->value.len };
			return true;
		}
	}
	return false;
}

static struct text trim(struct text text)
{
	while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t')) {
		text.ptr++;
		text.len--;
	}
	while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* Empty elements do not count (RFC 9110 5.6.1). */
static bool walk_element(struct walk *walk, struct text *ret_element)
{
	while (walk->rest.ptr != NULL || walk_line(walk, &walk->rest)) {
		struct text rest = walk->rest;
		const char *comma = rest.len > 0 ? memrchr(rest.ptr, ',', rest.len) : NULL;
		struct text element = rest;

		if (comma != NULL) {
			element.ptr = comma + 1;
			element.len = rest.len - (size_t)(element.ptr - rest.ptr);
			walk->rest.len = (size_t)(comma - rest.ptr);
		} else {
			walk->rest.ptr = NULL;
		}
		element = trim(element);
		if (element.len > 0) {
			*ret_element = element;
			return true;
		}
	}
	return false;
}

static bool last_element(const struct request *req, struct text name, struct text *ret_element)
{
	struct walk walk = walk_begin(req, name);

	return walk_element(&walk, ret_element);
}

/* An address with what stands behind it. */
struct node {
	struct ip ip;
	struct text port; /* digits; len 0 = none or obfuscated */
};

static bool set_port(struct node *node, const char *text, size_t len)
{
	unsigned port = 0;

	if (len > 0 && text[0] == '_') /* RFC 7239 6.3 */
		return true;
	if (len == 0 || len > 5)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		port = port * 10 + (unsigned)(text[i] - '0');
	}
	if (port > 65535)
		return false;
	node->port = (struct text){ text, len };
	return true;
}

/* "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]", "[2001:db8::1]:80", and bare "2001:db8::1" as X-Forwarded-For has it. */
static bool node_parse(struct text text, struct node *ret_node)
{
	const char *end = text.ptr + text.len;
	const char *stop;
	struct node node = { 0 };

	if (text.len > 0 && text.ptr[0] == '[') {
		stop = memchr(text.ptr, ']', text.len);
		if (stop == NULL || ip_parse(text.ptr + 1, (size_t)(stop - text.ptr) - 1, &node.ip) < 0 ||
		    memchr(text.ptr, ':', (size_t)(stop - text.ptr)) == NULL)
			return false;
		stop++;
	} else {
		stop = text.len > 0 ? memchr(text.ptr, ':', text.len) : NULL;
		if (stop == NULL || memchr(stop + 1, ':', (size_t)(end - stop) - 1) != NULL)
			stop = end;
		if (ip_parse(text.ptr, (size_t)(stop - text.ptr), &node.ip) < 0)
			return false;
	}
	if (stop < end && (*stop != ':' || !set_port(&node, stop + 1, (size_t)(end - stop) - 1)))
		return false;
	*ret_node = node;
	return true;
}

static int set_client(struct request *req, const struct node *node)
{
	char *addr = request_alloc(req, IP_TEXT_MAX);

	if (addr == NULL)
		return -ENOMEM;
	req->client_addr = (struct text){ addr, ip_format(&node->ip, addr) };
	req->client_port = node->port.len > 0 ? node->port : TEXT("");
	return 0;
}

static void set_scheme(struct request *req, struct text proto)
{
	if (proto.len == 5 && strncasecmp(proto.ptr, "https", 5) == 0)
		req->scheme = TEXT("https");
	else if (proto.len == 4 && strncasecmp(proto.ptr, "http", 4) == 0)
		req->scheme = TEXT("http");
}

static void set_host(struct request *req, struct text host)
{
	if (host.len > 0 && target_host_is_legal(host.ptr, host.len))
		req->forwarded_host = host;
}

static int apply_x(struct request *req, struct text *ret_prefix)
{
	struct walk walk = walk_begin(req, TEXT("X-Forwarded-For"));
	struct text element;
	struct node node, client;
	bool is_found = false;

	while (walk_element(&walk, &element) && node_parse(element, &node)) {
		client = node;
		is_found = true;
		if (!is_trusted_ip(&node.ip))
			break;
	}
	if (is_found && set_client(req, &client) < 0)
		return -ENOMEM;
	if (last_element(req, TEXT("X-Forwarded-Proto"), &element))
		set_scheme(req, element);
	if (last_element(req, TEXT("X-Forwarded-Host"), &element))
		set_host(req, element);
	if (last_element(req, TEXT("X-Forwarded-Prefix"), &element))
		*ret_prefix = element;
	return 0;
}

static int unescape(struct request *req, struct forwarded_value value, struct text *ret_text)
{
	char *copy;

	*ret_text = (struct text){ value.ptr, value.len };
	if (!value.is_escaped)
		return 0;
	copy = request_alloc(req, value.len);
	if (copy == NULL)
		return -ENOMEM;
	*ret_text = (struct text){ copy, forwarded_unescape(value, copy) };
	return 0;
}

/* One Forwarded line from its right end. 1: go on with the line before, 0: the client is found or cannot be, -ENOMEM. */
static int apply_line(struct request *req, struct text line, struct text *proto, struct text *host,
		      struct node *client, bool *is_found)
{
	struct forwarded_element ring[FORWARDED_ELEMENTS];
	int count = forwarded_line_parse(line.ptr, line.len, ring, FORWARDED_ELEMENTS);

	if (count < 0)
		return 0;
	for (int i = count - 1; i >= 0; i--) {
		const struct forwarded_element *element = &ring[i % FORWARDED_ELEMENTS];
		struct text text;
		struct node node;

		if (i < count - FORWARDED_ELEMENTS)
			return 0;
		if (element->proto.ptr != NULL && unescape(req, element->proto, proto) < 0)
			return -ENOMEM;
		if (element->host.ptr != NULL && unescape(req, element->host, host) < 0)
			return -ENOMEM;
		if (element->node.ptr == NULL)
			return 0;
		if (unescape(req, element->node, &text) < 0)
			return -ENOMEM;
		if (!node_parse(text, &node)) /* "unknown", "_obfuscated" */
			return 0;
		*client = node;
		*is_found = true;
		if (!is_trusted_ip(&node.ip))
			return 0;
	}
	return 1;
}

static int apply_forwarded(struct request *req)
{
	struct walk walk = walk_begin(req, TEXT("Forwarded"));
	struct text proto = { 0 }, host = { 0 }, line;
	struct node client;
	bool is_found = false;
	int r = 1;

	while (r > 0 && walk_line(&walk, &line)) {
		r = apply_line(req, line, &proto, &host, &client, &is_found);
		if (r < 0)
			return r;
	}
	if (is_found && set_client(req, &client) < 0)
		return -ENOMEM;
	set_scheme(req, proto);
	set_host(req, host);
	return 0;
}

static void apply_id(struct request *req)
{
	struct walk walk = walk_begin(req, TEXT("X-Request-ID"));
	struct text id;

	if (!walk_line(&walk, &id) || id.len == 0 || id.len > REQUEST_ID_MAX)
		return;
	for (size_t i = 0; i < id.len; i++)
		if (id.ptr[i] <= 0x20 || id.ptr[i] >= 0x7f)
			return;
	req->id = id;
}

/* A prefix "//host" would make an application's redirects lead to another host. */
static bool prefix_is_legal(struct text prefix)
{
	if (prefix.len == 0 || prefix.ptr[0] != '/' || (prefix.len > 1 && prefix.ptr[1] == '/'))
		return false;
	for (size_t i = 0; i < prefix.len; i++)
		if (prefix.ptr[i] <= 0x20 || prefix.ptr[i] >= 0x7f || prefix.ptr[i] == '?' || prefix.ptr[i] == '#')
			return false;
	return true;
}

static struct text without_slashes(struct text path)
{
	while (path.len > 0 && path.ptr[path.len - 1] == '/')
		path.len--;
	return path;
}

static int decode(struct request *req, struct text encoded, struct text *ret_text)
{
	char *copy;

	if (encoded.len == 0 || memchr(encoded.ptr, '%', encoded.len) == NULL) {
		*ret_text = encoded;
		return 0;
	}
	copy = request_alloc(req, encoded.len);
	if (copy == NULL)
		return -ENOMEM;
	*ret_text = (struct text){ copy, target_decode(copy, encoded.ptr, encoded.len) };
	return 0;
}

/* Strips script-name off path_info, on a segment's boundary. */
static int apply_script_name(const struct config *config, struct request *req)
{
	struct text script = { config->script_name, config->script_name ? strlen(config->script_name) : 0 };
	struct text path = req->path_info;

	script = without_slashes(script);
	if (script.len == 0)
		return 0;
	req->script_name = script;
	if (path.len == 0) /* OPTIONS *: the server as a whole */
		return 0;
	if (path.len < script.len || memcmp(path.ptr, script.ptr, script.len) != 0 ||
	    (path.len > script.len && path.ptr[script.len] != '/'))
		return -ENOENT;
	req->path_info = (struct text){ path.ptr + script.len, path.len - script.len };
	return 0;
}

static int apply_prefix(struct request *req, struct text prefix)
{
	struct text script = req->script_name;
	char *joined;

	if (!prefix_is_legal(prefix))
		return 0;
	if (decode(req, prefix, &prefix) < 0)
		return -ENOMEM;
	prefix = without_slashes(prefix);
	if (prefix.len == 0)
		return 0;
	if (script.len == 0) {
		req->script_name = prefix;
		return 0;
	}
	joined = request_alloc(req, prefix.len + script.len);
	if (joined == NULL)
		return -ENOMEM;
	memcpy(joined, prefix.ptr, prefix.len);
	memcpy(joined + prefix.len, script.ptr, script.len);
	req->script_name = (struct text){ joined, prefix.len + script.len };
	return 0;
}

/* PEP 3333, RFC 3875 4.1.5: PATH_INFO is empty or begins with '/'. So "OPTIONS *" gives ""; RAW_URI tells the rest. */
static int apply_target(struct request *req)
{
	const char *text = request_ptr(req, req->target);
	size_t method_len = req->method.len;
	bool is_options = method_len == 7 && memcmp(request_ptr(req, req->method), "OPTIONS", 7) == 0;
	struct target target;

	if (target_parse(text, req->target.len, is_options, &target) < 0)
		return -EINVAL;
	req->forwarded_host = (struct text){ 0 };
	req->path_info = TEXT("");
	if (target.form == TARGET_ASTERISK)
		return 0;
	/* RFC 9112 3.2.2: the host of an absolute target replaces Host. */
	if (target.form == TARGET_ABSOLUTE)
		req->forwarded_host = (struct text){ text + target.authority, target.authority_len };
	if (target.path_len == 0) {
		req->path_info = TEXT("/");
		return 0;
	}
	return decode(req, (struct text){ text + target.path, target.path_len }, &req->path_info);
}

int forwarded_apply(const struct config *config, struct request *req)
{
	struct text prefix = { 0 };
	int r;

	r = apply_target(req);
	if (r < 0)
		return r;
	req->script_name = TEXT("");
	req->client_addr = (struct text){ req->peer->addr, req->peer->addr_len };
	req->client_port = (struct text){ req->peer->port, req->peer->port_len };
	req->scheme = TEXT("http");
	req->id = (struct text){ 0 };
	r = apply_script_name(config, req);
	if (r < 0 || !forwarded_is_trusted(req->peer))
		return r;
	apply_id(req);
	r = config->forwarded_headers == FORWARDED_X ? apply_x(req, &prefix) : apply_forwarded(req);
	if (r < 0)
		return r;
	return apply_prefix(req, prefix);
}
