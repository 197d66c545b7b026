/*
 * nats: the library, and how fronts and agents find each other.
 *
 *	dtrace.hello			the front asks; agents answer with their id: WORD.DIGITS, the digits being new each time they start
 *	dtrace.open.WORD.DIGITS		the front opens a stream, with a nonce
 *	dtrace.stream.WORD.NONCE.*	the stream (tunnel.c)
 *
 * The library calls back in threads of its own; what they and we share has a lock.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "fleet/tunnel.h"

#define MS		  UINT64_C(1000000)
#define QUIET		  (300 * MS)
#define LOOK		  (20 * MS)
#define SLOWER		  4
#define RECONNECT_BUFFER  (4 << 20)
#define PENDING		  (16 << 20)
#define STATUS_CONNECTED  2
#define STATUS_CLOSED	  3
#define NOT_PERMITTED	  12
#define TIMED_OUT	  26
#define SLICE		  500 /* ms */
#define CONNECT_TIMEOUT   3000
#define PING		  2000
#define ANSWER		  "dtrace.answer."
#define DIGITS		  16
#define MAX_ANSWERS	  (4 * DT_MAX_TARGETS) /* that were not looked at yet; agents answer each time they are asked */
#define MAX_TUNNELS	  256 /* of an agent */

/* The functions that we use; their types are those of nats/nats.h, with void * for its structs. */
static struct {
	int (*natsOptions_Create)(void **o);
	void (*natsOptions_Destroy)(void *o);
	int (*natsOptions_SetURL)(void *o, const char *url);
	int (*natsOptions_SetTimeout)(void *o, int64_t ms);
	int (*natsOptions_SetMaxReconnect)(void *o, int n);
	int (*natsOptions_SetReconnectWait)(void *o, int64_t ms);
	int (*natsOptions_SetReconnectBufSize)(void *o, int n);
	int (*natsOptions_SetNoEcho)(void *o, bool no);
	int (*natsOptions_SetPingInterval)(void *o, int64_t ms);
	int (*natsOptions_SetMaxPingsOut)(void *o, int n);
	int (*natsOptions_UseGlobalMessageDelivery)(void *o, bool yes);
	int (*natsOptions_SetSendAsap)(void *o, bool yes);
	int (*natsOptions_SetErrorHandler)(void *o, void (*f)(void *, void *, int, void *), void *arg);
	int (*natsOptions_SetSecure)(void *o, bool yes);
	int (*natsOptions_LoadCATrustedCertificates)(void *o, const char *file);
	int (*natsOptions_LoadCertificatesChain)(void *o, const char *certs, const char *key);
	int (*natsOptions_SetUserCredentialsFromFiles)(void *o, const char *file, const char *seed);
	int (*natsOptions_SetUserInfo)(void *o, const char *user, const char *password);
	int (*natsOptions_SetDisconnectedCB)(void *o, void (*f)(void *, void *), void *arg);
	int (*natsOptions_SetClosedCB)(void *o, void (*f)(void *, void *), void *arg);
	int (*natsConnection_Connect)(void **c, void *o);
	int (*natsConnection_Publish)(void *c, const char *subject, const void *data, int n);
	int (*natsConnection_PublishRequest)(void *c, const char *subject, const char *reply, const void *data, int n);
	int (*natsConnection_Flush)(void *c);
	int (*natsConnection_FlushTimeout)(void *c, int64_t ms);
	int (*natsConnection_Subscribe)(void **s, void *c, const char *subject, void (*f)(void *, void *, void *, void *),
					void *arg);
	int (*natsConnection_RequestMsg)(void **reply, void *c, void *m, int64_t ms);
	int (*natsConnection_Status)(void *c);
	void (*natsConnection_Destroy)(void *c);
	int (*natsSubscription_SetPendingLimits)(void *s, int messages, int bytes);
	int (*natsSubscription_SetOnCompleteCB)(void *s, void (*f)(void *), void *arg);
	int (*natsSubscription_Unsubscribe)(void *s);
	void (*natsSubscription_Destroy)(void *s);
	const char *(*natsMsg_GetData)(const void *m);
	int (*natsMsg_GetDataLength)(const void *m);
	const char *(*natsMsg_GetReply)(const void *m);
	int (*natsMsg_Create)(void **m, const char *subject, const char *reply, const char *data, int n);
	int (*natsMsgHeader_Set)(void *m, const char *key, const char *value);
	void (*natsMsg_Destroy)(void *m);
	int (*natsConnection_GetLastError)(void *c, const char **text);
	const char *(*nats_GetLastError)(int *s);
	const char *(*natsStatus_GetText)(int s);
} lib;

static const char *const names[] = {
    "natsOptions_Create",	     "natsOptions_Destroy",
    "natsOptions_SetURL",	     "natsOptions_SetTimeout",
    "natsOptions_SetMaxReconnect",   "natsOptions_SetReconnectWait",
    "natsOptions_SetReconnectBufSize", "natsOptions_SetNoEcho",
    "natsOptions_SetPingInterval",   "natsOptions_SetMaxPingsOut",
    "natsOptions_UseGlobalMessageDelivery", "natsOptions_SetSendAsap",
    "natsOptions_SetErrorHandler",
    "natsOptions_SetSecure",	     "natsOptions_LoadCATrustedCertificates",
    "natsOptions_LoadCertificatesChain", "natsOptions_SetUserCredentialsFromFiles",
    "natsOptions_SetUserInfo",
    "natsOptions_SetDisconnectedCB", "natsOptions_SetClosedCB",
    "natsConnection_Connect",	     "natsConnection_Publish",
    "natsConnection_PublishRequest", "natsConnection_Flush",
    "natsConnection_FlushTimeout",   "natsConnection_Subscribe",
    "natsConnection_RequestMsg",
    "natsConnection_Status",	     "natsConnection_Destroy",
    "natsSubscription_SetPendingLimits", "natsSubscription_SetOnCompleteCB",
    "natsSubscription_Unsubscribe",  "natsSubscription_Destroy",
    "natsMsg_GetData",		     "natsMsg_GetDataLength",
    "natsMsg_GetReply",		     "natsMsg_Create",
    "natsMsgHeader_Set",	     "natsMsg_Destroy",
    "natsConnection_GetLastError",   "nats_GetLastError",
    "natsStatus_GetText",
};
_Static_assert(sizeof(lib) == sizeof(names), "a function without a name");

struct dt_nats {
	char *url, *shown; /* shown: without a password */
	void *conn;
	struct dt_nats_sub *answers;
	char inbox[64];
	pthread_mutex_t lock; /* of what follows */
	DT_VEC(char *) ids; /* that have answered and were not returned yet */
	uint64_t last;	    /* dt_now() of the last answer */
	uint64_t lost;	    /* dt_now() when the connection was last lost */
	bool closed;	    /* callbacks of the connection run no more ... */
	pthread_cond_t gone; /* ... and that has just changed */
	char trouble[256];  /* what the server refuses; "": nothing new */
	char told[256];	    /* the last one that was returned */
	uint32_t refusals;  /* so far */
	struct dt_tunnels *all;
	DT_VEC(dt_tunnel *) tunnels;
	char word[DT_NATS_WORD + 1], id[DT_NATS_ID + 1];
	void (*come)(void *arg, int fd);
	void *arg;
};

struct dt_nats_sub {
	void *sub;
	dt_nats_f *f;
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t gone;
	bool complete; /* the callback runs no more */
};

static int load_once(dt_error *err)
{
	static const char *const files[] = {"libnats.so.3.4", "libnats.so.3", "libnats.so"};
	void *library = NULL;

	if (lib.natsStatus_GetText)
		return 0;
	if (getauxval(AT_BASE) == 0)
		return dt_err(err, EDT_COMPILER, "NATS is not available in a program that was linked statically");
	for (size_t i = 0; i < DT_NELEM(files) && !library; i++)
		library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dt_err(err, EDT_COMPILER, "NATS needs the library libnats (Debian: libnats-dev): %s", dlerror());
	for (size_t i = 0; i < DT_NELEM(names); i++) {
		void *f = dlsym(library, names[i]);

		if (!f)
			return dt_err(err, EDT_COMPILER, "the library libnats has no function %s", names[i]);
		memcpy((char *)&lib + i * sizeof(f), &f, sizeof(f));
	}
	return 0;
}

/* Several threads may connect, each to a server. */
static int load(dt_error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int rc;

	pthread_mutex_lock(&lock);
	rc = load_once(err);
	pthread_mutex_unlock(&lock);
	return rc;
}

static void random_text(char *out, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t b[64] = {0};

	if (getrandom(b, n, 0) < 0)
		abort();
	for (size_t i = 0; i < n; i++)
		out[i] = digits[b[i] & 15];
	out[n] = 0;
}

static bool is_hex(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

/* ---- names ---- */

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

void dt_nats_word(char out[DT_NATS_WORD + 1], const char *name)
{
	snprintf(out, DT_NATS_WORD + 1, "%s", *name ? name : "_");
	for (; *out; out++)
		if (!is_of_word(*out))
			*out = '_';
}

/* Whatever an agent has answered: WORD.DIGITS? */
static bool is_id(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && is_of_word(s[n]))
		n++;
	return n > 0 && n <= DT_NATS_WORD && len == n + 1 + DIGITS && s[n] == '.' && is_hex(s + n + 1, DIGITS);
}

/* ---- subjects ---- */

static void on_any(void *conn, void *sub, void *msg, void *arg)
{
	struct dt_nats_sub *s = arg;

	(void)conn;
	(void)sub;
	s->f(s->arg, lib.natsMsg_GetData(msg), (size_t)lib.natsMsg_GetDataLength(msg), lib.natsMsg_GetReply(msg));
	lib.natsMsg_Destroy(msg);
}

static void on_complete(void *arg)
{
	struct dt_nats_sub *s = arg;

	pthread_mutex_lock(&s->lock);
	s->complete = true;
	pthread_cond_signal(&s->gone);
	pthread_mutex_unlock(&s->lock);
}

struct dt_nats_sub *dt_nats_subscribe(dt_nats *n, const char *subject, dt_nats_f *f, void *arg)
{
	struct dt_nats_sub *s = dt_xcalloc(1, sizeof(*s));

	s->f = f;
	s->arg = arg;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->gone, NULL);
	if (lib.natsConnection_Subscribe(&s->sub, n->conn, subject, on_any, s) != 0) {
		free(s);
		return NULL;
	}
	lib.natsSubscription_SetPendingLimits(s->sub, 65536, PENDING); /* what is more was sent against the rules, and is dropped */
	lib.natsSubscription_SetOnCompleteCB(s->sub, on_complete, s);
	return s;
}

void dt_nats_unsubscribe(struct dt_nats_sub *s)
{
	if (!s)
		return;
	lib.natsSubscription_Unsubscribe(s->sub);
	pthread_mutex_lock(&s->lock);
	while (!s->complete)
		pthread_cond_wait(&s->gone, &s->lock);
	pthread_mutex_unlock(&s->lock);
	lib.natsSubscription_Destroy(s->sub);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->gone);
	free(s);
}

void dt_nats_publish(dt_nats *n, const char *subject, const void *data, size_t len)
{
	lib.natsConnection_Publish(n->conn, subject, data, (int)len);
}

void dt_nats_request(dt_nats *n, const char *subject, const char *reply, const void *data, size_t len)
{
	lib.natsConnection_PublishRequest(n->conn, subject, reply, data, (int)len);
}

bool dt_nats_is_connected(dt_nats *n)
{
	return lib.natsConnection_Status(n->conn) == STATUS_CONNECTED;
}

static uint32_t refusals(dt_nats *n)
{
	uint32_t k;

	pthread_mutex_lock(&n->lock);
	k = n->refusals;
	pthread_mutex_unlock(&n->lock);
	return k;
}

static int wait_for_answer(dt_nats *n, const struct dt_nats_asked *q, void *m, void **reply)
{
	int64_t slice = q->harmless && q->ms > SLICE ? SLICE : q->ms, left = q->ms;
	uint32_t before = refusals(n);
	int s;

	do
		s = lib.natsConnection_RequestMsg(reply, n->conn, m, slice);
	while (s == TIMED_OUT && (left -= slice) > 0 && refusals(n) == before);
	return s;
}

int dt_nats_question(dt_nats *n, const struct dt_nats_asked *q, dt_buf *answer, dt_error *err)
{
	void *m = NULL, *reply = NULL;
	int s = lib.natsMsg_Create(&m, q->subject, NULL, q->data, (int)q->len);

	if (!s && q->header)
		s = lib.natsMsgHeader_Set(m, q->header, q->value);
	if (!s)
		s = wait_for_answer(n, q, m, &reply);
	if (!s)
		dt_buf_add(answer, lib.natsMsg_GetData(reply), (size_t)lib.natsMsg_GetDataLength(reply));
	lib.natsMsg_Destroy(reply);
	lib.natsMsg_Destroy(m);
	return s ? dt_err(err, EDT_COMPILER, "%s: %s", n->shown, lib.natsStatus_GetText(s)) : 0;
}

/* ---- a connection ---- */

static void on_lost(void *conn, void *arg)
{
	dt_nats *n = arg;

	(void)conn;
	pthread_mutex_lock(&n->lock);
	n->lost = dt_now();
	pthread_mutex_unlock(&n->lock);
}

/* The last callback, after that of on_lost() which closing causes: a thread of the library runs them, one after the other. */
static void on_closed(void *conn, void *arg)
{
	dt_nats *n = arg;

	(void)conn;
	pthread_mutex_lock(&n->lock);
	n->closed = true;
	pthread_cond_signal(&n->gone);
	pthread_mutex_unlock(&n->lock);
}

uint64_t dt_nats_lost(dt_nats *n)
{
	uint64_t when;

	pthread_mutex_lock(&n->lock);
	when = n->lost;
	pthread_mutex_unlock(&n->lock);
	return when;
}

struct dt_tunnels *dt_nats_tunnels(dt_nats *n)
{
	return n->all;
}

/* The server refuses something. A slow reader is no trouble: what was not taken is sent again. */
static void on_trouble(void *conn, void *sub, int status, void *arg)
{
	dt_nats *n = arg;
	const char *text = NULL;

	(void)sub;
	if (status != NOT_PERMITTED)
		return;
	if (lib.natsConnection_GetLastError(conn, &text) == 0 || !text || !*text)
		text = lib.natsStatus_GetText(status);
	pthread_mutex_lock(&n->lock);
	snprintf(n->trouble, sizeof(n->trouble), "%.250s", text);
	n->refusals++;
	pthread_mutex_unlock(&n->lock);
}

bool dt_nats_trouble(dt_nats *n, dt_buf *out)
{
	bool any;

	pthread_mutex_lock(&n->lock);
	any = n->trouble[0] && strcmp(n->trouble, n->told) != 0;
	if (any) {
		memcpy(n->told, n->trouble, sizeof(n->told));
		dt_buf_printf(out, "%s: %s", n->shown, n->told);
		dt_make_safe(out->s, out->n, false);
	}
	n->trouble[0] = 0;
	pthread_mutex_unlock(&n->lock);
	return any;
}

bool dt_nats_is_url(const char *s)
{
	return strncmp(s, "nats://", 7) == 0 || strncmp(s, "tls://", 6) == 0;
}

/* nats://user:password@host -> nats://user@host */
static char *without_password(const char *url)
{
	const char *user = strstr(url, "://"), *at = strrchr(url, '@'), *colon;

	user = user ? user + 3 : url;
	colon = strchr(user, ':');
	return at && colon && colon < at ? dt_xasprintf("%.*s%s", (int)(colon - url), url, at) : dt_xstrdup(url);
}

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Files and names as those of the command nats: where a URL has no place for them, or others would see them. */
static int identify(const dt_nats *n, void *o, dt_error *err)
{
	const char *ca = setting("NATS_CA"), *cert = setting("NATS_CERT"), *key = setting("NATS_KEY"), *creds = setting("NATS_CREDS"),
		   *user = setting("NATS_USER"), *password = setting("NATS_PASSWORD");

	if ((strncmp(n->url, "tls://", 6) == 0 || ca || cert) && lib.natsOptions_SetSecure(o, true) != 0)
		return dt_err(err, EDT_COMPILER, "%s: the library libnats has no TLS", n->shown);
	if (ca && lib.natsOptions_LoadCATrustedCertificates(o, ca) != 0)
		return dt_err(err, EDT_COMPILER, "NATS_CA: cannot read the certificates in %s", ca);
	if (!cert != !key)
		return dt_err(err, EDT_COMPILER, "NATS_CERT and NATS_KEY must be given together");
	if (cert && lib.natsOptions_LoadCertificatesChain(o, cert, key) != 0)
		return dt_err(err, EDT_COMPILER, "NATS_CERT, NATS_KEY: cannot use the certificate in %s with the key in %s", cert, key);
	if (creds && (access(creds, R_OK) < 0 || lib.natsOptions_SetUserCredentialsFromFiles(o, creds, NULL) != 0))
		return dt_err(err, EDT_COMPILER, "NATS_CREDS: cannot read %s", creds);
	if (user && lib.natsOptions_SetUserInfo(o, user, password ? password : "") != 0)
		return dt_err(err, EDT_COMPILER, "NATS_USER, NATS_PASSWORD: cannot be used");
	return 0;
}

/* A front has one thread for what all its agents send, since it reads all of them or none. One front must not hold up another. */
static int connect_to(dt_nats *n, bool front, dt_error *err)
{
	const char *more = NULL;
	void *o = NULL;
	int s = lib.natsOptions_Create(&o);

	s = s ? s : lib.natsOptions_SetURL(o, n->url);
	s = s ? s : lib.natsOptions_SetTimeout(o, CONNECT_TIMEOUT);
	s = s ? s : lib.natsOptions_SetMaxReconnect(o, -1);
	s = s ? s : lib.natsOptions_SetReconnectWait(o, 100);
	s = s ? s : lib.natsOptions_SetReconnectBufSize(o, RECONNECT_BUFFER);
	s = s ? s : lib.natsOptions_SetNoEcho(o, true);
	s = s ? s : lib.natsOptions_SetPingInterval(o, PING); /* a network that was cut is noticed */
	s = s ? s : lib.natsOptions_SetMaxPingsOut(o, 2);
	s = s ? s : lib.natsOptions_UseGlobalMessageDelivery(o, front);
	s = s ? s : lib.natsOptions_SetDisconnectedCB(o, on_lost, n);
	s = s ? s : lib.natsOptions_SetClosedCB(o, on_closed, n);
	s = s ? s : lib.natsOptions_SetSendAsap(o, true); /* else a thread waits 1 ms for more */
	s = s ? s : lib.natsOptions_SetErrorHandler(o, on_trouble, n);
	if (!s && identify(n, o, err) < 0) {
		lib.natsOptions_Destroy(o);
		return -1;
	}
	s = s ? s : lib.natsConnection_Connect(&n->conn, o);
	lib.natsOptions_Destroy(o);
	if (!s)
		return 0;
	more = lib.nats_GetLastError(NULL);
	dt_err(err, EDT_COMPILER, "cannot connect to %s: %s%s%.200s", n->shown, lib.natsStatus_GetText(s), more && *more ? ": " : "",
	       more ? more : "");
	dt_make_safe(err->text, strlen(err->text), false);
	return -1;
}

dt_nats *dt_nats_open(const char *url, bool front, dt_error *err)
{
	dt_nats *n = dt_xcalloc(1, sizeof(*n));

	n->url = dt_xstrdup(url);
	n->shown = without_password(url);
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->gone, NULL);
	if (load(err) < 0 || connect_to(n, front, err) < 0) {
		dt_nats_free(n);
		return NULL;
	}
	n->all = dt_tunnels_new();
	if (n->all)
		return n;
	dt_err(err, EDT_COMPILER, "%s: there are too many threads or descriptors", n->shown);
	dt_nats_free(n);
	return NULL;
}

const char *dt_nats_url(const dt_nats *n)
{
	return n->url;
}

const char *dt_nats_shown(const dt_nats *n)
{
	return n->shown;
}

void dt_nats_free(dt_nats *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->tunnels.n; i++)
		dt_tunnel_free(n->tunnels.v[i]);
	dt_vec_free(&n->tunnels);
	dt_tunnels_free(n->all);
	dt_nats_unsubscribe(n->answers);
	if (n->conn) {
		lib.natsConnection_FlushTimeout(n->conn, 1000);
		lib.natsConnection_Destroy(n->conn);
		pthread_mutex_lock(&n->lock);
		while (!n->closed)
			pthread_cond_wait(&n->gone, &n->lock);
		pthread_mutex_unlock(&n->lock);
	}
	for (uint32_t i = 0; i < n->ids.n; i++)
		free(n->ids.v[i]);
	dt_vec_free(&n->ids);
	pthread_mutex_destroy(&n->lock);
	pthread_cond_destroy(&n->gone);
	free(n->url);
	free(n->shown);
	free(n);
}

/* Tunnels that nothing uses any more. */
static void free_ended(dt_nats *n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n->tunnels.n; i++) {
		dt_tunnel *t = n->tunnels.v[i];

		if (dt_tunnel_is_over(t))
			dt_tunnel_free(t);
		else
			n->tunnels.v[kept++] = t;
	}
	n->tunnels.n = kept;
}

/* ---- the front ---- */

static void on_answer(void *arg, const void *data, size_t len, const char *reply)
{
	dt_nats *n = arg;

	(void)reply;
	if (!is_id(data, len))
		return;
	pthread_mutex_lock(&n->lock);
	if (n->ids.n < MAX_ANSWERS)
		*dt_vec_add(&n->ids, NULL) = dt_xasprintf("%.*s", (int)len, (const char *)data);
	n->last = dt_now();
	pthread_mutex_unlock(&n->lock);
}

void dt_nats_ask(dt_nats *n)
{
	char nonce[DIGITS + 1];

	free_ended(n);
	if (!n->answers) {
		random_text(nonce, DIGITS);
		snprintf(n->inbox, sizeof(n->inbox), ANSWER "%s", nonce);
		n->answers = dt_nats_subscribe(n, n->inbox, on_answer, n);
		lib.natsConnection_Flush(n->conn);
	}
	dt_nats_request(n, "dtrace.hello", n->inbox, "", 0);
}

/* Until no more answers come. How many will is not known; where they come slowly, or this thread runs late, they get more time. */
void dt_nats_settle(dt_nats *n, uint64_t most)
{
	uint64_t start = dt_now(), last, now = start, late = 0;

	do {
		uint64_t before = now;

		usleep(LOOK / 1000);
		now = dt_now();
		late = now - before - LOOK > late && now - before > LOOK ? now - before - LOOK : late;
		pthread_mutex_lock(&n->lock);
		last = n->last > start ? n->last : start;
		pthread_mutex_unlock(&n->lock);
	} while (now - last < QUIET + SLOWER * (last - start + late) && now - start < most);
}

bool dt_nats_next(dt_nats *n, char id[DT_NATS_ID + 1])
{
	char *next = NULL;

	pthread_mutex_lock(&n->lock);
	if (n->ids.n)
		next = n->ids.v[--n->ids.n];
	pthread_mutex_unlock(&n->lock);
	if (!next)
		return false;
	snprintf(id, DT_NATS_ID + 1, "%s", next);
	free(next);
	return true;
}

int dt_nats_connect(dt_nats *n, const char *id)
{
	char nonce[DT_TUNNEL_NONCE + 1], subject[DT_NATS_ID + 16], word[DT_NATS_WORD + 1];
	dt_tunnel *t;
	int fd;

	random_text(nonce, DT_TUNNEL_NONCE);
	snprintf(subject, sizeof(subject), "dtrace.open.%s", id);
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(id, "."), id);
	t = dt_tunnel_new(n, word, nonce, subject, &fd);
	if (!t)
		return -1;
	*dt_vec_add(&n->tunnels, NULL) = t;
	return fd;
}

/* ---- the agent ---- */

static void on_hello(void *arg, const void *data, size_t len, const char *reply)
{
	dt_nats *n = arg;

	(void)data;
	(void)len;
	if (reply && strncmp(reply, ANSWER, sizeof(ANSWER) - 1) == 0 && is_hex(reply + sizeof(ANSWER) - 1, strlen(reply) - sizeof(ANSWER) + 1))
		dt_nats_publish(n, reply, n->id, strlen(n->id));
}

static bool has_tunnel(const dt_nats *n, const char *nonce)
{
	for (uint32_t i = 0; i < n->tunnels.n; i++)
		if (dt_tunnel_is(n->tunnels.v[i], nonce))
			return true;
	return false;
}

/* Only one thread calls this. A front knocks until it has heard something. */
static void on_open(void *arg, const void *data, size_t len, const char *reply)
{
	char nonce[DT_TUNNEL_NONCE + 1];
	dt_nats *n = arg;
	dt_tunnel *t;
	int fd;

	(void)reply;
	if (len != DT_TUNNEL_NONCE || !is_hex(data, len))
		return;
	snprintf(nonce, sizeof(nonce), "%.*s", (int)len, (const char *)data);
	if (has_tunnel(n, nonce)) /* perhaps one that has just ended */
		return;
	free_ended(n);
	if (n->tunnels.n >= MAX_TUNNELS || !(t = dt_tunnel_new(n, n->word, nonce, NULL, &fd)))
		return;
	*dt_vec_add(&n->tunnels, NULL) = t;
	n->come(n->arg, fd);
	close(fd);
}

void dt_nats_serve(dt_nats *n, const char *name, void (*come)(void *arg, int fd), void *arg, dt_buf *why)
{
	char subject[DT_NATS_ID + 16], digits[DIGITS + 1];
	struct dt_nats_sub *hello, *open;

	n->come = come;
	n->arg = arg;
	dt_nats_word(n->word, name);
	random_text(digits, DIGITS);
	snprintf(n->id, sizeof(n->id), "%s.%s", n->word, digits);
	snprintf(subject, sizeof(subject), "dtrace.open.%s", n->id);
	open = dt_nats_subscribe(n, subject, on_open, n);
	hello = dt_nats_subscribe(n, "dtrace.hello", on_hello, n);
	while (open && hello && lib.natsConnection_Status(n->conn) != STATUS_CLOSED && !dt_nats_trouble(n, why))
		nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	if (!why->n)
		dt_buf_printf(why, "the connection to %s is closed", n->shown);
	dt_nats_unsubscribe(hello);
	dt_nats_unsubscribe(open);
}
