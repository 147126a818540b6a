/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.h: the valid name nearest to one that is not. Pure. */
#ifndef RINGTAIL_SUGGEST_H
#define RINGTAIL_SUGGEST_H

#include <stddef.h>

struct suggest {
	const char *wrong;
	const char *nearest; /* NULL while nothing is near enough */
	unsigned distance;
};

void suggest_init(struct suggest *suggest, const char *wrong);

/* Looks whether name is nearer than what was offered before. name must outlive suggest. */
void suggest_offer(struct suggest *suggest, const char *name);

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b; case and '-' against '_' cost nothing. */
unsigned suggest_distance(const char *a, const char *b);

#endif
