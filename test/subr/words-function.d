// A script's own function comes before a new subroutine of its name.
// run: -q
inline int starts_with(string s, string t) { return strlen(s) + strlen(t); }
BEGIN { printf("%d %d\n", starts_with("abc", "de"), strcasecmp("A", "a")); exit(0); }
