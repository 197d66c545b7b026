// Values without a register are spilled, but two operands must be in registers at once.
// tag: D_NOREG 6
// run: -x iregs=2
BEGIN
{
	trace(pid + tid);
}
