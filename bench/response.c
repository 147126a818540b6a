/* SPDX-License-Identifier: Apache-2.0 */
/* response.c: see response.h. */
#include "response.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#define HEAD_BYTES 8192u
#define NOT_A_RESPONSE SIZE_MAX

void response_begin(struct response *response)
{
	response->part = PART_HEAD;
	response->kept_bytes = 0;
	response->status = 0;
	response->closes = false;
}

static bool has_prefix(const char *line, size_t len, const char *name, const char **ret_value)
{
	size_t name_len = strlen(name);

	if (len <= name_len || strncasecmp(line, name, name_len) != 0)
		return false;
	*ret_value = line + name_len;
	return true;
}

static bool head_parse(struct response *response, const char *head, size_t len)
{
	const char *end = head + len, *line, *value;

	if (len < 12 || memcmp(head, "HTTP/1.", 7) != 0)
		return false;
	response->status = atoi(head + 9);
	response->closes = head[7] == '0';
	response->part = PART_UNTIL_CLOSE;
	for (line = memchr(head, '\n', len); line && ++line < end;) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		size_t line_len = next ? (size_t)(next - line) : (size_t)(end - line);

		if ((*line | 0x20) == 'c' || (*line | 0x20) == 't') {
			if (has_prefix(line, line_len, "content-length:", &value)) {
				response->part = PART_BODY;
				response->left = strtoull(value, NULL, 10);
			} else if (has_prefix(line, line_len, "transfer-encoding:", &value)) {
				response->part = PART_SIZE;
			} else if (has_prefix(line, line_len, "connection:", &value)) {
				response->closes = !memmem(value, line_len - 11, "eep", 3);
			}
		}
		line = next;
	}
	if (response->part == PART_UNTIL_CLOSE)
		response->closes = true;
	return true;
}

/*
 * Text up to and with the mark: from data alone, or from what was kept and data together. 0: not there yet, kept.
 * NOT_A_RESPONSE: too long. Else how many bytes of data it took, and the text in ret_text.
 */
static size_t until(struct response *response, const char *data, size_t len, const char *mark, const char **ret_text,
		    size_t *ret_len)
{
	size_t mark_len = strlen(mark), before = response->kept_bytes;
	const char *found;

	if (before == 0) {
		found = memmem(data, len, mark, mark_len);
		if (found) {
			*ret_text = data;
			*ret_len = (size_t)(found - data) + mark_len;
			return *ret_len;
		}
	}
	if (!response->kept)
		response->kept = malloc(HEAD_BYTES);
	if (!response->kept)
		abort();
	if (len > HEAD_BYTES - before)
		len = HEAD_BYTES - before;
	memcpy(response->kept + before, data, len);
	response->kept_bytes += (unsigned)len;
	found = memmem(response->kept, response->kept_bytes, mark, mark_len);
	if (!found)
		return response->kept_bytes == HEAD_BYTES ? NOT_A_RESPONSE : 0;
	*ret_text = response->kept;
	*ret_len = (size_t)(found - response->kept) + mark_len;
	response->kept_bytes = 0;
	return *ret_len - before;
}

enum fed response_feed(struct response *response, const char *data, size_t len)
{
	const char *text;
	size_t used, text_len;

	while (len || (response->part == PART_BODY && response->left == 0)) {
		switch (response->part) {
		case PART_HEAD:
			used = until(response, data, len, "\r\n\r\n", &text, &text_len);
			if (used == 0 || used == NOT_A_RESPONSE)
				return used ? FED_BAD : FED_MORE;
			if (!head_parse(response, text, text_len))
				return FED_BAD;
			break;
		case PART_SIZE:
			used = until(response, data, len, "\r\n", &text, &text_len);
			if (used == 0 || used == NOT_A_RESPONSE)
				return used ? FED_BAD : FED_MORE;
			response->left = strtoull(text, NULL, 16) + 2;
			response->part = response->left == 2 ? PART_TRAILER : PART_CHUNK;
			break;
		case PART_TRAILER:
			used = until(response, data, len, "\r\n", &text, &text_len);
			if (used == 0 || used == NOT_A_RESPONSE)
				return used ? FED_BAD : FED_MORE;
			if (text_len == 2)
				return used == len ? FED_DONE : FED_BAD;
			break;
		case PART_BODY:
		case PART_CHUNK:
			used = response->left < len ? (size_t)response->left : len;
			response->left -= used;
			if (response->left == 0 && response->part == PART_BODY)
				return used == len ? FED_DONE : FED_BAD;
			if (response->left == 0)
				response->part = PART_SIZE;
			break;
		case PART_UNTIL_CLOSE:
		default:
			used = len;
			break;
		}
		data += used;
		len -= used;
	}
	return FED_MORE;
}
