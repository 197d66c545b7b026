/*
 * lib_cgroup: subroutines about the control group (version 2) of a task, in the language of sub.c.
 *
 * Container managers and systemd name groups after what runs in them; src/vm/vm_builtin.c defines
 * what each name means. A group is looked at before those that contain it: a container in a
 * container is the inner one, and what a container divides its own group into belongs to it.
 *
 * A group of version 2 keeps its name, and its id is never used again. So container and path of the group that was asked
 * about last are kept, with its id, in G and P, as long as the slot: a predicate then costs a comparison of two numbers and
 * of the string.
 */
#include "bpf/code/sublang.h"

#define FN(...) #__VA_ARGS__

/* clang-format off */
const char *const dt_sub_cgroup_sources[] = {

FN(cgroupname(name) {
	n = str(A, name);
	if (!n) { D[0] = '/'; return make(D, 0, 1); }
	return make(A, 0, n);
}),

/* The name of the group at a level above group g is then in B; its length. */
FN(grouplevel(g, level) {
	x = peek(g + field(cgroup, ancestors) + level * 8, 8);
	return str(B, peek(peek(x + field(cgroup, kn), 8) + field(kernfs_node, name), 8));
}),

FN(groupid(g) {
	return peek(peek(g + field(cgroup, kn), 8) + field(kernfs_node, id), 8);
}),

FN(grouppath(g) {
	id = groupid(g);
	if (id && id == known(P)) return make(P, 0, size(P));
	k = 1; n = 0;
	loop (peek(g + field(cgroup, level), 4)) {
		if (n + 2 >= STRSIZE) break;
		m = grouplevel(g, k);
		if (m > STRSIZE - 2 - n) m = STRSIZE - 2 - n;
		A[n] = '/';
		x = mem(A, n + 1, addr(B), m);
		n = n + 1 + m; k = k + 1;
	}
	if (!n) { A[0] = '/'; n = 1; }
	x = mem(P, 0, addr(A), n);
	x = know(P, id, n);
	return make(A, 0, n);
}),

/* Where in the m bytes of B the last 64 hex digits begin, counted from 1; 0: nowhere. */
FN(hexrun(m) {
	run = 0; i = m;
	loop (m) {
		i = i - 1; x = B[i];
		if (x - '0' < 10 || (x | 32) - 'a' < 6) run = run + 1; else run = 0;
		if (run == 64) break;
	}
	if (run == 64) return i + 1;
	return 0;
}),

FN(containerid(g) {
	k = peek(g + field(cgroup, level), 4); at = 0;
	loop (k) { m = grouplevel(g, k); at = hexrun(m); if (at) break; k = k - 1; }
	if (at) return make(B, at - 1, 64);
	return make(B, 0, 0);
}),

/* Bytes of the ".service" or ".scope" at the end of the m of B. */
FN(unitend(m) {
	if (m > 8 && B[m - 8] == '.' && B[m - 7] == 's' && B[m - 6] == 'e' && B[m - 5] == 'r' && B[m - 1] == 'e') return 8;
	if (m > 6 && B[m - 6] == '.' && B[m - 5] == 's' && B[m - 4] == 'c' && B[m - 3] == 'o' && B[m - 1] == 'e') return 6;
	return 0;
}),

FN(container(g) {
	id = groupid(g);
	if (id && id == known(G)) return make(G, 0, size(G));
	k = peek(g + field(cgroup, level), 4); at = 0; n = 0; unit = 0;
	loop (k) {
		m = grouplevel(g, k);
		at = hexrun(m);
		if (at) { n = 12; break; }
		if (m > 12 && B[0] == 'l' && B[1] == 'x' && B[2] == 'c' && B[3] == '.' && B[4] == 'p' && B[10] == 'd' && B[11] == '.') {
			at = 13; n = m - 12;
			break;
		}
		x = unitend(m);
		if (x == 6 && m > 14 && B[0] == 'm' && B[1] == 'a' && B[2] == 'c' && B[3] == 'h' && B[6] == 'e' && B[7] == '-') {
			at = 9; n = m - 14;
			break;
		}
		if (x && !unit) unit = k;
		k = k - 1;
	}
	if (!at && unit) { m = grouplevel(g, unit); at = 1; n = m - unitend(m); }
	if (!at) { at = 1; n = 0; }
	x = mem(G, 0, addr(B) + at - 1, n);
	x = know(G, id, n);
	return make(B, at - 1, n);
}),

NULL };
