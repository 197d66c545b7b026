// tag: D_CHR_NL
BEGIN
{
	trace('a
');
}
