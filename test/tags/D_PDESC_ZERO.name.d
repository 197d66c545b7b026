// tag: D_PDESC_ZERO
dtrace:::BEGINN
{
	trace(1);
}
