// Distributions are ordered by the sum of counts times bucket, then by the count of zeros.
// run: -q
BEGIN
{
	@["eight"] = quantize(8);
	@["three ones"] = quantize(1, 3);
	@["zeros"] = quantize(0, 5);
	@["a zero"] = quantize(0);
	@["minus four"] = quantize(-4);
	printa("%s", @);
	exit(0);
}
