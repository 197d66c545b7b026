// tag: D_CHR_OFLOW 4
BEGIN
{
	trace('123456789');
}
