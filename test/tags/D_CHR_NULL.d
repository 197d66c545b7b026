// tag: D_CHR_NULL 4
BEGIN
{
	trace('');
}
