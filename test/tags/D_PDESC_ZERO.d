// tag: D_PDESC_ZERO
nosuchprovider:::entry
{
	trace(1);
}
