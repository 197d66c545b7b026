// tag: D_CHR_NL 4
BEGIN
{
	trace('a
');
}
