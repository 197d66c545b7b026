// -x encoding=utf8: bars of blocks that end in eighths of a column.
// run: -q -x encoding=utf8
BEGIN
{
	@ = lquantize(0, 0, 4, 1, 100);
	@ = lquantize(1, 0, 4, 1, 33);
	@ = lquantize(2, 0, 4, 1, 5);
	@ = lquantize(3, 0, 4, 1, 1);
	exit(0);
}
