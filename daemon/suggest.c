/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.c: nearest valid name, by the optimal string alignment distance.
 * Pure functions; any thread.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "daemon/suggest.h"

#define LONGEST 63u

static char fold(char c)
{
	return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

static unsigned min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned suggest_distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];
	size_t len_a = strlen(a), len_b = strlen(b);

	if (len_a > LONGEST || len_b > LONGEST)
		return LONGEST + 1;
	for (size_t j = 0; j <= len_b; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= len_a; i++) {
		unsigned *spare = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= len_b; j++) {
			unsigned cost = fold(a[i - 1]) != fold(b[j - 1]);

			row[j] = min2(min2(last[j] + 1, row[j - 1] + 1), last[j - 1] + cost);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]))
				row[j] = min2(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[len_b];
}

void suggest_init(struct suggest *suggest, const char *wrong)
{
	suggest->wrong = wrong;
	suggest->nearest = NULL;
	suggest->distance = LONGEST + 1;
}

/* Up to a third of the letters may be wrong; what a name begins with is as near as one wrong letter ("max-conn"). */
void suggest_offer(struct suggest *suggest, const char *name)
{
	size_t len = strlen(suggest->wrong);
	unsigned distance = suggest_distance(suggest->wrong, name);
	unsigned limit = (unsigned)(len + 2) / 3;

	if (distance > 1 && len >= 3 && strncasecmp(suggest->wrong, name, len) == 0)
		distance = 1;
	if (distance <= limit && distance < suggest->distance) {
		suggest->nearest = name;
		suggest->distance = distance;
	}
}
