// tag: D_PDESC_ZERO 2
dtrace:::BEGINN
{
	trace(1);
}
