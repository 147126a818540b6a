/* SPDX-License-Identifier: Apache-2.0 */
/* escape.c: see escape.h. Clean bytes go eight at a time: nearly every field of a request is clean. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "escape.h"

#define ALL(byte) (0x0101010101010101ull * (byte))
#define ZERO_IN(word) (((word) - ALL(0x01)) & ~(word) & ALL(0x80))

/* Printable ASCII but for the quote and the backslash, in all eight bytes. */
static inline bool is_plain(uint64_t word)
{
	uint64_t bad = word & ALL(0x80);

	bad |= (word - ALL(0x20)) & ~word;
	bad |= ZERO_IN(word ^ ALL(0x22)) | ZERO_IN(word ^ ALL(0x5c)) | ZERO_IN(word ^ ALL(0x7f));
	return (bad & ALL(0x80)) == 0;
}

static inline bool is_plain_byte(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Copies plain bytes; returns how many. */
static inline size_t copy_plain(char *dst, const char *src, size_t len)
{
	size_t at = 0;

	while (len - at >= 8) {
		uint64_t word;

		memcpy(&word, src + at, 8);
		if (!is_plain(word))
			break;
		memcpy(dst + at, &word, 8);
		at += 8;
	}
	for (; at < len && is_plain_byte((unsigned char)src[at]); at++)
		dst[at] = src[at];
	return at;
}

static size_t put_hex(char *dst, unsigned char c)
{
	static const char digits[] = "0123456789ABCDEF";

	dst[0] = '\\';
	dst[1] = 'x';
	dst[2] = digits[c >> 4];
	dst[3] = digits[c & 15];
	return 4;
}

/* Length of the well-formed sequence (Unicode 3.9, table 3-7) that begins at src, 0 = none. len > 0. */
static size_t utf8_length(const unsigned char *src, size_t len)
{
	unsigned char first = src[0], low = 0x80, high = 0xbf;
	size_t want;

	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	want = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (len < want)
		return 0;
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	if (src[1] < low || src[1] > high)
		return 0;
	for (size_t i = 2; i < want; i++)
		if (src[i] < 0x80 || src[i] > 0xbf)
			return 0;
	return want;
}

size_t escape_field(char *dst, const char *src, size_t len)
{
	size_t in = 0, out = 0;

	while (true) {
		size_t plain = copy_plain(dst + out, src + in, len - in);

		in += plain;
		out += plain;
		if (in == len)
			return out;
		out += put_hex(dst + out, (unsigned char)src[in++]);
	}
}

size_t escape_message(char *dst, const char *src, size_t len, int keep_lines)
{
	size_t in = 0, out = 0;

	while (in < len) {
		size_t plain = copy_plain(dst + out, src + in, len - in), sequence;
		unsigned char c;

		in += plain;
		out += plain;
		if (in == len)
			break;
		c = (unsigned char)src[in];
		sequence = utf8_length((const unsigned char *)src + in, len - in);
		/* C1 controls steer terminals as C0 do. */
		if (sequence == 2 && c == 0xc2 && (unsigned char)src[in + 1] < 0xa0)
			sequence = 0;
		if (sequence == 1 && (c < 0x20 || c == 0x7f) && !(keep_lines && (c == '\n' || c == '\t')))
			sequence = 0;
		if (sequence == 0) {
			out += put_hex(dst + out, c);
			in++;
			continue;
		}
		memcpy(dst + out, src + in, sequence);
		in += sequence;
		out += sequence;
	}
	return out;
}

size_t escape_json(char *dst, const char *src, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t in = 0, out = 0;

	while (in < len) {
		size_t plain = copy_plain(dst + out, src + in, len - in), sequence;
		unsigned char c;
		char letter = 0;

		in += plain;
		out += plain;
		if (in == len)
			break;
		c = (unsigned char)src[in];
		switch (c) {
		case '"':
		case '\\':
			letter = (char)c;
			break;
		case '\n':
			letter = 'n';
			break;
		case '\r':
			letter = 'r';
			break;
		case '\t':
			letter = 't';
			break;
		}
		if (letter) {
			dst[out++] = '\\';
			dst[out++] = letter;
			in++;
			continue;
		}
		sequence = utf8_length((const unsigned char *)src + in, len - in);
		if (sequence > 1) {
			memcpy(dst + out, src + in, sequence);
			in += sequence;
			out += sequence;
			continue;
		}
		memcpy(dst + out, "\\u00", 4);
		dst[out + 4] = digits[c >> 4];
		dst[out + 5] = digits[c & 15];
		out += 6;
		in++;
	}
	return out;
}
