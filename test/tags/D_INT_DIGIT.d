// tag: D_INT_DIGIT
BEGIN
{
	trace(0128);
}
