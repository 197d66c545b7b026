// String constants: escapes; literals side by side are joined (beyond DTrace).
// run: -q
BEGIN
{
	printf("%s\n", "a\tb");
	printf("%s\n", "\x41\102");
	printf("%s\n", "one" " " "two");
	printf("%s\n", "back\\slash \"quoted\"");
	printf("%d\n", strlen("\a\b\f\n\r\t\v"));
	exit(0);
}
