/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.h: options of other servers, and what to do here instead. Pure. */
#ifndef RINGTAIL_FOREIGN_H
#define RINGTAIL_FOREIGN_H

/* name: of a long option without dashes, or a short option's letter ('_' counts as '-'). NULL: nothing is known about it. */
const char *foreign_remedy(const char *name);

#endif
