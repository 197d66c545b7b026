// %s: a string or char array up to its NUL. %S: with escapes, and the NUL as \0.
// run: -q -x strsize=16
struct s { char name[8]; } x;

BEGIN
{
	x.name[0] = 'h';
	x.name[1] = 'i';
	printf("[%s] [%s] [%s]\n", "text", x.name, "");
	printf("[%5s] [%-5s] [%.1s] [%5.1s] [%2s]\n", x.name, x.name, x.name, x.name, "longer");
	printf("[%S] [%S] [%S]\n", "a\tb\n", "q\"\\", "\001\177\200");
	printf("[%S] [%12S] [%-12S] [%.3S]\n", x.name, "a\n", "a\n", "a\nb");
	printf("[%s]\n", "cut to strsize, fifteen and a NUL");
	exit(0);
}
