/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind_address.c: the grammar of --bind. Pure functions; any thread.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/bind_address.h"

struct error {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3)))
static int fail(struct error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, error->size, format, args);
	va_end(args);
	return -EINVAL;
}

/* Digits only, up to limit. */
static bool parse_number(const char *text, unsigned long limit, unsigned long *ret_number)
{
	unsigned long number = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return false;
		number = number * 10 + (unsigned long)(*text - '0');
		if (number > limit)
			return false;
	}
	*ret_number = number;
	return true;
}

static int parse_port(const char *whole, const char *text, uint16_t *ret_port, struct error *error)
{
	unsigned long port;

	if (!parse_number(text, 65535, &port))
		return fail(error, "'%.200s': '%.40s' is no port (0 to 65535)", whole, text);
	*ret_port = (uint16_t)port;
	return 0;
}

static int parse_unix_word(const char *whole, const char *word, size_t len, struct bind_address *address, struct error *error)
{
	char text[128];
	const char *value;

	snprintf(text, sizeof(text), "%.*s", (int)len, word);
	value = strchr(text, '=');
	if (value && len < sizeof(text)) {
		size_t key = (size_t)(value++ - text);

		if (key == 4 && strncmp(text, "mode", 4) == 0) {
			char *end;
			unsigned long mode = strtoul(value, &end, 8);

			if (!isdigit((unsigned char)*value) || *end || mode > 0777)
				return fail(error, "'%.200s': '%.40s' is no mode (octal, as mode=0660)", whole, value);
			address->mode = (int)mode;
			return 0;
		}
		if (key == 5 && strncmp(text, "owner", 5) == 0 && *value && strlen(value) < sizeof(address->owner)) {
			strcpy(address->owner, value);
			return 0;
		}
		if (key == 5 && strncmp(text, "group", 5) == 0 && *value && strlen(value) < sizeof(address->group)) {
			strcpy(address->group, value);
			return 0;
		}
	}
	return fail(error, "'%.200s': '%.60s' is none of mode=OCTAL, owner=USER, group=GROUP", whole, text);
}

static int parse_unix(const char *whole, const char *rest, struct bind_address *address, struct error *error)
{
	size_t len = strcspn(rest, ",");
	int ret = 0;

	address->kind = BIND_UNIX;
	address->mode = BIND_UNIX_MODE;
	if (rest[0] != '/' || len < 2)
		return fail(error, "'%.200s': a unix socket needs an absolute path (unix:/run/mysite.sock)", whole);
	if (len >= sizeof(address->path))
		return fail(error, "'%.200s': the path is longer than the %zu bytes that a unix socket may have", whole, sizeof(address->path) - 1);
	memcpy(address->path, rest, len);
	address->path[len] = 0;
	for (rest += len; *rest == ',' && ret == 0; rest += len) {
		rest++;
		len = strcspn(rest, ",");
		ret = parse_unix_word(whole, rest, len, address, error);
	}
	return ret;
}

static int parse_tcp(const char *whole, struct bind_address *address, struct error *error)
{
	unsigned char binary[16];
	const char *colon = strrchr(whole, ':');
	unsigned long number;
	size_t len;

	if (parse_number(whole, 65535, &number))
		return fail(error, "'%s': write :%s for all addresses, or 127.0.0.1:%s", whole, whole, whole);
	if (whole[0] == '[') {
		const char *end = strchr(whole, ']');
		char *percent;

		if (!end || end[1] != ':')
			return fail(error, "'%.200s' is not of the form [ADDRESS]:PORT", whole);
		len = (size_t)(end - whole) - 1;
		snprintf(address->host, sizeof(address->host), "%.*s", (int)len, whole + 1);
		percent = strchr(address->host, '%');
		if (percent)
			*percent = 0;
		if (len >= sizeof(address->host) || inet_pton(AF_INET6, address->host, binary) != 1)
			return fail(error, "'%.200s': '%.100s' is no IPv6 address", whole, address->host);
		if (percent)
			*percent = '%';
		return parse_port(whole, end + 2, &address->port, error);
	}
	if (inet_pton(AF_INET6, whole, binary) == 1 || (colon && memchr(whole, ':', (size_t)(colon - whole))))
		return fail(error, "'%.200s': an IPv6 address stands in brackets, with a port: [::1]:8000", whole);
	if (!colon)
		return fail(error, "'%.200s' names no port (%.200s:8000?)", whole, whole);
	len = (size_t)(colon - whole);
	if (len >= sizeof(address->host))
		return fail(error, "'%.100s...': the host's name is longer than 255 bytes", whole);
	memcpy(address->host, whole, len);
	address->host[len] = 0;
	if (strcmp(address->host, "*") == 0)
		address->host[0] = 0;
	if (strspn(address->host, "0123456789.") == len && len > 0 && inet_pton(AF_INET, address->host, binary) != 1)
		return fail(error, "'%.200s': '%.100s' is no IPv4 address", whole, address->host);
	if (strpbrk(address->host, "/@ \t"))
		return fail(error, "'%.200s' is none of HOST:PORT, [V6]:PORT, :PORT, unix:/PATH, fd:N", whole);
	return parse_port(whole, colon + 1, &address->port, error);
}

int bind_address_parse(const char *text, struct bind_address *ret_address, char *error_text, size_t error_size)
{
	struct bind_address address = { .kind = BIND_TCP, .mode = -1, .fd = -1 };
	struct error error = { error_text, error_size };
	unsigned long fd;
	int ret = 0;

	if (strncmp(text, "unix:", 5) == 0) {
		ret = parse_unix(text, text + 5, &address, &error);
	} else if (strncmp(text, "fd:", 3) == 0 || strncmp(text, "fd://", 5) == 0) {
		address.kind = BIND_FD;
		if (!parse_number(text + 3 + 2 * (text[3] == '/'), 1 << 20, &fd))
			ret = fail(&error, "'%.200s': a number of a file descriptor stands behind fd: (fd:3)", text);
		else
			address.fd = (int)fd;
	} else if (text[0] == '/') {
		ret = fail(&error, "'%.200s': a unix socket is written unix:%.200s", text, text);
	} else if (strncmp(text, "http://", 7) == 0) {
		size_t len = strcspn(text + 7, "/");

		ret = fail(&error, "'%.200s': an address is written without http:// (%.*s)", text, (int)(len < 200 ? len : 200), text + 7);
	} else if (strncmp(text, "https://", 8) == 0) {
		ret = fail(&error, "'%.200s': ringtail does not speak TLS: let a proxy in front do it", text);
	} else {
		ret = parse_tcp(text, &address, &error);
	}
	if (ret == 0)
		*ret_address = address;
	return ret;
}
