// run: -q
// needs: x86-64
// Every register can be read in BEGIN; one that does not exist is a fault.
BEGIN
{
	this->x = uregs[R_GS] + uregs[R_FS] + uregs[R_ES] + uregs[R_DS] + uregs[R_TRAPNO] + uregs[R_ERR] + uregs[R_SS];
	printf("%d %d %d %d\n", R_GS, R_TRAPNO, R_RIP, R_PC);
}
BEGIN { printf("%d\n", uregs[26]); }
BEGIN { printf("%d\n", uregs[40]); }
BEGIN { printf("%d\n", uregs[99]); }
BEGIN { exit(0); }
ERROR { printf("fault %d\n", arg4); }
