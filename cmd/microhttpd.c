/*
 * microhttpd: find the library and its functions.
 *
 * The file of `make static` has the library inside: there the weak references below are its functions. Elsewhere they are
 * NULL, and the shared library is loaded.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "args.h"
#include "microhttpd.h"

#define LIBRARY "libmicrohttpd.so.12"
#define ENTRY(name)                                                                                \
	{                                                                                          \
		"MHD_" #name, offsetof(struct http, name), MHD_##name                              \
	}

struct http http;

#define INSIDE(name) void MHD_##name(void) __attribute__((weak))
INSIDE(start_daemon);
INSIDE(stop_daemon);
INSIDE(run);
INSIDE(get_timeout);
INSIDE(get_daemon_info);
INSIDE(create_response_from_buffer);
INSIDE(create_response_from_callback);
INSIDE(add_response_header);
INSIDE(queue_response);
INSIDE(destroy_response);
INSIDE(suspend_connection);
INSIDE(resume_connection);

static const struct {
	const char *name;
	size_t at;
	void (*inside)(void);
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

static bool is_static(void)
{
	const char *dir, *name, *text;
	size_t n;

	return dtrace_embedded(0, &dir, &name, &text, &n); /* it has the D files inside */
}

void http_load(void)
{
	void *library = NULL, *function;

	if (!entries[0].inside && is_static())
		fatal("--serve is not part of this program: it was linked statically without libmicrohttpd");
	if (!entries[0].inside && !(library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)))
		fatal("--serve needs the library " LIBRARY " (Debian: libmicrohttpd12): %s",
		      dlerror());
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (library)
			function = dlsym(library, entries[i].name);
		else
			memcpy(&function, &entries[i].inside, sizeof(function));
		if (!function)
			fatal("--serve: %s has no function %s", LIBRARY, entries[i].name);
		memcpy((char *)&http + entries[i].at, &function, sizeof(function));
	}
}
