// quantize(): the outermost buckets, and none at all.
// run: -q
BEGIN
{
	@max = quantize(0x7fffffffffffffff);
	@min = quantize(-0x7fffffffffffffff - 1);
	@none = quantize(1, 0);
	printa(@max);
	printa(@min);
	printa(@none);
	exit(0);
}
