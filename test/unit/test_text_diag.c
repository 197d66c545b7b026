/* test_text_diag: messages about losses and faults. */
#include "text_session.h"

static void test_losses(void)
{
	uint64_t drops[2] = {0, 1}, agg_drops[2] = {5, 0};
	dt_fault fault = {
	    .epid = 9, .action = 2, .offset = 12, .code = DT_FLT_BADADDR, .value = 16};
	dt_fault divide = {.epid = 9, .action = 0, .offset = -1, .code = DT_FLT_DIVZERO};
	struct fake *f;

	start();
	option("quiet", NULL);
	status = (dt_status){.drops = drops, .agg_drops = agg_drops, .ncpus = 2, .spec_busy = 2};
	work();
	drops[1] = 4;
	option("droptags", NULL);
	status.dbl_errors = 1;
	work();
	status = (dt_status){0};
	f = record("fbt", "f", "entry");
	f->rec.fault = &fault;
	f->probe.mod = "vmlinux";
	f = record("fbt", "f", "entry");
	f->rec.fault = &divide;
	work();
	finish("");
	CHECK_STR(diags, "1 drop on CPU 1\n"
			 "5 aggregation drops on CPU 0\n"
			 "2 failed speculations (available buffers still busy)\n"
			 "[DTRACEDROP_PRINCIPAL] 3 drops on CPU 1\n"
			 "[DTRACEDROP_DBLERROR] 1 error in ERROR probe enabling\n"
			 "error on enabled probe ID 9 (ID 7: fbt:vmlinux:f:entry): invalid address "
			 "(0x10) in action #2 at DIF offset 12\n"
			 "error on enabled probe ID 9 (ID 7: fbt::f:entry): divide-by-zero in "
			 "predicate\n");
}

static int tell_text(void *arg, const dt_diag *d)
{
	(void)arg;
	strcat(strcat(diags, d->text), "\n");
	return 0;
}

/* In a second the losses of all CPUs are one line; DTrace has one for each CPU and check. */
static void test_many_cpus(void)
{
	uint64_t drops[6] = {2, 3, 0, 1, 1, 1}, agg_drops[6] = {0, 0, 1, 0, 1, 0};
	dt_status st = {.drops = drops, .agg_drops = agg_drops, .ncpus = 6, .running = true};
	struct dt_losses_to to = {.opts = &opts, .tell = tell_text, .now = 5000000000};
	dt_losses *l = dt_losses_new();

	start();
	CHECK(dt_losses_report(l, &st, &to) == 0);
	CHECK_STR(diags, "8 drops on CPUs 0,1,3-5\n"
			 "2 aggregation drops on CPUs 2,4\n");
	diags[0] = 0;
	drops[1] += 4;
	to.now += 500000000;
	CHECK(dt_losses_report(l, &st, &to) == 0);
	CHECK_STR(diags, "");
	drops[2] += 1;
	to.now += 500000000;
	CHECK(dt_losses_report(l, &st, &to) == 0);
	CHECK_STR(diags, "5 drops on CPUs 1,2\n");
	diags[0] = 0;
	drops[5]++;
	st.running = false; /* the last time, whenever it is */
	CHECK(dt_losses_report(l, &st, &to) == 0);
	CHECK_STR(diags, "1 drop on CPU 5\n");
	diags[0] = 0;
	option("dropdetail", NULL);
	drops[0]++;
	drops[1]++;
	CHECK(dt_losses_report(l, &st, &to) == 0);
	CHECK_STR(diags, "1 drop on CPU 0\n"
			 "1 drop on CPU 1\n");
	dt_losses_free(l);
	finish("");
}

/* Every kind of loss, one and many, with its tag. */
static void test_every_loss(void)
{
	uint64_t one[1] = {1}, many[1] = {3};

	start();
	status = (dt_status){.drops = one,
			     .agg_drops = one,
			     .ncpus = 1,
			     .dyn_drops = 1,
			     .dyn_rinse_drops = 1,
			     .dyn_dirty_drops = 1,
			     .spec_drops = 1,
			     .spec_busy = 1,
			     .spec_unavail = 1,
			     .stack_overflows = 1,
			     .dbl_errors = 1};
	work();
	CHECK_STR(diags, "1 drop on CPU 0\n"
			 "1 aggregation drop on CPU 0\n"
			 "1 dynamic variable drop\n"
			 "1 dynamic variable drop with non-empty rinsing list\n"
			 "1 dynamic variable drop with non-empty dirty list\n"
			 "1 speculative drop\n"
			 "1 failed speculation (available buffer still busy)\n"
			 "1 failed speculation (no speculative buffer available)\n"
			 "1 jstack()/ustack() string table overflow\n"
			 "1 error in ERROR probe enabling\n");
	diags[0] = 0;
	option("droptags", NULL);
	status = (dt_status){.drops = many,
			     .agg_drops = many,
			     .ncpus = 1,
			     .dyn_drops = 3,
			     .dyn_rinse_drops = 3,
			     .dyn_dirty_drops = 3,
			     .spec_drops = 3,
			     .spec_busy = 3,
			     .spec_unavail = 3,
			     .stack_overflows = 3,
			     .dbl_errors = 3};
	work();
	CHECK_STR(diags,
		  "[DTRACEDROP_PRINCIPAL] 2 drops on CPU 0\n"
		  "[DTRACEDROP_AGGREGATION] 2 aggregation drops on CPU 0\n"
		  "[DTRACEDROP_DYNAMIC] 2 dynamic variable drops\n"
		  "[DTRACEDROP_DYNRINSE] 2 dynamic variable drops with non-empty rinsing list\n"
		  "[DTRACEDROP_DYNDIRTY] 2 dynamic variable drops with non-empty dirty list\n"
		  "[DTRACEDROP_SPEC] 2 speculative drops\n"
		  "[DTRACEDROP_SPECBUSY] 2 failed speculations (available buffers still busy)\n"
		  "[DTRACEDROP_SPECUNAVAIL] 2 failed speculations (no speculative buffer "
		  "available)\n"
		  "[DTRACEDROP_STKSTROVERFLOW] 2 jstack()/ustack() string table overflows\n"
		  "[DTRACEDROP_DBLERROR] 2 errors in ERROR probe enabling\n");
	status = (dt_status){0};
	finish("");
}

/* Every fault: only addresses, alignments and stacks show their value. */
static void test_every_fault(void)
{
	static const struct {
		uint32_t code;
		const char *text;
	} faults[] = {
	    {DT_FLT_UNKNOWN, "unknown fault"},
	    {DT_FLT_BADADDR, "invalid address (0x10)"},
	    {DT_FLT_BADALIGN, "invalid alignment (0x10)"},
	    {DT_FLT_ILLOP, "illegal operation"},
	    {DT_FLT_DIVZERO, "divide-by-zero"},
	    {DT_FLT_NOSCRATCH, "out of scratch space"},
	    {DT_FLT_KPRIV, "invalid kernel access"},
	    {DT_FLT_UPRIV, "invalid user access"},
	    {DT_FLT_TUPOFLOW, "tuple stack overflow"},
	    {DT_FLT_BADSTACK, "bad stack (0x10)"},
	    {DT_FLT_LIBRARY, "library-level fault"},
	    {4711, "unknown fault"},
	};
	dt_probe probe = {.id = 1, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN"};
	dt_ecb ecb = {.epid = 1, .probe = &probe};

	for (size_t i = 0; i < DT_NELEM(faults); i++) {
		dt_fault f = {.epid = 1, .action = 1, .offset = 4, .value = 16};
		char want[160];
		dt_buf b = {0};

		f.code = faults[i].code;
		dt_fault_text(&f, &ecb, &b);
		snprintf(
		    want, sizeof(want),
		    "error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): %s in action #1 at DIF "
		    "offset 4",
		    faults[i].text);
		CHECK_STR(b.s, want);
		dt_buf_free(&b);
	}
}

int main(void)
{
	begin_tests();
	test_losses();
	test_many_cpus();
	test_every_loss();
	test_every_fault();
	return end_tests();
}
