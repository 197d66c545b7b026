// What the consumer does (clear, trunc, normalize, setopt ...) happens when the record is consumed, in order.
// run: -q
BEGIN
{
	@["a"] = sum(10);
	printa("%s %@d\n", @);
	normalize(@, 5);
	printa("%s %@d\n", @);
	denormalize(@);
	clear(@);
	printa("%s %@d\n", @);
	setopt("quiet", "no");
	trunc(@);
	printa("%s %@d\n", @);
	exit(0);
}
