// -x nspec: how many speculations there are.
// run: -q -x nspec=3
BEGIN
{
	printf("%d %d %d %d\n", speculation(), speculation(), speculation(), speculation());
	exit(0);
}
