// tag: D_PDESC_ZERO 2
nosuchprovider:::entry
{
	trace(1);
}
