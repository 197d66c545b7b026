/* Mistakes in actions and aggregations, and the tag of each. */
#include "gen_world.h"
#include "dif/quantize.h"

static void test_tags(void)
{
	static const struct {
		const char *text, *tag;
	} cases[] = {
	    {"trace()", "D_PROTO_LEN"},
	    {"@t = count(); trace(@t)", "D_TRACE_AGG"},
	    {"trace((void)0)", "D_TRACE_VOID"},
	    {"tracemem(arg0)", "D_PROTO_LEN"},
	    {"tracemem(execname, 4)", "D_TRACEMEM_ADDR"},
	    {"tracemem(arg0, arg1)", "D_TRACEMEM_SIZE"},
	    {"tracemem(arg0, 4, execname)", "D_TRACEMEM_DYNSIZE"},
	    {"printm(arg0, arg1)", "D_PRINTM_SIZE"},
	    {"printm(4, execname)", "D_PRINTM_ADDR"},
	    {"stack(1, 2)", "D_STACK_PROTO"},
	    {"stack(0)", "D_STACK_SIZE"},
	    {"stack(arg0)", "D_STACK_SIZE"},
	    {"ustack(1, 2, 3)", "D_USTACK_PROTO"},
	    {"ustack(0)", "D_USTACK_FRAMES"},
	    {"jstack(1, -1)", "D_USTACK_STRSIZE"},
	    {"printf(execname)", "D_PRINTF_ARG_FMT"},
	    {"printf(\"\")", "D_PRINTF_FMT_EMPTY"},
	    {"printf(\"%d\")", "D_PRINTF_ARG_PROTO"},
	    {"printf(\"%d\", execname)", "D_PRINTF_ARG_TYPE"},
	    {"printf(\"%hd\", 1)", "D_PRINTF_ARG_TYPE"},
	    {"printf(\"%d\", 1, 2)", "D_PRINTF_ARG_EXTRA"},
	    {"printf(\"%*d\", execname, 1)", "D_PRINTF_DYN_TYPE"},
	    {"printf(\"%*d\")", "D_PRINTF_DYN_PROTO"},
	    {"printf(\"%@d\", 1)", "D_PRINTF_AGG_CONV"},
	    {"printf(\"%r\", 1)", "D_SYNTAX"},
	    {"printf(\"%q\", 1)", "D_PRINTF_ARG_TYPE"},
	    {"printa()", "D_PROTO_LEN"},
	    {"printa(\"x\")", "D_PRINTA_PROTO"},
	    {"printa(1)", "D_PRINTA_AGGARG"},
	    {"printa(@never)", "D_IDENT_UNDEF"},
	    {"@k1[1] = count(); @k2 = count(); printa(@k1, @k2)", "D_PRINTA_AGGKEY"},
	    {"@k3[1] = count(); @k4[\"a\"] = count(); printa(@k3, @k4)", "D_PRINTA_AGGPROTO"},
	    {"@f[1] = count(); printa(\"%d %@d %@d\", @f)", "compiled"},
	    {"@f[1] = count(); printa(\"%d %d\", @f)", "D_PRINTF_ARG_PROTO"},
	    {"@f[1] = count(); printa(\"%@s\", @f)", "D_PRINTF_ARG_TYPE"},
	    {"@q = quantize(1); printa(\"%@s\", @q)", "compiled"},
	    {"clear()", "D_CLEAR_PROTO"},
	    {"clear(1)", "D_CLEAR_AGGARG"},
	    {"clear(@never)", "D_IDENT_UNDEF"},
	    {"trunc()", "D_TRUNC_PROTO"},
	    {"trunc(1)", "D_TRUNC_AGGARG"},
	    {"trunc(@never)", "D_IDENT_UNDEF"},
	    {"@u = count(); trunc(@u, execname)", "D_TRUNC_SCALAR"},
	    {"@u = count(); normalize(@u)", "D_NORMALIZE_PROTO"},
	    {"@u = count(); normalize(@u, execname)", "D_NORMALIZE_SCALAR"},
	    {"normalize(1, 1)", "D_NORMALIZE_AGGARG"},
	    {"denormalize(@never)", "D_IDENT_UNDEF"},
	    {"freopen(\".\")", "D_FREOPEN_INVALID"},
	    {"freopen(\"\")", "compiled"},
	    {"@x", "D_IDENT_UNDEF"},
	    {"@x = 1", "D_AGG_FUNC"},
	    {"@x = rand()", "D_AGG_FUNC"},
	    {"@x = nosuch()", "D_FUNC_UNDEF"},
	    {"@x[1][2] = count()", "D_AGG_MDIM"},
	    {"@x = sum(execname)", "D_AGG_SCALAR"},
	    {"@x = count(1)", "D_PROTO_LEN"},
	    {"@r = count(); @r = sum(1)", "D_AGG_REDEF"},
	    {"@s[1] = count(); @s[1, 2] = count()", "D_PROTO_LEN"},
	    {"@s[1] = count(); @s[\"a\"] = count()", "D_PROTO_ARG"},
	    {"@s[(void)1] = count()", "D_KEY_TYPE"},
	    {"@s[exit(0)] = count()", "D_KEY_TYPE"},
	    {"@l = lquantize(1, arg0, 2)", "D_LQUANT_BASETYPE"},
	    {"@l = lquantize(1, 0, arg0)", "D_LQUANT_LIMTYPE"},
	    {"@l = lquantize(1, 0, 2, arg0)", "D_LQUANT_STEPTYPE"},
	    {"@l = lquantize(1, 5000000000, 2)", "D_LQUANT_BASEVAL"},
	    {"@l = lquantize(1, 0, 5000000000)", "D_LQUANT_LIMVAL"},
	    {"@l = lquantize(1, 0, 10, 0)", "D_LQUANT_STEPTYPE"},
	    {"@l = lquantize(1, 10, 2)", "D_LQUANT_MISMATCH"},
	    {"@l = lquantize(1, 0, 10, 11)", "D_LQUANT_STEPLARGE"},
	    {"@l = lquantize(1, 0, 1000000)", "D_LQUANT_STEPSMALL"},
	    {"@m = lquantize(1, 0, 10); @m = lquantize(1, 1, 10)", "D_LQUANT_MATCHBASE"},
	    {"@m = lquantize(1, 0, 10); @m = lquantize(1, 0, 20)", "D_LQUANT_MATCHLIM"},
	    {"@m = lquantize(1, 0, 10); @m = lquantize(1, 0, 10, 2)", "D_LQUANT_MATCHSTEP"},
	    {"@g = llquantize(1, arg0, 0, 6, 20)", "D_LLQUANT_FACTORTYPE"},
	    {"@g = llquantize(1, 10, arg0, 6, 20)", "D_LLQUANT_LOWTYPE"},
	    {"@g = llquantize(1, 10, 0, arg0, 20)", "D_LLQUANT_HIGHTYPE"},
	    {"@g = llquantize(1, 10, 0, 6, arg0)", "D_LLQUANT_NSTEPTYPE"},
	    {"@g = llquantize(1, 70000, 0, 6, 20)", "D_LLQUANT_FACTORVAL"},
	    {"@g = llquantize(1, 10, -1, 6, 20)", "D_LLQUANT_LOWVAL"},
	    {"@g = llquantize(1, 10, 0, 70000, 20)", "D_LLQUANT_HIGHVAL"},
	    {"@g = llquantize(1, 10, 0, 6, 70000)", "D_LLQUANT_NSTEPVAL"},
	    {"@g = llquantize(1, 1, 0, 6, 20)", "D_LLQUANT_FACTORSMALL"},
	    {"@g = llquantize(1, 10, 6, 6, 20)", "D_LLQUANT_MAGRANGE"},
	    {"@g = llquantize(1, 10, 0, 6, 4)", "D_LLQUANT_FACTORNSTEPS"},
	    {"@g = llquantize(1, 10, 0, 6, 30)", "D_LLQUANT_FACTOREVEN"},
	    {"@g = llquantize(1, 10, 0, 60, 20)", "D_LLQUANT_MAGTOOBIG"},
	    {"@h = llquantize(1, 10, 0, 6, 20); @h = llquantize(1, 2, 0, 6, 2)",
	     "D_LLQUANT_FACTORMATCH"},
	    {"@h = llquantize(1, 10, 0, 6, 20); @h = llquantize(1, 10, 1, 6, 20)",
	     "D_LLQUANT_LOWMATCH"},
	    {"@h = llquantize(1, 10, 0, 6, 20); @h = llquantize(1, 10, 0, 7, 20)",
	     "D_LLQUANT_HIGHMATCH"},
	    {"@h = llquantize(1, 10, 0, 6, 20); @h = llquantize(1, 10, 0, 6, 10)",
	     "D_LLQUANT_NSTEPMATCH"},
	    {"commit(1); commit(1)", "D_COMM_COMM"},
	    {"trace(1); commit(1)", "D_COMM_DREC"},
	    {"speculate(1); speculate(1)", "D_SPEC_SPEC"},
	    {"commit(1); speculate(1)", "D_SPEC_COMM"},
	    {"trace(1); speculate(1)", "D_SPEC_DREC"},
	    {"commit(1); @c = count()", "D_AGG_COMM"},
	    {"speculate(1); @c = count()", "D_AGG_SPEC"},
	    {"speculate(1); raise(1)", "D_ACT_SPEC"},
	    {"speculate(1); exit(1)", "D_EXIT_SPEC"},
	    {"commit(1); trace(1)", "D_DREC_COMM"},
	    {"speculate(1); trace(1)", "compiled"},
	    {"discard(1); trace(1)", "compiled"},
	    {"setopt(1)", "D_PROTO_ARG"},
	    {"exit(execname)", "D_PROTO_ARG"},
	    {"x = stack()", "D_CG_EXPR"},
	};
	struct world w;

	for (size_t i = 0; i < DT_NELEM(cases); i++) {
		char text[256];
		const char *tag;

		open_world(&w);
		snprintf(text, sizeof(text), "BEGIN { %s; }", cases[i].text);
		tag = tag_of(&w, text);
		if (strcmp(tag, cases[i].tag) != 0)
			printf("%s: %s\n", cases[i].text, w.err.text);
		CHECK_STR(tag, cases[i].tag);
		close_world(&w);
	}
}

/* The compiler takes the parameters that the engines can use, and always terminates. */
static void test_llquantize_parameters(void)
{
	static const unsigned some[] = {0, 1, 2, 4, 10, 16, 20, 256, 4096, 32768, 65535}, highs[] = {1, 6, 15, 60, 65535};
	unsigned taken = 0;

	for (size_t f = 0; f < DT_NELEM(some); f++)
		for (size_t s = 0; s < DT_NELEM(some); s++)
			for (size_t h = 0; h < DT_NELEM(highs); h++) {
				uint64_t p = dt_llquantize_param((uint16_t)some[f], 0, (uint16_t)highs[h], (uint16_t)some[s]);
				struct world w;
				char text[128];

				open_world(&w);
				snprintf(text, sizeof(text), "BEGIN { @ = llquantize(1, %u, 0, %u, %u); }", some[f], highs[h],
					 some[s]);
				if ((strcmp(tag_of(&w, text), "compiled") == 0) != dt_llquantize_valid(p))
					CHECK_STR(text, "taken if and only if it is valid");
				taken += dt_llquantize_valid(p);
				close_world(&w);
			}
	CHECK(taken > 50);
}

int main(void)
{
	test_tags();
	test_llquantize_parameters();
	return unit_done();
}
