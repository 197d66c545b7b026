// A hardware type that link_ntop() does not know is found when it runs.
// run: -q
// status: 0
BEGIN { printf("%s\n", link_ntop(7, alloca(20))); }
BEGIN { exit(0); }
