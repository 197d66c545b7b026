/*
 * lib_text: subroutines on text that DTrace does not have, in the language of sub.c. As in lib.c, the interpreter
 * (src/vm/subr_text.c) defines what each one means.
 */
#include "bpf/code/sublang.h"

#define FN(...) #__VA_ARGS__

/* clang-format off */
const char *const dt_sub_text_sources[] = {

FN(strcasecmp(a, b) {
	n = str(A, a); m = str(B, b); i = 0; r = 0;
	loop (n + 1) {
		x = A[i]; y = B[i];
		if (x >= 'A' && x <= 'Z') x = x + 32;
		if (y >= 'A' && y <= 'Z') y = y + 32;
		if (x != y) { r = x - y; break; }
		if (!x) break;
		i = i + 1;
	}
	return r;
}),

FN(starts_with(s, t) {
	n = str(A, s); m = str(B, t); i = 0;
	if (m > n) return 0;
	loop (m) { if (A[i] != B[i]) break; i = i + 1; }
	return i == m;
}),

/* The replacement is kept in scratch: there is no third buffer. */
FN(strreplace(s, from, to) {
	k = str(B, to); at = room(k + 1);
	if (k) x = mem(S, at, to, k);
	n = str(A, s); m = str(B, from); i = 0; o = 0; long = 0;
	if (!m) return make(A, 0, n);
	loop (n) {
		if (i >= n) break;
		j = 0;
		loop (m) { if (A[i + j] != B[j]) break; j = j + 1; }
		if (j == m) {
			if (o + k >= STRSIZE) { long = 1; break; }
			j = 0;
			loop (k) { O[o] = S[at + j]; o = o + 1; j = j + 1; }
			i = i + m;
		} else {
			if (o + 1 >= STRSIZE) { long = 1; break; }
			O[o] = A[i]; o = o + 1; i = i + 1;
		}
	}
	if (long) fault(5);
	return make(O, 0, o);
}),

FN(strfield(s, t, want) {
	n = str(A, s); m = str(B, t); i = 0; from = 0; k = 0; ok = 0; want = sext(want);
	if (!m) { if (!want) return make(A, 0, n); return 0; }
	loop (n + 1) {
		j = 0;
		loop (m) { if (A[i + j] != B[j]) break; j = j + 1; }
		if (j == m || i >= n) {
			if (k == want) { ok = 1; break; }
			if (i >= n) break;
			k = k + 1; i = i + m; from = i;
		} else i = i + 1;
	}
	if (ok) return make(A, from, i - from);
	return 0;
}),

FN(hexstr(p, n) {
	i = 0;
	if (n > (STRSIZE - 1) / 2) n = (STRSIZE - 1) / 2;
	if (n) x = mem(A, 0, p, n);
	loop (n) {
		x = A[i]; d = x >> 4;
		if (d < 10) O[i * 2] = d + '0'; else O[i * 2] = d + 'a' - 10;
		d = x & 15;
		if (d < 10) O[i * 2 + 1] = d + '0'; else O[i * 2 + 1] = d + 'a' - 10;
		i = i + 1;
	}
	return make(O, 0, n * 2);
}),

FN(strhash(s) {
	n = str(A, s); i = 0; h = 0xcbf29ce484222325;
	loop (n) { h = (h ^ A[i]) * 0x100000001b3; i = i + 1; }
	return h;
}),

NULL};
