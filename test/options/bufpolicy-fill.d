// bufpolicy=fill: a full buffer ends tracing; room for END is kept.
// run: -q -b 64 -x bufpolicy=fill
BEGIN { trace(1); }
BEGIN { trace(2); }
BEGIN { trace(3); }
BEGIN { trace(4); }
BEGIN { exit(7); }
END { trace(9); }
