/* test_text_print: printf() and print(), to the byte. */
#include <time.h>

#include "text_session.h"

/* ---- printf ---- */

static void test_printf_numbers(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	struct fake *f;

	start();
	option("quiet", NULL);
	f = print("[%d %i %u %x %X %o]\n");
	for (int i = 0; i < 6; i++)
		number(f, t->int_, -1);
	f = print("[%d %i %d]\n");
	number(f, t->uint, 0xffffffff);
	number(f, t->uint, 0xffffffff);
	number(f, t->uint64, -1);
	f = print("[%5d|%-5d|%05d|%+d|% d|%#x|%.3d|%8.3d]\n");
	for (int i = 0; i < 8; i++)
		number(f, t->long_, 42);
	f = print("[%*d|%-*d|%.*d]\n");
	number(f, t->int_, 4);
	number(f, t->int_, 7);
	number(f, t->int_, -4);
	number(f, t->int_, 7);
	number(f, t->int_, 3);
	number(f, t->int_, 7);
	f = print("[%?x|%p|%c%C%C]\n");
	number(f, t->uint64, 0xabc);
	number(f, t->void_ptr, 0xffff0);
	number(f, t->char_, 'x');
	number(f, t->char_, '\n');
	number(f, t->char_, 1);
	work();
	finish("[-1 -1 4294967295 ffffffff FFFFFFFF 37777777777]\n"
	       "[4294967295 -1 18446744073709551615]\n"
	       "[   42|42   |00042|+42| 42|0x2a|042|     042]\n"
	       "[   7|7   |007]\n"
	       "[             abc|ffff0|x\\n\\001]\n");
}

static void test_printf_text(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	static const double pi = 3.25;
	static const uint32_t wide[3] = {'h', 0xe9, 0};
	dt_type *dbl = dt_type_lookup_local(types, DT_NS_ORDINARY, "double");
	struct fake *f;

	setenv("TZ", "UTC", 1);
	tzset();
	start();
	option("quiet", NULL);
	f = print("100%% [%s|%8s|%-8s|%.2s|%S]\n");
	for (int i = 0; i < 4; i++)
		string(f, "abc");
	string(f, "a\"\t\001");
	f = print("[%Y|%T]\n");
	number(f, t->int64, 1062609821000000000);
	number(f, t->int64, 1062609821000000000);
	f = print("[%a|%a|%30a|%A]\n");
	number(f, t->uint64, 0x1012);
	number(f, t->uint64, 0x1000);
	number(f, t->uint64, 0x3000);
	number(f, t->uint64, 0x99999);
	f = print("[%f|%8.2e|%g]\n");
	for (int i = 0; i < 3; i++)
		datum(f, DT_ACT_DIFEXPR, difo(dbl, DT_TYPE_CTF, 0, 8), &pi, 8, 8);
	f = print("[%ws|%P|%I]\n");
	bytes(f, dt_type_array(types, t->int_, 3), wide, 12);
	number(f, t->uint16, 1);
	string(f, "not an address");
	f->stmts[0].format->convs[1].letter = 'u'; /* a port has a name on some systems only */
	f = print("nothing %s%d%Y%k\n");	   /* missing arguments */
	work();
	finish("100% [abc|     abc|abc     |ab|a\\\"\\t\\001\\0]\n"
	       "[2003 Sep  3 17:23:41|Wed, 03 Sep 2003 17:23:41 UTC]\n"
	       "[vmlinux`vfs_read+0x12|vmlinux`vfs_read|                vmlinux`0x3000|0x99999]\n"
	       "[3.250000|3.25e+00|3.25]\n"
	       "[h\xc3\xa9|1|not an address]\n"
	       "nothing \n");
}

/* ---- print() ---- */

static void shown(dt_type *t, const void *data, size_t n, const char *want)
{
	dt_buf b = {0};

	dt_text_print(&b, types, t, data, n, &env);
	CHECK_STR(b.s, want);
	dt_buf_free(&b);
}

static void test_print_scalars(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *e = dt_type_enum(types, "D", "color");
	int32_t minus = -1, zero = 0, five = 5;
	uint64_t address = 0x1234;
	static const int32_t three[] = {1, 2, 3};
	char text[8] = "ab";

	env.types = types;
	dt_type_add_enumerator(types, e, "red", 0);
	dt_type_add_enumerator(types, e, "green", 5);
	shown(t->int_, &minus, 4, "int 0xffffffff\n");
	shown(t->int_, &zero, 4, "int 0\n");
	shown(t->char_, "a", 1, "char 'a'\n");
	shown(t->char_, "\004", 1, "char '\\004'\n");
	shown(t->void_ptr, &address, 8, "void * 0x1234\n");
	shown(e, &five, 4, "enum color green\n");
	shown(e, &minus, 4, "enum color -1\n");
	shown(t->string, "he\"y", 5, "string \"he\\\"y\"\n");
	shown(dt_type_array(types, t->int_, 3), three, 12, "int [3] [ 0x1, 0x2, 0x3 ]\n");
	shown(dt_type_array(types, t->int_, 3), three, 8, "int [3] [ 0x1, 0x2, <not recorded> ]\n");
	shown(dt_type_array(types, t->char_, 8), text, 8, "char [8] \"ab\"\n");
}

static void test_print_structures(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *inner = dt_type_sou(types, "D", DT_K_STRUCT, NULL);
	dt_type *item = dt_type_sou(types, "D", DT_K_STRUCT, "item"), *item_t;
	dt_type *pair = dt_type_sou(types, "D", DT_K_STRUCT, "pair");
	dt_type *u = dt_type_sou(types, "D", DT_K_UNION, NULL);
	struct {
		int32_t a;
		void *b;
		struct {
			uint64_t when;
		} c;
		int32_t bits1 : 4, bits2 : 7;
		union {
			int32_t x;
			uint16_t y;
		};
		char d[4], e[3];
		struct {
			int32_t i;
		} f[2];
	} data = {.a = 1,
		  .b = (void *)2,
		  .c = {3},
		  .bits1 = 1,
		  .bits2 = 5,
		  .x = 0x10002,
		  .d = "ab",
		  .e = {4, 0, 0},
		  .f = {{5}, {6}}};

	dt_type_add_member(types, inner, "when", t->uint64, 0);
	dt_type_finish_sou(types, inner);
	dt_type_add_member(types, item, "i", t->int_, 0);
	dt_type_finish_sou(types, item);
	item_t = dt_type_typedef(types, "D", "item_t", item);
	dt_type_add_member(types, u, "x", t->int_, 0);
	dt_type_add_member(types, u, "y", t->uint16, 0);
	dt_type_finish_sou(types, u);
	dt_type_add_member(types, pair, "a", t->int_, 0);
	dt_type_add_member(types, pair, "b", t->void_ptr, 0);
	dt_type_add_member(types, pair, "c", inner, 0);
	dt_type_add_member(types, pair, "bits1", t->int_, 4);
	dt_type_add_member(types, pair, "bits2", t->int_, 7);
	dt_type_add_member(types, pair, "", u, 0);
	dt_type_add_member(types, pair, "d", dt_type_array(types, t->char_, 4), 0);
	dt_type_add_member(types, pair, "e", dt_type_array(types, t->char_, 3), 0);
	dt_type_add_member(types, pair, "f", dt_type_array(types, item_t, 2), 0);
	dt_type_finish_sou(types, pair);
	CHECK(dt_type_size(types, pair) == sizeof(data));
	shown(pair, &data, sizeof(data),
	      "struct pair {\n"
	      "    int a = 0x1\n"
	      "    void *b = 0x2\n"
	      "    struct c = {\n"
	      "        uint64_t when = 0x3\n"
	      "    }\n"
	      "    int bits1 :4 = 0x1\n"
	      "    int bits2 :7 = 0x5\n"
	      "    union  {\n"
	      "        int x = 0x10002\n"
	      "        uint16_t y = 0x2\n"
	      "    }\n"
	      "    char [4] d = [ \"ab\" ]\n"
	      "    char [3] e = [ '\\004', '\\0', '\\0' ]\n"
	      "    item_t [2] f = [ \n"
	      "        item_t {\n"
	      "            int i = 0x5\n"
	      "        }, \n"
	      "        item_t {\n"
	      "            int i = 0x6\n"
	      "        }\n"
	      "    ]\n"
	      "}");
	shown(dt_type_array(types, item_t, 2), data.f, 8,
	      "item_t [2] [ \n"
	      "    item_t {\n"
	      "        int i = 0x5\n"
	      "    }, \n"
	      "    item_t {\n"
	      "        int i = 0x6\n"
	      "    }\n"
	      "]\n");
}

int main(void)
{
	begin_tests();
	test_printf_numbers();
	test_printf_text();
	test_print_scalars();
	test_print_structures();
	return end_tests();
}
