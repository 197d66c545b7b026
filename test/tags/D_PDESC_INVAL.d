// tag: D_PDESC_INVAL
a:b:c:d:e
{
	trace(1);
}
