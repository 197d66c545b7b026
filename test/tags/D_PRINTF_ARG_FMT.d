// tag: D_PRINTF_ARG_FMT
BEGIN
{
	x = "%d"; printf(x, 1);
}
