// Comments of both kinds (// is beyond DTrace), anywhere.
// run: -q
/* before */ BEGIN // here
/* and here */
/ 1 /* inside */ /
{
	/* one */ printf("%d\n", 1 /* two */ + 2); // three
	// printf("no\n");
	exit(0);
}
