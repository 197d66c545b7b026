/* test_text_agg: the text layouts of aggregations, to the byte. */
#include "text_session.h"

#define HEAD "           value  ------------- Distribution ------------- count    \n"

static void test_default_aggs(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *str[] = {t->string}, *pair[] = {t->int_, t->string};
	dt_agg *count = aggregation(1, DT_ACT_COUNT, 0, 1, str);
	dt_agg *avg = aggregation(2, DT_ACT_AVG, 0, 2, pair);
	dt_agg *plain = aggregation(3, DT_ACT_MIN, 0, 0, NULL);
	uint64_t *v;

	start();
	row(count)[0] = 9;
	key_string(0, "sshd");
	row(count)[0] = 2;
	key_string(0, "bash");
	row(count)[0] = 2;
	key_string(0, "awk");
	v = row(avg);
	v[0] = 3;
	v[1] = (uint64_t)-10;
	key_int(0, -1, 4);
	key_string(1, "x");
	row(plain)[0] = (uint64_t)-77;
	row(plain)[0] = 5; /* from another CPU */
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish("\n"
	       "  awk                                                               2\n"
	       "  bash                                                              2\n"
	       "  sshd                                                              9\n"
	       "       -1  x                                                                -3\n"
	       "              -77\n");
}

static void test_agg_statements(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *keys[] = {t->int_};
	dt_agg *a = aggregation(1, DT_ACT_SUM, 0, 1, keys);
	dt_agg *b = aggregation(2, DT_ACT_COUNT, 0, 1, keys);

	start();
	option("quiet", NULL);
	for (int i = 1; i <= 4; i++) {
		row(a)[0] = (uint64_t)(i * 10);
		key_int(0, i, 4);
	}
	row(b)[0] = 1;
	key_int(0, 9, 4);
	row(b)[0] = 1;
	key_int(0, 2, 4);
	on_agg(DT_ST_TRUNC, a, 3);
	printa(a, NULL);
	on_agg(DT_ST_TRUNC, a, -2);
	on_agg(DT_ST_NORMALIZE, a, 10);
	printa(a, b); /* union of keys, missing values zero */
	on_agg(DT_ST_CLEAR, a, 0);
	on_agg(DT_ST_DENORMALIZE, a, 0);
	printa(a, NULL);
	work();
	row(a)[0] = 7; /* merges into the cleared row */
	key_int(0, 2, 4);
	printa(a, NULL);
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish(
	    "\n        2               20\n        3               30\n        4               40\n"
	    "\n        9                0                1\n        2                2             "
	    "   1\n"
	    "        3                3                0\n"
	    "\n        2                0\n        3                0\n"
	    "\n        3                0\n        2                7\n\n");
}

static void test_sorting(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *keys[] = {t->string, t->int_};
	dt_agg *a = aggregation(1, DT_ACT_SUM, 0, 2, keys);
	static const struct {
		const char *s;
		int i, v;
	} data[] = {{"x", 3, 1}, {"y", 2, 1}, {"z", -1, 0}};
	static const char *const options[][2] = {
	    {"aggsortkeypos", "1"}, {"aggsortkey", NULL}, {"aggsortrev", NULL}};

	start();
	option("quiet", NULL);
	for (int i = 0; i < 3; i++) {
		row(a)[0] = (uint64_t)data[i].v;
		key_string(0, data[i].s);
		key_int(1, data[i].i, 4);
	}
	printa(a, NULL);
	work();
	for (int i = 0; i < 3; i++) {
		option(options[i][0], options[i][1]);
		printa(a, NULL);
		work();
	}
#define X "  x                                                         3                1\n"
#define Y "  y                                                         2                1\n"
#define Z "  z                                                        -1                0\n"
	/* by value; ties from key 1 on; by key 1, unsigned; the reverse of that */
	finish("\n" Z X Y "\n" Z Y X "\n" Y X Z "\n" Z X Y);
}

static void test_quantize(void)
{
	dt_agg *a = aggregation(1, DT_ACT_QUANTIZE, 0, 0, NULL);
	dt_agg *b = aggregation(2, DT_ACT_QUANTIZE, 0, 0, NULL);
	dt_agg *c = aggregation(3, DT_ACT_QUANTIZE, 0, 0, NULL);
	dt_agg *d = aggregation(4, DT_ACT_QUANTIZE, 0, 0, NULL);
	uint64_t *v;

	start();
	v = row(a);
	quantize(v, 1, 10);
	quantize(v, 3, 20);
	quantize(v, 9, 10);
	row(b);
	quantize(row(c), 0, -4);
	v = row(d);
	quantize(v, -1, -1);
	quantize(v, 1, 3);
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish("\n\n" HEAD "               0 |                                         0        \n"
	       "               1 |@@@@@@@@@@                               10       \n"
	       "               2 |@@@@@@@@@@@@@@@@@@@@                     20       \n"
	       "               4 |                                         0        \n"
	       "               8 |@@@@@@@@@@                               10       \n"
	       "              16 |                                         0        \n"
	       "\n\n" HEAD "              -1 |                                         0        \n"
	       "               0 |                                         0        \n"
	       "               1 |                                         0        \n"
	       "\n\n" HEAD "              -1                                         | 0        \n"
	       "               0 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -4       \n"
	       "               1                                         | 0        \n"
	       "\n\n" HEAD "              -2                     |                     0        \n"
	       "              -1                @@@@@|                     -1       \n"
	       "               0                     |                     0        \n"
	       "               1                     |@@@@@@@@@@@@@@@      3        \n"
	       "               2                     |                     0        \n"
	       "\n");
}

static void test_lquantize(void)
{
	uint64_t lp = dt_lquantize_param(0, 3, 10), llp = dt_llquantize_param(10, 0, 1, 10);
	dt_agg *a = aggregation(1, DT_ACT_LQUANTIZE, lp, 0, NULL);
	dt_agg *b = aggregation(2, DT_ACT_LQUANTIZE, lp, 0, NULL);
	dt_agg *c = aggregation(3, DT_ACT_LLQUANTIZE, llp, 0, NULL);
	uint64_t *v;

	start();
	v = row(a);
	v[1 + dt_lquantize_bucket(lp, -5)] = 1;
	v[1 + dt_lquantize_bucket(lp, 99)] = 3;
	row(b);
	v = row(c);
	v[1 + dt_llquantize_bucket(llp, 0)] = 1;
	v[1 + dt_llquantize_bucket(llp, 2)] = 1;
	v[1 + dt_llquantize_bucket(llp, 1000)] = 2;
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	finish("\n\n" HEAD "             < 0 |@@@@@@@@@@                               1        \n"
	       "               0 |                                         0        \n"
	       "              10 |                                         0        \n"
	       "              20 |                                         0        \n"
	       "           >= 30 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n"
	       "\n\n" HEAD "             < 0 |                                         0        \n"
	       "               0 |                                         0        \n"
	       "              10 |                                         0        \n"
	       "\n\n" HEAD "             < 1 |@@@@@@@@@@                               1        \n"
	       "               1 |                                         0        \n"
	       "               2 |@@@@@@@@@@                               1        \n"
	       "               3 |                                         0        \n"
	       "               4 |                                         0        \n"
	       "               5 |                                         0        \n"
	       "               6 |                                         0        \n"
	       "               7 |                                         0        \n"
	       "               8 |                                         0        \n"
	       "               9 |                                         0        \n"
	       "              10 |                                         0        \n"
	       "              20 |                                         0        \n"
	       "              30 |                                         0        \n"
	       "              40 |                                         0        \n"
	       "              50 |                                         0        \n"
	       "              60 |                                         0        \n"
	       "              70 |                                         0        \n"
	       "              80 |                                         0        \n"
	       "              90 |                                         0        \n"
	       "          >= 100 |@@@@@@@@@@@@@@@@@@@@                     2        \n"
	       "\n");
}

static void test_zoom_and_utf8(void)
{
	uint64_t lp = dt_lquantize_param(0, 4, 1);
	dt_agg *a = aggregation(1, DT_ACT_LQUANTIZE, lp, 0, NULL);
	uint64_t *v;

	start();
	option("quiet", NULL);
	v = row(a);
	v[2] = 1000;
	v[3] = 5000;
	v[4] = 500;
	option("aggzoom", NULL);
	printa(a, NULL);
	work();
	option("encoding", "utf8");
	printa(a, NULL);
	work();
	finish("\n\n" HEAD "             < 0 |                                         0        \n"
	       "               0 |@@@@@@@@                                 1000     \n"
	       "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   5000     \n"
	       "               2 |@@@@                                     500      \n"
	       "               3 |                                         0        \n"
	       "\n\n\n" HEAD
	       "             < 0 |                                         0        \n"
	       "               0 |███████▌                                 1000     \n"
	       "               1 |██████████████████████████████████████   5000     \n"
	       "               2 |███▊                                     500      \n"
	       "               3 |                                         0        \n"
	       "\n");
}

static void test_pack(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	uint64_t lp = dt_lquantize_param(-10, 4, 5);
	dt_type *key[] = {t->int_}, *mixed[] = {t->string, t->char_};
	dt_agg *a = aggregation(1, DT_ACT_QUANTIZE, 0, 1, key);
	dt_agg *b = aggregation(2, DT_ACT_LQUANTIZE, lp, 0, NULL);
	dt_agg *c = aggregation(3, DT_ACT_QUANTIZE, 0, 2, mixed);
	uint64_t *v;

	start();
	option("quiet", NULL);
	option("aggpack", NULL);
	option("encoding", "ascii");
	v = row(a);
	key_int(0, 21, 4);
	quantize(v, 0, 21);
	quantize(v, 1, 79);
	v = row(a);
	key_int(0, 22, 4);
	quantize(v, 0, 22);
	quantize(v, 1, 78);
	v = row(b);
	v[1] = (uint64_t)-1;
	v[2] = 1;
	v[4] = 1;
	v = row(c);
	key_string(0, "pair");
	key_int(1, 1, 1);
	quantize(v, (int64_t)1 << 32, 1);
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	option("encoding", "utf8");
	option("aggzoom", NULL);
	printa(a, NULL);
	work();
	finish("\n\n"
	       "      key  min .---. max  | count\n"
	       "       22    0 :xx : 2    | 100\n"
	       "       21    0 :_X : 2    | 100\n"
	       "\n"
	       "     min .------. max      | count\n"
	       "   < -10 :vx x  : >= 10    | 1\n"
	       "\n"
	       "                  key        min .---. max        | count\n"
	       "             pair   1 2147483648 : X : 8589934592 | 1\n"
	       "\n\n"
	       "      key  min .---. max  | count\n"
	       "       22    0 :▃█ : 2    | 100\n"
	       "       21    0 :▃█ : 2    | 100\n");
}

static void test_hist(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *key[] = {t->string};
	dt_agg *a = aggregation(1, DT_ACT_SUM, 0, 1, key);
	dt_agg *b = aggregation(2, DT_ACT_COUNT, 0, 1, key);

	start();
	option("quiet", NULL);
	option("agghist", NULL);
	row(a)[0] = (uint64_t)-10;
	key_string(0, "less");
	row(a)[0] = 30;
	key_string(0, "more");
	row(b)[0] = 1;
	key_string(0, "one");
	row(b)[0] = 6;
	key_string(0, "six");
	work();
	dt_consumer_print_aggs(consumer, &(dt_error){0});
	option("aggzoom", NULL);
	printa(b, NULL);
	work();
#define KEYS "              key  ------------- Distribution ------------- count    \n"
	finish("\n\n" KEYS "             less                @@@@@|                     -10      \n"
	       "             more                     |@@@@@@@@@@@@@@@      30       \n"
	       "\n" KEYS "              one |@@@@@@                                   1        \n"
	       "              six |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@       6        \n"
	       "\n\n" KEYS "              one |@@@@@@@                                  1        \n"
	       "              six |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 6        \n");
}

static void test_printa_format(void)
{
	const struct dt_intrinsics *t = dt_intrinsics(types);
	dt_type *keys[] = {t->string};
	dt_agg *a = aggregation(1, DT_ACT_COUNT, 0, 1, keys);
	dt_agg *b = aggregation(2, DT_ACT_QUANTIZE, 0, 1, keys);
	uint64_t *v;

	start();
	option("quiet", NULL);
	row(a)[0] = 12;
	key_string(0, "k");
	v = row(b);
	quantize(v, 1, 1);
	key_string(0, "k");
	printa(a, b);
	records[nrecords - 1]->stmts[0].format = format("%-4s %@5d %@d%@x\n");
	work();
	finish("k       12 \n" HEAD
	       "               0 |                                         0        \n"
	       "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
	       "               2 |                                         0        \n"
	       "\n" HEAD "               0 |                                         0        \n"
	       "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
	       "               2 |                                         0        \n"
	       "\n");
}

/* A large table does not wait in memory until it is complete; where there is no stream it does. */
static void test_pieces(void)
{
	enum { LINES = 20000, WIDTH = 18 };
	dt_agg *plain = aggregation(1, DT_ACT_SUM, 0, 0, NULL);
	dt_aggset set = {.agg = plain, .normal = 1}, *sets[] = {&set};
	static dt_aggline lines[LINES];
	uint64_t number = 7;
	const uint64_t *value = &number;
	dt_aggtable t = {.sets = sets, .nsets = 1, .lines = lines, .nlines = LINES, .at_exit = true};
	dt_buf out = {0};

	for (int i = 0; i < LINES; i++)
		lines[i] = (dt_aggline){.agg = plain, .values = &value};
	start();
	env.stream = stream;
	CHECK(dt_text_aggs(&out, &t, &env, &(dt_error){0}) == 0);
	fflush(stream);
	CHECK(out.n < 70000);
	CHECK(output_size + out.n == LINES * WIDTH);
	CHECK(strncmp(output + output_size - WIDTH, "                7\n", WIDTH) == 0);
	dt_buf_reset(&out);
	env.stream = NULL;
	CHECK(dt_text_aggs(&out, &t, &env, &(dt_error){0}) == 0);
	CHECK(out.n == LINES * WIDTH);
	dt_buf_free(&out);
	dt_consumer_free(consumer);
	fclose(stream);
	free(output);
	dt_options_free(&opts);
}

int main(void)
{
	begin_tests();
	test_pieces();
	test_default_aggs();
	test_agg_statements();
	test_sorting();
	test_quantize();
	test_lquantize();
	test_zoom_and_utf8();
	test_pack();
	test_hist();
	test_printa_format();
	return end_tests();
}
