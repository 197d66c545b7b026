/* How programs begin, and what they look for only once (translate_world.h). */
#include "translate_world.h"

#include "arch/arch.h"

/* A predicate that needs nothing of the slot is tested before one is claimed. */
static const char early[] =
    "\tr7 = r1\n"
    "\tcall get_current_pid_tgid\n"
    "\tr0 >>= 32\n"
    "\tr1 = 7\n"
    "\tif r0 == r1 goto L1\n"
    "\tgoto L1\n" /* to the end, which is not listed */
    "L1:\n";

static void test_early(void)
{
	check_start("a /pid == 7/ { @ = count(); }", early);
	check_start("a /pid == 7 && arg0 != 3/ { @ = count(); }", early);
	check_start("a /pid == 7 || arg0 == 3/ { @ = count(); }", "\tr7 = r1\n");
	check_start("a /pid != 7/ { @ = count(); }", "\tr7 = r1\n");
	check_start("a /(pid == 7) == 0/ { @ = count(); }", "\tr7 = r1\n");
	check_start("a { @ = count(); }", "\tr7 = r1\n");
}

/* At system calls the probe is found before a slot is claimed, and arguments are tested then. */
static const char is_110[] =
    "\tr7 = r1\n"
    "\tr1 = u64 [r7+8]\n"
    "\tif r1 != 110 goto L1\n"
    "\tr8 = 0\n"
    "\tgoto L2\n"
    "L1:\n"
    "\tgoto L1\n" /* to the end, which is not listed */
    "L2:\n";

static void test_calls(void)
{
	int arg0 = (int)DT_REG_AT(dt_arch_host()->entry.arg[0]);
	char text[1024], at[16] = "";

	if (arg0)
		snprintf(at, sizeof(at), "+%d", arg0);
	at_call = true;
	check_start("a { @ = count(); }", is_110);
	snprintf(text, sizeof(text),
		 "%s"
		 "\tcall get_current_task_btf\n"
		 "\tr1 = r0\n"
		 "\tcall task_pt_regs\n"
		 "\tr0 = u64 [r0%s]\n"
		 "\tr1 = 5\n"
		 "\tif r0 == r1 goto L3\n"
		 "\tgoto L1\n"
		 "L3:\n",
		 is_110, at);
	check_start("a /arg0 == 5/ { @ = count(); }", text);
	check_start("a /arg0 == 5 && arg1 != 6/ { @ = count(); }", text);
	check_start("a /arg0 == 5 || arg1 != 6/ { @ = count(); }", is_110);
	at_call = false;
}

/* The variables of a thread are looked for once if there is nothing to do without them. */
static void test_thread(void)
{
	static const int get = BPF_FUNC_task_storage_get;

	CHECK(count_calls("self int x, y; a /self->x/ { @ = sum(self->x + self->y); self->x = 0; }", get) == 1);
	CHECK(count_calls("self int x, y; a /self->x > 3 && self->x < 9/ { self->y = 1; self->x = 0; }", get) == 1);
	CHECK(count_calls("self int x, y; a /self->x && self->y/ { self->x = 0; }", get) == 1);
	/* without them these are 1, or not known: one for each load, two for each store */
	CHECK(count_calls("self int x, y; a /!self->x/ { self->x = 1; }", get) == 3);
	CHECK(count_calls("self int x, y; a /self->x < 3/ { self->x = 1; }", get) == 3);
	CHECK(count_calls("self int x, y; a /self->x || arg0/ { self->x = 1; }", get) == 3);
	CHECK(count_calls("self int x, y; a /arg0 && self->x/ { self->x = 1; }", get) == 3);
}

/* Words of the slot that nothing reads are not set. */
static void test_words(void)
{
	CHECK(count_calls("a { @ = count(); }", BPF_FUNC_ktime_get_ns) == 0);
	CHECK(count_calls("a { @ = sum(arg0 / arg1); }", BPF_FUNC_ktime_get_ns) == 1); /* of the fault */
}

int main(void)
{
	test_early();
	test_calls();
	test_thread();
	test_words();
	return unit_done();
}
