/*
 * microhttpd: find the library and its functions.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "args.h"
#include "microhttpd.h"

#define LIBRARY "libmicrohttpd.so.12"
#define ENTRY(name)                                                                                \
	{                                                                                          \
		"MHD_" #name, offsetof(struct http, name)                                          \
	}

struct http http;

static const struct {
	const char *name;
	size_t at;
} entries[] = {
    ENTRY(start_daemon),
    ENTRY(stop_daemon),
    ENTRY(run),
    ENTRY(get_timeout),
    ENTRY(get_daemon_info),
    ENTRY(create_response_from_buffer),
    ENTRY(create_response_from_callback),
    ENTRY(add_response_header),
    ENTRY(queue_response),
    ENTRY(destroy_response),
    ENTRY(suspend_connection),
    ENTRY(resume_connection),
};

void http_load(void)
{
	const char *dir, *name, *text;
	void *library, *function;
	size_t n;

	if (dtrace_embedded(0, &dir, &name, &text, &n)) /* statically linked: no libraries */
		fatal("--serve is not part of the static program: it needs the library " LIBRARY);
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fatal("--serve needs the library " LIBRARY " (Debian: libmicrohttpd12): %s",
		      dlerror());
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		function = dlsym(library, entries[i].name);
		if (!function)
			fatal("--serve: %s has no function %s", LIBRARY, entries[i].name);
		memcpy((char *)&http + entries[i].at, &function, sizeof(function));
	}
}
