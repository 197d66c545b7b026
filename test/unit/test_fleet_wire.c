/* The protocol between machines: what is put is got, and nothing that is not well formed is believed. */
#include "fleet/wire.h"
#include "unit.h"

static dt_buf body;

static dt_message sent(void)
{
	return dt_message_of(body.s, body.n);
}

/* No body that is cut, and none with a byte too many, is well formed. */
static void check_strict(uint32_t type)
{
	CHECK(dt_wire_is_well_formed(type, sent()));
	for (size_t n = 0; n < body.n; n++)
		CHECK(!dt_wire_is_well_formed(type, dt_message_of(body.s, n)));
	dt_buf_putc(&body, 0);
	CHECK(!dt_wire_is_well_formed(type, sent()));
	dt_buf_reset(&body);
}

static void test_hello(void)
{
	struct dt_wire_hello h = {DT_FLEET_VERSION, 77, "web-1", "Linux-6.1", "1.14", 8, 42, 43, true}, got;
	dt_message m;

	dt_put_hello(&body, &h);
	m = sent();
	CHECK(dt_get_hello(&m, &got));
	CHECK(got.nonce == 77 && got.ncpus == 8 && got.hostid == 42 && got.clock == 43 && got.relay);
	CHECK_STR(got.name, "web-1");
	CHECK_STR(got.os, "Linux-6.1");
	check_strict(DT_M_HELLO);
	dt_put_u32(&body, DT_FLEET_VERSION + 1); /* of another version only the number and the nonce are known */
	dt_put_u64(&body, 77);
	dt_put_u64(&body, 1);
	m = sent();
	CHECK(dt_get_hello(&m, &got));
	CHECK(got.version == DT_FLEET_VERSION + 1 && got.nonce == 77 && !got.name);
	dt_buf_reset(&body);
}

static void test_program(void)
{
	static struct dt_wire_program p = {.number = 3, .is_cmdline = true, .name = "x.d", .text = "BEGIN", .len = 5,
					   .argc = 2, .argv = {"a", ""}, .nkept = 1, .kept = {"self->x"}}, got;
	dt_message m;

	dt_put_program(&body, &p);
	m = sent();
	CHECK(dt_get_program(&m, &got));
	CHECK(got.number == 3 && got.is_cmdline && got.len == 5 && memcmp(got.text, "BEGIN", 5) == 0 && got.argc == 2);
	CHECK(got.nkept == 1);
	CHECK_STR(got.kept[0], "self->x");
	CHECK_STR(got.argv[0], "a");
	check_strict(DT_M_PROGRAM);
}

static void test_shapes(void)
{
	dt_action actions[] = {{.kind = DT_ACT_DIFEXPR, .size = 4}, {.kind = DT_ACT_STACK, .size = 160}};
	dt_clause c = {.number = 2, .actions = actions, .nactions = 2};
	dt_agg a = {.name = "x", .id = 5, .func = DT_ACT_COUNT, .nwords = 1, .nkeys = 2, .keys = actions};
	struct dt_wire_clause clause;
	struct dt_wire_agg agg;
	dt_message m;

	dt_put_clause(&body, 1, &c, 7);
	m = sent();
	CHECK(dt_get_clause(&m, &clause));
	CHECK(clause.program == 1 && clause.number == 2 && clause.matches == 7 && clause.nactions == 2);
	CHECK(dt_wire_action_at(clause.actions, 1).kind == DT_ACT_STACK && dt_wire_action_at(clause.actions, 1).size == 160);
	check_strict(DT_M_CLAUSE);

	/* what a struct looks like goes with it */
	dt_types *ts = dt_types_new();
	dt_type *pair = dt_type_sou(ts, "D", DT_K_STRUCT, "pair");
	dt_difo difo = {.type = pair, .rtype = {.flags = DT_TF_BYREF, .size = 8}};

	dt_type_add_member(ts, pair, "a", dt_intrinsics(ts)->int_, 0);
	dt_type_add_member(ts, pair, "b", dt_intrinsics(ts)->int_, 0);
	dt_type_finish_sou(ts, pair);
	actions[0].difo = &difo;
	dt_put_clause(&body, 1, &c, 7);
	m = sent();
	CHECK(dt_get_clause(&m, &clause));
	CHECK(dt_wire_action_at(clause.actions, 0).layout == dt_type_layout(pair) && dt_wire_action_at(clause.actions, 1).layout == 0);
	dt_buf_reset(&body);
	actions[0].difo = NULL;
	dt_types_free(ts);

	dt_put_agg(&body, &a);
	m = sent();
	CHECK(dt_get_agg(&m, &agg));
	CHECK(agg.id == 5 && agg.func == DT_ACT_COUNT && agg.nwords == 1 && agg.nkeys == 2);
	check_strict(DT_M_AGG);
}

static void test_record(void)
{
	struct dt_wire_record r = {.epid = 9, .cpu = 1, .time = 1000, .nactions = 2}, got;
	struct dt_wire_name n = {"vmlinux", "vfs_read", 16}, name;
	dt_datum with = {"12345678", 8, 0}, without = {0};
	struct dt_wire_datum d;
	dt_message m;

	dt_put_record(&body, &r);
	dt_put_datum(&body, &with, 1);
	dt_put_name(&body, &n);
	dt_put_datum(&body, &without, 0);
	m = sent();
	CHECK(dt_get_record(&m, &got));
	CHECK(got.epid == 9 && got.time == 1000 && got.nactions == 2);
	CHECK(dt_get_datum(&m, &d) && d.size == 8 && memcmp(d.data, "12345678", 8) == 0 && d.nnames == 1);
	CHECK(dt_get_name(&d.names, &name) && name.off == 16);
	CHECK_STR(name.sym, "vfs_read");
	CHECK(dt_get_datum(&m, &d) && !d.data);
	check_strict(DT_M_RECORD);
}

static void test_row(void)
{
	struct dt_wire_row r = {.agg = 1, .nkeys = 1, .nwords = 2}, got;
	dt_datum key = {"k", 2, 0};
	dt_message m;

	dt_put_row(&body, &r);
	dt_put_datum(&body, &key, 0);
	dt_put_u64(&body, 5);
	dt_put_u64(&body, 6);
	m = sent();
	CHECK(dt_get_row(&m, &got) && got.agg == 1 && got.nwords == 2);
	check_strict(DT_M_ROW);
}

static void test_others(void)
{
	uint64_t drops[] = {1, 2}, agg_drops[] = {3, 4};
	dt_status st = {.drops = drops, .agg_drops = agg_drops, .ncpus = 2, .spec_drops = 9}, got;
	struct dt_wire_ecb e = {1, 2, 3, 4, "syscall", "vmlinux", "read", "entry", "behind"};
	struct dt_wire_fault f = {.cpu = 1, .time = 5, .fault = {.epid = 1, .offset = -1, .code = 1, .absent = true}};
	struct dt_wire_session session = {"slow-io", "running", "", "text", {[DT_WS_DROPS] = 5}};
	dt_arena *a = dt_arena_new();
	dt_message m;

	dt_put_status(&body, &st);
	m = sent();
	CHECK(dt_get_status(&m, &got, a));
	CHECK(got.ncpus == 2 && got.drops[1] == 2 && got.agg_drops[0] == 3 && got.spec_drops == 9);
	check_strict(DT_M_STATUS);
	dt_put_ecb(&body, &e);
	check_strict(DT_M_ECB);
	dt_put_session(&body, &session);
	m = sent();
	CHECK(dt_get_session(&m, &session) && session.n[DT_WS_DROPS] == 5);
	CHECK_STR(session.format, "text");
	check_strict(DT_M_SESSION);
	dt_put_lines(&body, 9, "a\nb\n", 4);
	check_strict(DT_M_LINES);
	dt_put_fault(&body, &f);
	check_strict(DT_M_FAULT);
	CHECK(!dt_wire_is_well_formed(0, sent()) && !dt_wire_is_well_formed(DT_M_MAX_, sent()));
	dt_arena_free(a);
}

/* ---- frames ---- */

static dt_buf stream;

static void add_frame(uint32_t type, uint32_t seq, const char *text)
{
	dt_buf b = {0};

	dt_buf_puts(&b, text);
	dt_frame_put(&stream, type, seq, &b);
	dt_buf_free(&b);
}

/* Read the stream byte by byte: the frames, then "." or what is wrong. */
static const char *frames(void)
{
	static char text[256];
	dt_frames f = {0};
	dt_packet p;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < stream.n && rc >= 0; i++) {
		dt_frames_add(&f, stream.s + i, 1);
		while ((rc = dt_frames_next(&f, &p)) > 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%u:%.*s ", p.type,
					      (int)(p.body.end - p.body.p), (const char *)p.body.p);
	}
	snprintf(text + n, sizeof(text) - n, "%s", f.why ? f.why : ".");
	dt_frames_free(&f);
	dt_buf_reset(&stream);
	return text;
}

static void test_frames(void)
{
	add_frame(DT_M_HELLO, 0, "hi");
	add_frame(DT_M_GO, 1, "");
	add_frame(DT_M_NOTE, 2, "abc");
	CHECK_STR(frames(), "1:hi 8: 21:abc .");
	dt_buf_puts(&stream, "the end of an earlier session DTF1 ");
	add_frame(DT_M_GO, 9, "");
	add_frame(DT_M_HELLO, 0, "hi");
	CHECK_STR(frames(), "1:hi .");
	add_frame(DT_M_HELLO, 0, "hi");
	add_frame(DT_M_GO, 2, "");
	CHECK_STR(frames(), "1:hi frames are missing");
	add_frame(DT_M_HELLO, 0, "hi");
	add_frame(99, 1, "");
	CHECK_STR(frames(), "1:hi a frame has an unknown type");
	add_frame(DT_M_HELLO, 0, "hi");
	dt_buf_puts(&stream, "garbage garbage garbage");
	CHECK_STR(frames(), "1:hi a frame does not begin where one must");
	dt_buf_pad(&stream, 'x', DT_FRAME_SKIP + 100);
	CHECK_STR(frames(), "what it sends is not this protocol");
	add_frame(DT_M_HELLO, 0, "hi");
	add_frame(DT_M_GO, 1, "");
	memset(stream.s + stream.n - 8, 0xff, 4); /* its length */
	CHECK_STR(frames(), "1:hi a frame is too long");
	add_frame(DT_M_HELLO, 0, "hi"); /* again: the first one may be of another front */
	add_frame(DT_M_HELLO, 0, "ho");
	add_frame(DT_M_GO, 1, "");
	add_frame(DT_M_HELLO, 0, "ha");
	CHECK_STR(frames(), "1:hi 1:ho 8: the other side has begun anew");
}

int main(void)
{
	test_hello();
	test_program();
	test_shapes();
	test_record();
	test_row();
	test_others();
	test_frames();
	dt_buf_free(&body);
	dt_buf_free(&stream);
	return unit_done();
}
