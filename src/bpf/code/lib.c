/*
 * lib: the subroutines that loop, in the language of sub.c.
 *
 * The interpreter defines what each one means (src/vm/subr*.c); both must print the same in every
 * test that both can run. Optional arguments get their defaults from call.c.
 *
 * Calls and loops nest at most five deep here (a subroutine, two loops, another subroutine with a
 * loop): the kernel allows eight frames, and the program, the fault handler and an ERROR clause use
 * three of them.
 */
#include "bpf/code/slot.h"

#define FN(...) #__VA_ARGS__

/* clang-format off */
const char *const dt_sub_sources[] = {

/* ---- comparing ---- */
FN(compare(a, b) {
	A[0] = 0; B[0] = 0; n = 0; m = 0; i = 0; r = 0;
	if (a) n = str(A, a);
	if (b) m = str(B, b);
	loop (n + 1) {
		x = A[i]; y = B[i];
		if (x != y) { r = x - y; break; }
		if (!x) break;
		i = i + 1;
	}
	return r;
}),

FN(strlen(s) { return str(A, s); }),

FN(strjoin(a, b) {
	n = str(A, a); m = str(B, b);
	if (n + m >= STRSIZE) fault(5);
	m = mem(A, n, addr(B), m) + m;
	return make(A, 0, n + m);
}),

/* ---- searching ---- */
FN(strchr(s, c) {
	n = str(A, s); c = c & 255; i = 0;
	loop (n) { if (A[i] == c) break; i = i + 1; }
	if (i == n && c) return 0;
	return s + i;
}),

FN(strrchr(s, c) {
	n = str(A, s); c = c & 255; i = n;
	if (!c) return s + n;
	loop (n) { if (A[i - 1] == c) break; i = i - 1; }
	if (!i) return 0;
	return s + i - 1;
}),

/* The first position at or after i where the m bytes of B occur in the n of A; n + 1: none. */
FN(find(n, m, i) {
	if (n < m) return n + 1;
	loop (n - m + 1) {
		if (i + m > n) break;
		j = 0;
		loop (m) { if (A[i + j] != B[j]) break; j = j + 1; }
		if (j == m) break;
		i = i + 1;
	}
	if (i + m > n) return n + 1;
	return i;
}),

FN(strstr(s, t) {
	n = str(A, s); m = str(B, t);
	i = find(n, m, 0);
	if (i > n) return 0;
	return s + i;
}),

FN(index(s, t, pos) {
	n = str(A, s); m = str(B, t); pos = sext(pos);
	if (slt(pos, 0)) pos = 0;
	if (pos > n) pos = n;
	i = find(n, m, pos);
	if (i > n) return 0 - 1;
	return i;
}),

FN(rindex(s, t, pos) {
	n = str(A, s); m = str(B, t); i = sext(pos);
	if (slt(i, 0)) { if (m) return 0 - 1; return 0; }
	if (n < m) return 0 - 1;
	if (i > n - m) i = n - m;
	i = i + 1;
	loop (i) {
		j = 0;
		loop (m) { if (A[i - 1 + j] != B[j]) break; j = j + 1; }
		if (j == m) break;
		i = i - 1;
	}
	return i - 1;
}),

/* ---- cutting ---- */
FN(substr(s, start, len, has) {
	n = str(A, s); start = sext(start);
	if (slt(start, 0)) start = start + n;
	end = n;
	if (has) {
		end = sext(len);
		if (slt(end, 0)) end = end + n; else end = end + start;
	}
	if (slt(n, end)) end = n;
	if (slt(start, 0)) start = 0;
	if (slt(start, end)) return make(A, start, end - start);
	return make(A, 0, 0);
}),

FN(strtok(s, t) {
	m = str(B, t);
	if (s) { S_TOKLEN = str(T, s); S_TOKAT = 0; S_TOKLIVE = 1; }
	if (!S_TOKLIVE) return 0;
	n = S_TOKLEN; at = S_TOKAT;
	loop (n + 1) {
		if (at >= n) break;
		x = T[at]; j = 0;
		loop (m) { if (B[j] == x) break; j = j + 1; }
		if (j == m) break;
		at = at + 1;
	}
	from = at;
	loop (n + 1) {
		if (at >= n) break;
		x = T[at]; j = 0;
		loop (m) { if (B[j] == x) break; j = j + 1; }
		if (j != m) break;
		at = at + 1;
	}
	if (at == from) { S_TOKLIVE = 0; return 0; }
	S_TOKAT = at;
	return make(T, from, at - from);
}),

/* ---- converting ---- */
FN(flipcase(s, first, last) {
	n = str(A, s); i = 0;
	loop (n) {
		x = A[i];
		if (x >= first && x <= last) A[i] = x ^ 32;
		i = i + 1;
	}
	return make(A, 0, n);
}),

FN(lltostr(v, base) {
	if (base < 2 || base > 36) fault(3);
	neg = 0; x = v; i = 80;
	if (base == 10 && slt(v, 0)) { neg = 1; x = 0 - v; }
	loop (64) {
		d = x % base; i = i - 1;
		if (d < 10) D[i] = d + '0'; else D[i] = d + 'a' - 10;
		x = x / base;
		if (!x) break;
	}
	if (base == 16) { i = i - 1; D[i] = 'x'; }
	if (base == 16 || (v && base == 8)) { i = i - 1; D[i] = '0'; }
	if (neg) { i = i - 1; D[i] = '-'; }
	return make(D, i, 80 - i);
}),

FN(digit(c) {
	if (c >= '0' && c <= '9') return c - '0';
	c = c | 32;
	if (c >= 'a' && c <= 'z') return c - 'a' + 10;
	return 99;
}),

FN(strtoll(s, base) {
	if (base < 2 || base > 36) fault(3);
	n = str(A, s); i = 0; v = 0; neg = 0;
	loop (n) { x = A[i]; if (x != ' ' && (x < 9 || x > 13)) break; i = i + 1; }
	if (A[i] == '-') { neg = 1; i = i + 1; }
	else { if (A[i] == '+') i = i + 1; }
	if (base == 16 && A[i] == '0' && (A[i + 1] | 32) == 'x') {
		d = digit(A[i + 2]);
		if (d < 16) i = i + 2;
	}
	loop (n) {
		d = digit(A[i]);
		if (d >= base) break;
		v = v * base + d; i = i + 1;
	}
	if (neg) v = 0 - v;
	return v;
}),

FN(memstr(p, c, n) {
	if (!n) return make(A, 0, 0);
	if (n > 4096) fault(3);
	at = room(n); i = 0;
	x = mem(S, at, p, n);
	loop (n - 1) {
		if (!S[at + i]) S[at + i] = c;
		i = i + 1;
	}
	S[at + n - 1] = 0;
	return addr(S) + at;
}),

/* ---- paths ---- */
FN(basename(s) {
	n = str(A, s);
	if (!n) { D[0] = '.'; return make(D, 0, 1); }
	loop (n) { if (A[n - 1] != '/') break; n = n - 1; }
	if (!n) { D[0] = '/'; return make(D, 0, 1); }
	i = n;
	loop (n) { if (A[i - 1] == '/') break; i = i - 1; }
	return make(A, i, n - i);
}),

FN(dirname(s) {
	n = str(A, s); D[0] = '.'; D[1] = '/';
	if (!n) return make(D, 0, 1);
	loop (n) { if (A[n - 1] != '/') break; n = n - 1; }
	if (!n) return make(D, 1, 1);
	loop (n) { if (A[n - 1] == '/') break; n = n - 1; }
	if (!n) return make(D, 0, 1);
	loop (n) { if (A[n - 1] != '/') break; n = n - 1; }
	if (!n) return make(D, 1, 1);
	return make(A, 0, n);
}),

/* Part by part, each with the slash before it; the first part of a relative path has none. */
FN(cleanpath(s) {
	n = str(A, s); i = 0; o = 0; k = 0;
	if (A[0] != '/') loop (n) { if (A[i] == '/') break; O[o] = A[i]; i = i + 1; o = o + 1; }
	loop (n) {
		if (i >= n) break;
		loop (n) { if (A[i] != '/') break; i = i + 1; }
		q = i;
		loop (n) { if (q >= n || A[q] == '/') break; q = q + 1; }
		k = q - i;
		if (!k) { O[o] = '/'; o = o + 1; }
		else {
			if (k == 2 && A[i] == '.' && A[i + 1] == '.') {
				loop (o) { if (O[o - 1] == '/') break; o = o - 1; }
				if (o) o = o - 1;
			} else {
				if (!(q < n && k == 1 && A[i] == '.')) {
					O[o] = '/'; o = o + 1;
					loop (k) { O[o] = A[i]; i = i + 1; o = o + 1; }
				}
			}
		}
		i = q;
	}
	if (n && !o) { O[0] = '/'; o = 1; }
	return make(O, 0, o);
}),

/* ---- addresses as text: D[0..] is the text, D[96..] the bytes ---- */
FN(dotted(o, at) {
	i = 0;
	loop (4) {
		x = D[at + i];
		if (i) { D[o] = '.'; o = o + 1; }
		if (x >= 100) { D[o] = x / 100 + '0'; o = o + 1; }
		if (x >= 10) { D[o] = x / 10 % 10 + '0'; o = o + 1; }
		D[o] = x % 10 + '0'; o = o + 1; i = i + 1;
	}
	return o;
}),

FN(inet4(p) {
	x = mem(D, 96, p, 4);
	o = dotted(0, 96);
	return make(D, 0, o);
}),

FN(hexgroup(o, x) {
	s = 12; some = 0;
	loop (4) {
		d = x >> s & 15;
		if (d || some || !s) {
			if (d < 10) D[o] = d + '0'; else D[o] = d + 'a' - 10;
			o = o + 1; some = 1;
		}
		s = s - 4;
	}
	return o;
}),

FN(inet6(p) {
	x = mem(D, 96, p, 16);
	i = 0; run = 0; best = 0; base = 8; o = 0; v4 = 0;
	loop (8) {
		if (D[96 + i * 2] | D[97 + i * 2]) run = 0;
		else {
			run = run + 1;
			if (run > best) { best = run; base = i + 1 - run; }
		}
		i = i + 1;
	}
	if (best < 2) { base = 8; best = 0; }
	if (!base && (best == 6 || (best == 5 && D[106] == 255 && D[107] == 255))) v4 = 1;
	i = 0;
	loop (8) {
		if (i >= base && i < base + best) {
			if (i == base) { D[o] = ':'; o = o + 1; }
		} else {
			if (i) { D[o] = ':'; o = o + 1; }
			if (v4 && i == 6) { o = dotted(o, 108); break; }
			o = hexgroup(o, D[96 + i * 2] << 8 | D[97 + i * 2]);
		}
		i = i + 1;
	}
	if (best && base + best == 8) { D[o] = ':'; o = o + 1; }
	return make(D, 0, o);
}),

/* inet_ntoa6(): an IPv4 address embedded in an IPv6 one (::ffff:a.b.c.d, and ::a.b.c.d except ::
 * and ::1) is printed alone. */
FN(inet6short(p, full) {
	x = mem(D, 96, p, 16); i = 0; some = 0;
	loop (10) { some = some | D[96 + i]; i = i + 1; }
	high = D[106] << 8 | D[107];
	low = D[108] << 24 | D[109] << 16 | D[110] << 8 | D[111];
	if (!full && !some && (high == 65535 || (!high && low > 1))) {
		o = dotted(0, 108);
		return make(D, 0, o);
	}
	return inet6(p);
}),

FN(link(type, p) {
	n = 6; i = 0; o = 0;
	if (type == 32) n = 20;
	if (n == 6 && type != 1) fault(3);
	x = mem(D, 96, p, n);
	loop (n) {
		x = D[96 + i];
		if (i) { D[o] = ':'; o = o + 1; }
		d = x >> 4;
		if (d < 10) D[o] = d + '0'; else D[o] = d + 'a' - 10;
		d = x & 15;
		if (d < 10) D[o + 1] = d + '0'; else D[o + 1] = d + 'a' - 10;
		o = o + 2; i = i + 1;
	}
	return make(D, 0, o);
}),

/* ---- json: A is the document, B the path ---- */
FN(blanks(i, n) {
	loop (n + 1) {
		x = A[i];
		if (x != ' ' && x != '\t' && x != '\r' && x != '\n') break;
		i = i + 1;
	}
	return i;
}),

/* The end of the element that begins at i, or 0: strings and brackets in one walk (h: so many digits
 * of a character's number are to come), numbers by states (0 start, 1 sign, 2 digits, 3 point,
 * 4 digits, 5 e, 6 sign, 7 digits). */
FN(jelem(i, n) {
	x = A[i]; q = 0; d = 0; e = 0; h = 0;
	if (x == 't' && A[i + 1] == 'r' && A[i + 2] == 'u' && A[i + 3] == 'e') return i + 4;
	if (x == 'n' && A[i + 1] == 'u' && A[i + 2] == 'l' && A[i + 3] == 'l') return i + 4;
	if (x == 'f' && A[i + 1] == 'a' && A[i + 2] == 'l' && A[i + 3] == 's' && A[i + 4] == 'e') return i + 5;
	if (x == '"' || x == '{' || x == '[') {
		loop (n + 1) {
			if (i >= n) break;
			x = A[i]; i = i + 1;
			if (q) {
				if (h) {
					h = h - 1; y = x | 32;
					if ((x < '0' || x > '9') && (y < 'a' || y > 'f')) break;
				}
				if (x == '\\') {
					if (i >= n) break;
					if (A[i] == 'u') h = 4;
					i = i + 1;
				}
				if (x == '"') { q = 0; if (!d) { e = i; break; } }
			} else {
				if (x == '"') q = 1;
				if (x == '{' || x == '[') d = d + 1;
				if (x == '}' || x == ']') { d = d - 1; if (!d) { e = i; break; } }
			}
		}
		return e;
	}
	loop (n + 1) {
		x = A[i];
		if (x >= '0' && x <= '9') {
			if (q < 2) q = 2;
			if (q == 3) q = 4;
			if (q == 5 || q == 6) q = 7;
		} else {
			if (x == '-' && !q) q = 1;
			else {
				if (x == '.' && q == 2) q = 3;
				else {
					if ((x | 32) == 'e' && (q == 2 || q == 4)) q = 5;
					else {
						if ((x == '+' || x == '-') && q == 5) q = 6;
						else break;
					}
				}
			}
		}
		i = i + 1;
	}
	if (q == 2 || q == 4 || q == 7) return i;
	return 0;
}),

/* Is it the wanted member? 1 when the m bytes of B at b are the k bytes of A at a. */
FN(jsame(a, k, b, m) {
	if (k != m) return 0;
	j = 0;
	loop (m) { if (A[a + j] != B[b + j]) break; j = j + 1; }
	return j == m;
}),

FN(json(doc, path) {
	n = str(A, doc); m = str(B, path);
	i = 0; q = 0; ok = 1; any = 0;
	loop (m + 1) {
		loop (m) { x = B[q]; if (x != '.' && x != '[' && x != ']') break; q = q + 1; }
		p = q; want = 0; number = 1;
		loop (m) {
			x = B[q];
			if (!x || x == '.' || x == '[' || x == ']') break;
			if (x < '0' || x > '9' || want > 0xffffffff) number = 0;
			want = want * 10 + x - '0';
			q = q + 1;
		}
		if (p == q) break;
		any = 1; ok = 0;
		i = blanks(i, n);
		x = A[i];
		if (x != '{' && (x != '[' || !number)) break;
		number = x == '[';
		i = blanks(i + 1, n);
		loop (n) {
			x = A[i];
			if (!x || x == ']' && number || x == '}' && !number) break;
			if (number) { if (!want) { ok = 1; break; } want = want - 1; }
			else {
				if (x != '"') break;
				k = i + 1;
				i = jelem(i, n);
				if (!i) break;
				x = jsame(k, i - 1 - k, p, q - p);
				i = blanks(i, n);
				if (A[i] != ':') break;
				i = i + 1;
				if (x) { ok = 1; break; }
			}
			i = blanks(i, n);
			i = jelem(i, n);
			if (!i) break;
			i = blanks(i, n);
			if (A[i] != ',') break;
			i = blanks(i + 1, n);
		}
		if (!ok) break;
	}
	if (!any || !ok) return 0;
	i = blanks(i, n);
	q = jelem(i, n);
	if (!q) return 0;
	k = blanks(q, n);
	x = A[k];
	if (x != ',' && x != ']' && x != '}') return 0;
	if (A[i] == '"') return make(A, i + 1, q - i - 2);
	return make(A, i, q - i);
}),

/* ---- processes ---- */
/* to: offset of task_struct.real_parent, id: of task_struct.tgid */
FN(progenyof(pid, task, to, id) {
	yes = 0; pid = pid & 0xffffffff;
	loop (4096) {
		x = peek(task + id, 4);
		if (x == pid) { yes = 1; break; }
		if (!x) break;
		task = peek(task + to, 8);
	}
	return yes;
}),

/* The process id of a task in the pid namespace with inode ino; 0: it is not in it. The others are offsets:
 * task_struct.signal, signal_struct.pids[PIDTYPE_TGID], pid.level, pid.numbers, pid_namespace.ns.inum. A
 * struct upid is a number, then (at 8) the namespace; 16 bytes. */
FN(pidof(task, signal, tgid, level, numbers, inum, ino) {
	p = peek(task + signal, 8); p = peek(p + tgid, 8);
	n = peek(p + level, 4) + 1; p = p + numbers; pid = 0;
	loop (n) {
		x = peek(p + 8, 8);
		if (peek(x + inum, 4) == ino) { pid = peek(p, 4); break; }
		p = p + 16;
	}
	return pid;
}),

FN(progenyof_ns(task, signal, tgid, level, numbers, inum, ino, pid, to) {
	yes = 0; pid = pid & 0xffffffff;
	loop (4096) {
		x = pidof(task, signal, tgid, level, numbers, inum, ino);
		if (x == pid && x) { yes = 1; break; }
		if (!x) break;
		task = peek(task + to, 8);
	}
	return yes;
}),

/* In the middle of an exec the end is not known yet: what follows the arguments is the environment. */
FN(execargs(start, end) {
	n = end - start; i = 0;
	if (end < start) n = 0;
	if (n >= STRSIZE) n = STRSIZE - 1;
	x = umem(A, 0, start, n);
	loop (n) { if (A[n - 1]) break; n = n - 1; }
	loop (n) { if (!A[i]) A[i] = ' '; i = i + 1; }
	return make(A, 0, n);
}),

/* ---- user memory that is not mapped in: absent.c ---- */
/* Do the page tables have no entry for address a? The other parameters are those of dt_arch_paging,
 * and the direct map. */
FN(untouched(a, mm, base, shift, limit, mask, table, page, bits) {
	t = peek(mm + field(mm_struct, pgd), 8); e = 1;
	if (!t) return 0;
	loop (5) {
		e = peek(t + (a >> shift & (1 << bits) - 1) * 8, 8);
		if (shift == page || (e & mask) != table) break;
		t = base + (e & limit); shift = shift - bits;
	}
	return !e;
}),

/* Where the byte at address a is, if its page is in the page tables and old (dt_arch_paging). There are up to four of these; an entry
 * of a table before the last may be a large page. */
FN(resting(a, mm, base, shift, limit, mask, table, page, bits, kind, old) {
	t = peek(mm + field(mm_struct, pgd), 8);
	if (!t) return 0;
	e = peek(t + (a >> shift & (1 << bits) - 1) * 8, 8);
	if (shift > page && (e & mask) == table) { t = base + (e & limit); shift = shift - bits; e = peek(t + (a >> shift & (1 << bits) - 1) * 8, 8); }
	if (shift > page && (e & mask) == table) { t = base + (e & limit); shift = shift - bits; e = peek(t + (a >> shift & (1 << bits) - 1) * 8, 8); }
	if (shift > page && (e & mask) == table) { t = base + (e & limit); shift = shift - bits; e = peek(t + (a >> shift & (1 << bits) - 1) * 8, 8); }
	if ((e & kind) != old) return 0;
	return base + ((e & limit) >> shift << shift) + (a & (1 << shift) - 1);
}),

/* The mapping at address a, if it can be read. The walk through the maple tree, as unwind_find.c explains it, is one loop:
 * to the right in a node, or down to the next. Bit 0 of vm_flags: VM_READ. */
FN(mapped(a, mm) {
	n = peek(mm + field(mm_struct, mm_mt.ma_root), 8);
	p = 0; i = 0; end = 0; slots = 0; leaf = 0; v = 0;
	if ((n & 3) != 2) return 0;
	loop (160) {
		if (p && i < end && peek(p + 8 + i * 8, 8) < a) i = i + 1;
		else {
			if (p) n = peek(slots + i * 8, 8);
			if (leaf) { v = n; break; }
			if (n <= 4096) break;
			p = n - (n & 255); i = 0; leaf = (n >> 3 & 15) <= 1;
			if ((n >> 3 & 15) == 3) { slots = p + 80; end = peek(p + 240, 1); }
			else {
				slots = p + 128; end = 15;
				if (!peek(p + 120, 8)) end = peek(p + 248, 1);
			}
		}
	}
	if (!v || a < peek(v + field(vm_area_struct, vm_start), 8)) return 0;
	if (a >= peek(v + field(vm_area_struct, vm_end), 8)) return 0;
	if (!(peek(v + field(vm_area_struct, vm_flags), 8) & 1)) return 0;
	return v;
}),

/* Where the byte at address a of mapping v is in the page cache, an xarray of folios. Entries:
 * nodes end in binary 10; small ones of these in a node name another slot; any other value that is
 * not a multiple of 4 is not a folio. 0x400000: VM_HUGETLB, whose offsets count other pages. */
FN(cached(a, v, base, pages, bytes, uptodate, page) {
	f = peek(v + field(vm_area_struct, vm_file), 8);
	if (!f || (peek(v + field(vm_area_struct, vm_flags), 8) & 0x400000)) return 0;
	m = peek(f + field(file, f_mapping), 8); o = 0;
	i = (a - peek(v + field(vm_area_struct, vm_start), 8) >> page) + peek(v + field(vm_area_struct, vm_pgoff), 8);
	if (i << page >= peek(peek(m + field(address_space, host), 8) + field(inode, i_size), 8)) return 0;
	e = peek(m + field(address_space, i_pages.xa_head), 8);
	if ((e & 3) == 2) o = i >> peek(e - 2 + field(xa_node, shift), 1);
	else o = i << 6;
	if (o > 63) return 0;
	loop (11) {
		if ((e & 3) != 2 || e <= 4096) break;
		o = i >> peek(e - 2 + field(xa_node, shift), 1) & 63;
		f = e - 2 + field(xa_node, slots);
		e = peek(f + o * 8, 8);
		if ((e & 3) == 2 && e < 256) e = peek(f + (e >> 2) * 8, 8);
	}
	if (!e || (e & 3)) return 0;
	if (!(peek(e + field(folio, flags), 8) >> uptodate & 1)) return 0;
	o = peek(e + field(folio, index), 8);
	if (o > i || peek(e + field(folio, mapping), 8) != m) return 0;
	return base + ((e - pages) / bytes + i - o << page) + (a & (1 << page) - 1);
}),

/* ---- files ---- */
/*
 * The path of a dentry on a mount, from the given root on, or from that of all mounts. Names are found from the last to the
 * first, so A is filled from its end; a path that is too long is cut at its end, which takes a
 * second walk that knows the length. Positions in A begin at 65536: smaller ones do not fit. A file
 * without a directory (memfd) counts as deleted from the start.
 */
FN(path(dentry, mount, rootd, rootm) {
	end = 65535 + STRSIZE; o = 0;
	p = peek(dentry + field(dentry, d_parent), 8);
	gone = p != dentry && !peek(dentry + field(dentry, d_hash.pprev), 8);
	if (p == dentry && mount && dentry != peek(mount + field(vfsmount, mnt_root), 8)) gone = 1;
	loop (2) {
		d = dentry; v = mount; o = end;
		if (gone) {
			o = o - 10; x = o - 65536;
			A[x] = ' '; A[x + 1] = '('; A[x + 2] = 'd'; A[x + 3] = 'e'; A[x + 4] = 'l';
			A[x + 5] = 'e'; A[x + 6] = 't'; A[x + 7] = 'e'; A[x + 8] = 'd'; A[x + 9] = ')';
		}
		loop (2048) {
			if (d == rootd && v == rootm) break;
			if (!d) break;
			if (d == peek(v + field(vfsmount, mnt_root), 8)) {
				x = v - field(mount, mnt);
				d = peek(x + field(mount, mnt_mountpoint), 8);
				x = peek(x + field(mount, mnt_parent), 8) + field(mount, mnt);
				if (x == v) break;
				v = x;
			} else {
				p = peek(d + field(dentry, d_parent), 8);
				n = peek(d + field(dentry, d_name.len), 4);
				x = peek(d + field(dentry, d_name.name), 8);
				if (p == d && peek(x, 1) == '/') break;
				o = o - n; i = o - 65536;
				if (i < STRSIZE - 1) {
					if (i + n >= STRSIZE) n = STRSIZE - 1 - i;
					x = mem(A, i, x, n);
				}
				o = o - 1;
				A[o - 65536] = '/';
				if (p == d) break;
				d = p;
			}
		}
		if (o == end) { o = o - 1; A[o - 65536] = '/'; }
		if (o >= 65536) break;
		end = end + 65536 - o;
	}
	if (end > 65535 + STRSIZE) end = 65535 + STRSIZE;
	return make(A, o - 65536, end - o);
}),

FN(d_path(p, task) {
	fs = peek(task + field(task_struct, fs), 8);
	return path(peek(p + field(path, dentry), 8), peek(p + field(path, mnt), 8),
		    peek(fs + field(fs_struct, root.dentry), 8), peek(fs + field(fs_struct, root.mnt), 8));
}),

/* ---- speculations ---- */
FN(speculation(unused) {
	i = 0; got = 0;
	loop (NSPEC) { x = take(i); i = i + 1; if (x) { got = i; break; } }
	return got;
}),

/* ---- time ---- */
FN(chill(until) {
	loop (1000) {
		loop (100000) { x = now(); if (x >= until) break; }
		if (x >= until) break;
	}
	return 0;
}),

NULL };
