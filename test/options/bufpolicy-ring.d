// bufpolicy=ring: the oldest records are forgotten; everything is printed at the end.
// run: -q -b 64 -x bufpolicy=ring
BEGIN { trace(1); }
BEGIN { trace(2); }
BEGIN { trace(3); }
BEGIN { trace(4); }
BEGIN { exit(0); }
END { trace(9); }
