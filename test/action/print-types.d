// print(): each kind of type. Integers in hex, characters quoted, enums by name, nested structures and arrays.
// run: -q -x strsize=16
enum color { RED, GREEN = 5 };
typedef struct point { int x, y; } point_t;
typedef int (*function_t)(int);
union both { int i; char c[4]; };
struct all {
	char c; signed char sc; unsigned char uc; short sh; long l; uint64_t u; _Bool ok;
	enum color e; enum color none;
	char name[8]; char raw[3]; unsigned char bytes[3]; int matrix[2][2];
	point_t points[2]; point_t *pp; function_t f; const char *cs; volatile int vi;
	union both un; int b1 : 3; unsigned b2 : 5; string str;
	struct { int anonymous; };
	struct { int member; } named;
} s;

BEGIN
{
	s.c = 'a'; s.sc = -1; s.uc = 200; s.sh = -2; s.l = -1; s.u = 0x8877665544332211; s.ok = 1;
	s.e = GREEN; s.none = 3;
	s.name[0] = 'h'; s.name[1] = 'i'; s.raw[0] = 1; s.bytes[1] = 7; s.matrix[1][0] = 5;
	s.points[1].y = 9; s.pp = (point_t *)0x1230; s.f = (function_t)0x40;
	s.un.i = 0x41424344; s.b1 = -1; s.b2 = 17; s.str = "q\"t\n"; s.anonymous = 1; s.named.member = 2;
	print(s);
	printf("\n");
	print(s.c); print(s.uc); print(s.sh); print(s.l); print(s.e); print(s.none);
	print(s.name); print(s.raw); print(s.bytes); print(s.matrix); print(s.str); print("");
	print(s.b1); print(s.b2); print(s.pp); print(s.f); print(NULL); print((char)10); print(pid > 0);
	print(s.points[1]);
	printf("\n");
	print(s.points);
	print(s.un);
	printf("\n");
	exit(0);
}
