// tag: D_PRINTF_ARG_FMT 4
BEGIN
{
	x = "%d"; printf(x, 1);
}
