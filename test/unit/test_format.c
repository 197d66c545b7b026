/* Formats: how they are parsed, and which are refused. */
#include "lang/lang.h"
#include "unit.h"

static dt_arena *arena;

static dt_format *parse(const char *text)
{
	dt_error err = {0};

	return dt_format_parse(arena, text, strlen(text), &err);
}

static const char *refused(const char *text)
{
	static dt_error err;

	memset(&err, 0, sizeof(err));
	if (dt_format_parse(arena, text, strlen(text), &err))
		return "accepted";
	return err.tag == D_SYNTAX ? err.text : dt_tag_name(err.tag);
}

static int text_is(const dt_conv *c, const char *want)
{
	return c->textlen == strlen(want) && memcmp(c->text, want, c->textlen) == 0;
}

static void test_pieces(void)
{
	dt_format *f = parse("a%db%%c%-8.3s!");

	CHECK(f && f->nconvs == 3 && f->nargs == 2);
	CHECK(text_is(&f->convs[0], "a") && f->convs[0].letter == 'd' && f->convs[0].arg == 0);
	CHECK(text_is(&f->convs[1], "b%c") && f->convs[1].letter == 's' && f->convs[1].arg == 1);
	CHECK(f->convs[1].flags == DT_CF_LEFT && f->convs[1].width == 8 && f->convs[1].prec == 3);
	CHECK(text_is(&f->convs[2], "!") && f->convs[2].letter == 0 && f->convs[2].arg == -1);

	f = parse("100%%");
	CHECK(f && f->nconvs == 1 && f->nargs == 0 && text_is(&f->convs[0], "100%"));
	f = parse("");
	CHECK(f && f->nconvs == 0);
	f = parse("%d");
	CHECK(f && f->nconvs == 1 && f->convs[0].width == -1 && f->convs[0].prec == -1);
}

static void test_flags(void)
{
	dt_format *f = parse("%#0-+' x%?p%*.*d%@d%.x%lld%Lf%ws");

	CHECK(f != NULL);
	if (!f)
		return;
	CHECK(f->convs[0].flags ==
	      (DT_CF_ALT | DT_CF_ZERO | DT_CF_LEFT | DT_CF_SIGN | DT_CF_GROUP | DT_CF_SPACE));
	CHECK(f->convs[1].width == 16);
	CHECK(f->convs[2].flags == (DT_CF_DYNWIDTH | DT_CF_DYNPREC));
	CHECK(f->convs[2].width_arg == 2 && f->convs[2].prec_arg == 3 && f->convs[2].arg == 4);
	CHECK(f->convs[3].flags == DT_CF_AGG && f->convs[3].arg == -1 && f->has_agg_value);
	CHECK(f->convs[4].prec == 0 && f->convs[4].arg == 5);
	CHECK_STR(f->convs[5].size, "ll");
	CHECK_STR(f->convs[6].size, "L");
	CHECK_STR(f->convs[7].size, "w");
	CHECK(f->nargs == 9);
}

static void test_refused(void)
{
	CHECK_STR(refused("%"), "format conversion #1 is not complete: the format ends in it");
	CHECK_STR(refused("%d %5"), "format conversion #2 is not complete: the format ends in it");
	CHECK_STR(refused("%z"), "format conversion #1 is unknown: %z");
	CHECK_STR(refused("%hs"),
		  "format conversion #1 is unknown: %hs (that size cannot be given)");
	CHECK_STR(refused("%n"), "format conversion #1 is unknown: %n");
	CHECK_STR(refused("%1$d"),
		  "format conversion #1 names its argument by position (%n$), which D does not do");
	CHECK_STR(refused("%-%"), "format conversion #1 is a %% with flags or a size");
	CHECK_STR(refused("%99999999999d"), "format conversion #1 has a width over 65535");
	CHECK_STR(refused("%.70000d"), "format conversion #1 has a precision over 65535");
	CHECK_STR(refused("%d%i%o%u%x%X%c%C%s%S%a%A%p%P%I%k%T%Y%e%E%f%g%G%lc%wc%ls"), "accepted");
}

int main(void)
{
	arena = dt_arena_new();
	test_pieces();
	test_flags();
	test_refused();
	dt_arena_free(arena);
	return unit_done();
}
