// A predicate defines names for its body, and the body for the predicate; values are those after the predicate ran.
// run: -q
inline int give = (given = 5);
inline int make(int x) { made = x + 1; return made; }
BEGIN { self->start = timestamp - 1000; }
BEGIN /n++ < 5/ { printf("%d", n); }
BEGIN /(this->t = timestamp - self->start) > 100/ { printf(" %d", this->t > 100); }
BEGIN /late/ { late = 1; printf(" never"); }
BEGIN /late/ { printf(" %d", late); }
BEGIN /m["x"]++ == 0/ { printf(" %d %d", m["x"], m["y"]); }
BEGIN /c++ ? 0 : (p = (int *)alloca(16)) != NULL/ { *p = 7; printf(" %d %d", c, *p); }
BEGIN /give/ { printf(" %d", given); }
BEGIN /make(3)/ { printf(" %d", made); }
BEGIN, END /k++ < 9/ { printf(" [%d]", k); }
BEGIN { printf("\n"); exit(0); }
END { printf("\n"); }
