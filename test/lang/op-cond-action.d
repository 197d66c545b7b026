// run: -q 1
// A choice with a constant condition is made when the program is compiled, so an action may be chosen.
inline int SHOW_TIME = 0;
inline int SHOW_NAME = $1;
inline int WIDE = SHOW_NAME && !SHOW_TIME;

BEGIN
{
	SHOW_TIME ? printf("time ") : 1;
	SHOW_NAME ? printf("name ") : 1;
	WIDE ? printf("wide ") : printf("narrow ");
	SHOW_TIME ? nosuch : WIDE ? printf("nested\n") : 1;
	/* the branches need not be compatible */
	x = SHOW_NAME ? "text" : 0;
	@a = SHOW_NAME ? count() : sum(1);
	printf("%s\n", x);
	exit(0);
}
