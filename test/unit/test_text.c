/* test_text: the text layout of records, to the byte; what acts on the output. */
#include <unistd.h>

#include "text_session.h"

static void test_records(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	struct fake *f;

	start();
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_TRACE);
	number(f, t->int_, -5);
	stmt(f, DT_ST_TRACE);
	string(f, "hello");
	f = record("syscall", "read", "entry");
	f->rec.cpu = 12;
	stmt(f, DT_ST_TRACE);
	number(f, t->llong, 1234567890123);
	stmt(f, DT_ST_TRACE);
	number(f, t->uint16, 7);
	stmt(f, DT_ST_TRACE);
	number(f, t->char_, -1);
	record("profile", "", "tick-1s");
	CHECK(work() == 0);
	finish("CPU     ID                    FUNCTION:NAME\n"
	       "  0      7                           :BEGIN        -5  hello                       "
	       "     \n"
	       " 12      7                       read:entry     1234567890123     7 255\n"
	       "  0      7                         :tick-1s \n");
}

static void test_quiet_and_exit(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	struct fake *f;

	start();
	option("quiet", NULL);
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_TRACE);
	number(f, t->long_, -5);
	stmt(f, DT_ST_TRACE);
	string(f, " x\n");
	stmt(f, DT_ST_EXIT);
	number(f, t->int_, 3);
	CHECK(work() == 1);
	CHECK(dt_consumer_exit_status(consumer) == 3);
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish("-5 x\n\n");
}

static void test_bytes(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	static const char raw[20] = "ab\001c";
	static const char text[4] = {'f', 'o', 'u', 'r'};
	static const char padded[6] = "ab";
	struct fake *f;

	start();
	option("quiet", NULL);
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_TRACE);
	bytes(f, dt_type_array(types, t->char_, 4), text, 4);
	stmt(f, DT_ST_TRACE);
	bytes(f, dt_type_array(types, t->char_, 6), padded, 6);
	stmt(f, DT_ST_TRACE);
	bytes(f, dt_type_array(types, t->char_, 20), raw, 20);
	stmt(f, DT_ST_TRACEMEM);
	datum(f, DT_ACT_TRACEMEM, NULL, text, 4, 4);
	number(f, t->uint64, 3);
	work();
	finish("fourab\n"
	       "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
	       "         0: 61 62 01 63 00 00 00 00 00 00 00 00 00 00 00 00  ab.c............\n"
	       "        10: 00 00 00 00                                      ....\n"
	       "\n"
	       "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
	       "         0: 66 6f 75                                         fou\n");
}

static void test_stacks(void)
{
	static const uint64_t kernel[4] = {0x1000, 0x1012, 0x3000, 0};
	static const uint64_t user[4] = {42, 0x501, 0x99999, 0};
	static const uint64_t address = 0x1012;
	struct fake *f;

	start();
	f = record("fbt", "f", "entry");
	stmt(f, DT_ST_STACK);
	datum(f, DT_ACT_STACK, NULL, kernel, 32, 32);
	stmt(f, DT_ST_STACK);
	datum(f, DT_ACT_USTACK, NULL, user, 32, 32);
	stmt(f, DT_ST_SYM);
	datum(f, DT_ACT_SYM, NULL, &address, 8, 8);
	stmt(f, DT_ST_SYM);
	datum(f, DT_ACT_MOD, NULL, &address, 8, 8);
	stmt(f, DT_ST_SYM);
	datum(f, DT_ACT_UADDR, NULL, user, 16, 16);
	work();
	finish("CPU     ID                    FUNCTION:NAME\n"
	       "  0      7                          f:entry \n"
	       "              vmlinux`vfs_read\n"
	       "              vmlinux`vfs_read+0x12\n"
	       "              vmlinux`0x3000\n"
	       "\n"
	       "              libc.so.6`malloc+0x1\n"
	       "              0x99999\n"
	       "  vmlinux`vfs_read                                  "
	       "  vmlinux                                           "
	       "  libc.so.6`malloc+0x1                              \n");
}

static void test_flow(void)
{
	struct fake *f;

	start();
	option("flowindent", NULL);
	option("quiet", NULL);
	record("syscall", "read", "entry");
	f = record("fbt", "vfs_read", "entry");
	f->probe.id = 8;
	f = record("fbt", "vfs_read", "entry"); /* a second clause on the same probe */
	f->probe.id = 8;
	f = record("io", "", "start");
	f->probe.id = 9;
	f = record("fbt", "vfs_read", "return");
	f->probe.id = 10;
	f = record("fbt", "vfs_read", "return");
	f->probe.id = 10;
	f = record("syscall", "read", "return");
	f->probe.id = 11;
	work();
	finish("CPU FUNCTION                                 \n"
	       "  0  => read                                  \n"
	       "  0    -> vfs_read                            \n"
	       "  0     | vfs_read:entry                      \n"
	       "  0     | :start                              \n"
	       "  0     | vfs_read:return                     \n"
	       "  0    <- vfs_read                            \n"
	       "  0  <= read                                  \n");
}

static void test_setopt_and_freopen(void)
{
	char path[] = "/tmp/test_text_XXXXXX", line[32] = "";
	int fd = mkstemp(path);
	struct fake *f;

	start();
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_SETOPT);
	string(f, "quiet");
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_FREOPEN)->format = format(path);
	f = print("to the file\n");
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_FREOPEN);
	f = print("back\n");
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_SYSTEM)->format = format("exit 0");
	work();
	CHECK(read(fd, line, sizeof(line) - 1) == 12);
	CHECK_STR(line, "to the file\n");
	f = record("dtrace", "", "BEGIN");
	stmt(f, DT_ST_SETOPT);
	string(f, "strsize"); /* not while tracing */
	string(f, "10");
	CHECK(work() == 0); /* a message, and it continues */
	CHECK_STR(diags, "setopt(\"strsize\", \"10\"): Operation illegal when tracing is active\n");
	finish("CPU     ID                    FUNCTION:NAME\n"
	       "  0      7                           :BEGIN \n"
	       "back\n");
	close(fd);
	unlink(path);
}

int main(void)
{
	begin_tests();
	test_records();
	test_quiet_and_exit();
	test_bytes();
	test_stacks();
	test_flow();
	test_setopt_and_freopen();
	return end_tests();
}
