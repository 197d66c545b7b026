// tag: D_INT_DIGIT 4
BEGIN
{
	trace(0128);
}
