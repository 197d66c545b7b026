// tag: D_REGS_IDX
BEGIN
{
	trace(uregs[pid]);
}
