// tag: D_CHR_OFLOW
BEGIN
{
	trace('123456789');
}
