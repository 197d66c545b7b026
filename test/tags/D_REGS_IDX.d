// tag: D_REGS_IDX 4
BEGIN
{
	trace(uregs[-1]);
}
