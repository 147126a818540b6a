/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_hash.h: a fast hash of header blocks, seeded once a process from the
 * kernel so that nobody outside can make blocks collide. Loop thread. The value
 * is a hint: whoever finds something by it compares the bytes.
 */
#ifndef RINGTAIL_BLOCK_HASH_H
#define RINGTAIL_BLOCK_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Never 0. */
uint64_t block_hash(const char *data, size_t len);

#endif
