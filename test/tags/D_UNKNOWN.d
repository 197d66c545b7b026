// There are eight tuple registers.
// tag: D_UNKNOWN 5
BEGIN
{
	a[1, 2, 3, 4, 5, 6, 7, 8, 9] = 1;
}
