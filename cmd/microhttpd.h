/*
 * microhttpd: libmicrohttpd, loaded when --serve needs it, or inside the file of `make static`.
 *
 * Neither the build nor the command depends on it: what is used of its interface (libmicrohttpd.so.12, stable since 0.9.7x)
 * is declared here. test/cmd/serve.sh compares this with its header.
 */
#ifndef CMD_MICROHTTPD_H
#define CMD_MICROHTTPD_H

#include <stdint.h>
#include <sys/types.h>

enum {
	HTTP_YES = 1,
	HTTP_USE_EPOLL = 512,
	HTTP_ALLOW_SUSPEND = 8192 | 1024, /* and a channel that wakes the loop */
	HTTP_OPTION_END = 0,
	HTTP_OPTION_CONNECTION_MEMORY = 1, /* size_t */
	HTTP_OPTION_CONNECTION_LIMIT = 2,  /* unsigned */
	HTTP_OPTION_CONNECTION_TIMEOUT = 3, /* unsigned, seconds */
	HTTP_OPTION_LISTEN_SOCKET = 12,	    /* int */
	HTTP_INFO_EPOLL_FD = 3,
	HTTP_COPY = 2, /* the text of a response is copied */
	HTTP_END = -1, /* of a stream */
};
#define HTTP_UNKNOWN_SIZE UINT64_MAX

struct MHD_Daemon;
struct MHD_Connection;
struct MHD_Response;

/* A request. *state is NULL at its first call, and the handler's. HTTP_YES: it is answered, or call again. */
typedef int http_handler(void *arg, struct MHD_Connection *c, const char *path, const char *method,
			 const char *version, const char *upload, size_t *nupload, void **state);
/* The next bytes of a stream: how many, 0 if it has been suspended, or HTTP_END. */
typedef ssize_t http_reader(void *arg, uint64_t at, char *buf, size_t n);
typedef void http_free(void *arg);

extern struct http {
	struct MHD_Daemon *(*start_daemon)(unsigned flags, uint16_t port, void *accept, void *accept_arg,
					   http_handler *f, void *arg, ...);
	void (*stop_daemon)(struct MHD_Daemon *d);
	int (*run)(struct MHD_Daemon *d);
	int (*get_timeout)(struct MHD_Daemon *d, unsigned long long *ms); /* HTTP_YES: there is one */
	const int *(*get_daemon_info)(struct MHD_Daemon *d, int what, ...);
	struct MHD_Response *(*create_response_from_buffer)(size_t n, void *text, int how);
	struct MHD_Response *(*create_response_from_callback)(uint64_t n, size_t block, http_reader *f, void *arg,
							      http_free *end);
	int (*add_response_header)(struct MHD_Response *r, const char *name, const char *value);
	int (*queue_response)(struct MHD_Connection *c, unsigned status, struct MHD_Response *r);
	void (*destroy_response)(struct MHD_Response *r);
	void (*suspend_connection)(struct MHD_Connection *c);
	void (*resume_connection)(struct MHD_Connection *c);
} http;

void http_load(void); /* or end the process with a message */

#endif
