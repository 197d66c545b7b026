// bufpolicy=switch (the default): what does not fit is dropped, and END has what is left.
// run: -q -b 64 -c true
// filter: s/CPU [0-9]*/CPU 0/
BEGIN { trace(1); }
BEGIN { trace(2); }
BEGIN { trace(3); }
BEGIN { trace(4); }
BEGIN { trace(5); }
BEGIN { trace(6); }
END { trace(9); }
