/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_config.c: any bytes as a configuration file, and each of its lines as a
 * bind address. The properties, beside what the sanitizers see: reading ends
 * with 0, or with 78 and one line of message; what was taken is within the
 * ranges of options.def; a second reading of the same bytes ends as the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/bind_address.h"
#include "daemon/check.h"
#include "daemon/config_priv.h"
#include "fuzz.h"

static int read_config(const uint8_t *data, size_t len, struct config *config)
{
	FILE *stream = fmemopen((void *)data, len, "r"), *terminal = stderr;
	char *message = NULL;
	size_t size;
	int status;

	CHECK(config_defaults(config) == 0);
	CHECK(stream != NULL);
	stderr = open_memstream(&message, &size);
	status = config_ini_read_stream(config, stream, "fuzz.ini");
	fclose(stderr);
	stderr = terminal;
	/* One line, or none. */
	CHECK(status == 0 ? size == 0 : strncmp(message, "ringtail: fuzz.ini:", 19) == 0 && strchr(message, '\n') == message + size - 1);
	free(message);
	fclose(stream);
	return status;
}

static void check_ranges(const struct config *config)
{
	for (size_t i = 0; i < config_option_count; i++) {
		const struct option_info *option = &config_options[i];
		const void *member = (const char *)config + option->offset;
		uint64_t value;

		if (option->type == OPTION_COUNT)
			value = *(const uint32_t *)member;
		else if (option->type == OPTION_SIZE || option->type == OPTION_TIME)
			value = *(const uint64_t *)member;
		else
			continue;
		CHECK(value >= option->low && value <= option->high);
	}
	for (size_t i = 0; i < config->bind.count; i++) {
		struct bind_address address;
		char error[512];

		CHECK(bind_address_parse(config->bind.items[i], &address, error, sizeof(error)) == 0);
	}
}

static void parse_lines(const uint8_t *data, size_t len)
{
	char *text = strndup((const char *)data, len), *rest = NULL;

	CHECK(text != NULL);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct bind_address address;
		char error[64] = "";

		if (bind_address_parse(line, &address, error, sizeof(error)) < 0) {
			CHECK(error[0] && strlen(error) < sizeof(error));
			continue;
		}
		CHECK(strlen(address.host) < sizeof(address.host));
		CHECK(address.kind != BIND_UNIX || (address.path[0] == '/' && strlen(address.path) < sizeof(address.path)));
		CHECK(address.kind != BIND_FD || address.fd >= 0);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct config config;
	int status, again;

	if (len == 0)
		return 0;
	status = read_config(data, len, &config);
	CHECK(status == 0 || status == EXIT_CONFIG);
	check_ranges(&config);
	config_done(&config);
	again = read_config(data, len, &config);
	CHECK(again == status);
	config_done(&config);
	parse_lines(data, len);
	return 0;
}
