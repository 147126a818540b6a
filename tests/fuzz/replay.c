/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c: main of a fuzzer in make check: gives it every file of its corpus,
 * $srcdir/tests/fuzz/corpus/NAME for a program fuzz_NAME, or the files and
 * folders that are named; speaks TAP. A failure aborts, with the file named before.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned count;

static int replay_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size ? size : 1);

	if (file == NULL || data == NULL || fread(data, 1, size, file) != size) {
		printf("Bail out! cannot read %s\n", path);
		return 1;
	}
	fclose(file);
	count++;
	printf("# %s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	printf("ok %u - %s\n", count, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	free(data);
	return 0;
}

static int replay(const char *path)
{
	struct dirent **entries;
	struct stat status;
	int failed = 0;
	int n;

	if (stat(path, &status) < 0) {
		printf("Bail out! cannot find %s\n", path);
		return 1;
	}
	if (!S_ISDIR(status.st_mode))
		return replay_file(path, (size_t)status.st_size);
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char *name = NULL;

		if (entries[i]->d_name[0] != '.' && asprintf(&name, "%s/%s", path, entries[i]->d_name) > 0)
			failed |= replay(name);
		free(name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return failed;
}

int main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir");
	const char *name = strstr(argv[0], "fuzz_");
	char *corpus = NULL;
	int failed = 0;

	for (const char *next = name; next != NULL; next = strstr(next + 1, "fuzz_"))
		name = next;
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			failed |= replay(argv[i]);
	} else if (name != NULL && asprintf(&corpus, "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".", name + 5) > 0) {
		failed = replay(corpus);
	}
	free(corpus);
	if (count == 0)
		failed = 1;
	printf("1..%u\n", count);
	return failed;
}
