// A symbol that is declared, but that the kernel does not have.
// tag: D_ASRELO 7
// run: -x knodefs
extern int no_such_kernel_symbol;
BEGIN
{
	trace(no_such_kernel_symbol);
}
