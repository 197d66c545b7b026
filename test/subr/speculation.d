// speculation gives an id, once, with the default nspec of 1.
// run: -q
BEGIN
{
	printf("%d %d\n", speculation(), speculation());
	exit(0);
}
