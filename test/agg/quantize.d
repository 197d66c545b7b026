// quantize(): powers of two.
// run: -q
BEGIN
{
	@ = quantize(1);
	@ = quantize(2);
	@ = quantize(3);
	@ = quantize(8);
	exit(0);
}
