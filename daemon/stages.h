/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h: the parts of a request's time (SPEC 6), each between two of its stamps. They sum to total. Pure. */
#ifndef RINGTAIL_STAGES_H
#define RINGTAIL_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "request.h"

/* name, stamp it begins with, stamp it ends with */
#define STAGES(X) \
	X(read, received, queued) \
	X(ring_wait, queued, popped) \
	X(gil_wait, popped, attached) \
	X(service, attached, returned) \
	X(return_wait, returned, taken) \
	X(send, taken, last_sent) \
	X(total, received, last_sent)

enum stage {
#define X(name, begin, end) STAGE_##name,
	STAGES(X)
#undef X
	STAGE_COUNT,
};

/* False: the request did not go through the stage. */
static inline bool stage_ns(const struct request_times *times, enum stage stage, uint64_t *ret_ns)
{
	uint64_t begin = 0, end = 0;

	switch (stage) {
#define X(name, from, to) \
	case STAGE_##name: \
		begin = times->from; \
		end = times->to; \
		break;
	STAGES(X)
#undef X
	case STAGE_COUNT:
		break;
	}
	if (!begin || !end)
		return false;
	/* The loop's stamps are of its pass, and may lie a little before a handler's. */
	*ret_ns = end > begin ? end - begin : 0;
	return true;
}

#endif
