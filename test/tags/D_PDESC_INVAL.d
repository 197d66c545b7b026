// tag: D_PDESC_INVAL 2
a:b:c:d:e
{
	trace(1);
}
