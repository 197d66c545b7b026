// run: -q
// names of numbers, at the ends of the strings they are cut from
BEGIN
{
	printf("%s %s %s %s %s %s %s\n", errno_name[0], errno_name[1], errno_name[14], errno_name[15], errno_name[41], errno_name[133], errno_name[134]);
	printf("%s %s %s %s %s\n", signal_name[0], signal_name[15], signal_name[16], signal_name[31], signal_name[64]);
	printf("%s %s %s %s %s\n", cap_name[0], cap_name[9], cap_name[10], cap_name[40], cap_name[-1]);
	exit(0);
}
