// quantize(): zero and negative values have their buckets; an increment adds more than one.
// run: -q
BEGIN
{
	@ = quantize(0);
	@ = quantize(-1);
	@ = quantize(-5);
	@ = quantize(1, 5);
	exit(0);
}
