/* unit: helpers for C tests. CHECK continues after a failure; unit_done() sums up. */
#ifndef UNIT_H
#define UNIT_H
#include <stdio.h>
#include <string.h>
static int unit_passed, unit_failed;
#define CHECK(cond)                                                                                \
	((cond) ? (void)unit_passed++                                                              \
		: (void)(unit_failed++, printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #cond)))
#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *g_ = (got), *w_ = (want);                                              \
		if (g_ && strcmp(g_, w_) == 0)                                                     \
			unit_passed++;                                                             \
		else                                                                               \
			unit_failed++, printf("%s:%d: got \"%s\", want \"%s\"\n", __FILE__,        \
					      __LINE__, g_ ? g_ : "(null)", w_);                   \
	} while (0)
static inline int unit_done(void)
{
	printf("%d passed, %d failed\n", unit_passed, unit_failed);
	return unit_failed != 0;
}
#endif
