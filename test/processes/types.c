/* types: a program of many types. `types layout` prints where everything is, one line per type or member:
 * "struct foo . 96", "struct foo next 16". `types run` calls functions with known arguments,
 * `types wait` does nothing. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum color { red, green = 5, blue = -3 };
enum big { small_one = 1, large_one = 0xfffffff0 };
struct bits {
	short s;
	unsigned a : 3, b : 7;
	int c : 20;
	unsigned long long d : 40;
	bool e : 1;
	enum color f : 4;
};
struct inner {
	int z;
	const char *text;
};
typedef struct foo {
	int x;
	char name[12];
	struct inner *in;
	struct foo *next;
	enum color color;
	double d;
	short arr[3][2];
	union {
		long l;
		char c[8];
	};
	struct {
		int in1, in2;
	} named;
	struct inner two[2];
	int (*fn)(struct foo *, char **);
	volatile const unsigned char flag;
	_Bool yes;
	struct declared_only *opaque;
} foo_t;
struct __attribute__((packed)) tight {
	char c;
	long l;
	short s;
};
struct wide {
	char c;
	long double ld;
	float f;
	__int128 i;
	_Complex double z;
	char flexible[];
};
typedef int (*function_t)(int);
typedef struct {
	function_t f;
	char t[3];
} anonymous_t;
union both {
	struct inner i;
	unsigned char bytes[20];
};
typedef foo_t foo_alias, *foo_ptr;

/* Compilers describe only types that are used. */
enum big use_big;
struct tight use_tight;
struct wide *use_wide;
anonymous_t use_anonymous;
union both use_both;
foo_alias *use_alias;
foo_ptr use_ptr;

#define SIZE(t)	     printf(#t " . %zu\n", sizeof(t))
#define MEMBER(t, m) printf(#t " " #m " %zu\n", offsetof(t, m))

static void layout(void)
{
	SIZE(enum color), SIZE(enum big), SIZE(struct bits), SIZE(struct inner), SIZE(struct foo), SIZE(foo_t);
	SIZE(struct tight), SIZE(struct wide), SIZE(function_t), SIZE(anonymous_t), SIZE(union both);
	SIZE(foo_alias), SIZE(foo_ptr);
	MEMBER(struct bits, s);
	MEMBER(struct inner, z), MEMBER(struct inner, text);
	MEMBER(struct foo, x), MEMBER(struct foo, name), MEMBER(struct foo, in), MEMBER(struct foo, next);
	MEMBER(struct foo, color), MEMBER(struct foo, d), MEMBER(struct foo, arr), MEMBER(struct foo, l);
	MEMBER(struct foo, c), MEMBER(struct foo, named), MEMBER(struct foo, named.in2), MEMBER(struct foo, two);
	MEMBER(struct foo, fn), MEMBER(struct foo, flag), MEMBER(struct foo, yes), MEMBER(struct foo, opaque);
	MEMBER(foo_t, two);
	MEMBER(struct tight, l), MEMBER(struct tight, s);
	MEMBER(struct wide, ld), MEMBER(struct wide, f), MEMBER(struct wide, i), MEMBER(struct wide, z);
	MEMBER(struct wide, flexible);
	MEMBER(anonymous_t, t), MEMBER(union both, bytes);
}

/* ---- data that is traced at run time ---- */

struct inner global_inner = {77, "deep text"};
foo_t second = {.x = -2, .name = "second", .in = &global_inner};
foo_t first = {.x = 1,
	       .name = "first",
	       .in = &global_inner,
	       .next = &second,
	       .color = green,
	       .d = 2.5,
	       .arr = {{1, 2}, {3, 4}, {5, 6}},
	       .l = 0x41424344,
	       .named = {8, 9},
	       .two = {{1, 0}, {2, 0}},
	       .flag = 200,
	       .yes = true};
struct bits some_bits = {-5, 5, 100, -1000, 0xabcdef0123, true, blue};
int numbers[3] = {10, 20, 30};
enum color favourite = blue;

struct small { int a, b; };
struct large { long a, b, c; };
struct mixed { double d; int i; };
struct floats { float f, g; };

#define NOINLINE __attribute__((noinline, noclone))
NOINLINE int take_pointers(struct foo *f, const char *s, char **list) { return f->x + s[0] + list[0][0]; }
NOINLINE int narrow(int a, signed char c, bool b, unsigned short u) { return a + c + b + u; }
NOINLINE int floats_between(double a, int b, float c, long d, long double e, int f) { return (int)(a + b + c + d + e + f); }
NOINLINE int many(int a, int b, int c, int d, int e, int f, short g, int h, long i, int j, int k) { return a + b + c + d + e + f + g + h + (int)i + j + k; }
NOINLINE int objects(struct small s, int a, struct large l, int b, struct mixed m, int c, struct floats f, int d) { return s.a + a + (int)l.a + b + m.i + c + (int)f.f + d; }
NOINLINE struct large make_large(int a, long b) { return (struct large){a, b, a + b}; }
NOINLINE struct small make_small(int a) { return (struct small){a, a}; }
NOINLINE double make_double(int a) { return a / 2.0; }
NOINLINE enum color make_color(enum color c) { return c == blue ? green : blue; }
NOINLINE signed char make_char(__int128 big, int a) { return (signed char)(a + (big != 0)); }
NOINLINE foo_t *make_pointer(foo_t *f) { return f->next; }
NOINLINE void nothing(void) { __asm__ volatile(""); }

static int run(char **argv)
{
	/* the callee must ignore the upper halves of registers */
	int (*volatile wide_narrow)(long, long, long, long) = (int (*)(long, long, long, long))(void *)narrow;
	volatile int sum = (int)strlen(global_inner.text) + numbers[0]; /* so that the pages are present */

	sum += take_pointers(&first, "words", argv);
	sum += narrow(-1, -2, true, 65535) + wide_narrow(0x12345678fffffffb, 0x1fe, 0xff01, 0x70002);
	sum += floats_between(1.5, 2, 3.5f, 4, 5.0L, 6) + many(1, 2, 3, 4, 5, 6, -7, 8, 9, 10, 11);
	sum += objects((struct small){1, 2}, 3, (struct large){4, 5, 6}, 7, (struct mixed){8, 9}, 10, (struct floats){11, 12}, 13);
	sum += (int)make_large(1, 2).c + make_small(3).a + (int)make_double(4) + make_color(blue) + make_char(1, -4);
	sum += make_pointer(&first)->x;
	nothing();
	return write(-1, &first, sizeof(first)) != -1 || write(-1, &some_bits, sizeof(some_bits)) != -1 || sum == 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "layout") == 0)
		layout();
	else if (argc > 1 && strcmp(argv[1], "wait") == 0)
		pause();
	else
		return run(argv);
	return 0;
}
