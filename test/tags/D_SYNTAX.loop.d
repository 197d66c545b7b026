// tag: D_SYNTAX 4
BEGIN
{
	break;
}
