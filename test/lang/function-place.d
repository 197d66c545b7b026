// What depends on the place of a call stays there: after exit() the rest of the block runs, functions included; a
// speculation takes what they record.
// run: -q
inline void note(string what, int n)
{
	printf("%s %d\n", what, n * 3 + 1 - n / 2);
	@[what] = sum(n * 3 + 1 - n / 2);
	printf("%s %d\n", what, n * 5 + 1 - n / 2);
}
inline void plain(string what, int n)
{
	printf("%s %d\n", what, n * 3 + 1 - n / 2);
	printf("%s %d\n", what, n * 7 + 1 - n / 2);
	printf("%s %d\n", what, n * 5 + 1 - n / 2);
}
inline void leave(int status) { exit(status); note("leave", 1); }

BEGIN { this->s = speculation(); speculate(this->s); plain("a", 1); plain("b", 2); plain("c", 3); plain("d", 4); plain("e", 5); }
BEGIN { plain("now", 1); plain("now", 2); plain("now", 3); plain("now", 4); }
BEGIN { commit(1); }
BEGIN { note("f", 1); note("g", 2); note("h", 3); note("i", 4); leave(0); note("j", 5); note("k", 6); }
BEGIN { printf("not reached\n"); }
