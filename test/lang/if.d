// if, else, else if; nested, and with a predicate.
// run: -q
BEGIN
{
	x = 3;
}

BEGIN
/x == 3/
{
	if (x > 2) {
		printf("big\n");
		if (x == 3)
			printf("three\n");
		else
			printf("not three\n");
	} else {
		printf("small\n");
	}
	if (x == 1)
		printf("one\n");
	else if (x == 3)
		printf("else if\n");
	else
		printf("other\n");
}

BEGIN
{
	exit(0);
}
