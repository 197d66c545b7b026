// $1 becomes an integer, an identifier or a string, by what it looks like; $$1 is always a string.
// run: -q -x argref 17 0x10 '"quoted"' 'two words' pid int 3k '' +5
BEGIN
{
	printf("%d %s\n", $1 + 1, $$1);
	printf("%d %s\n", $2 + 1, $$2);
	printf("%s %s\n", $3, $$3);
	printf("%s %s\n", $4, $$4);
	printf("%d %s\n", $5 == pid, $$5);
	printf("%d %s\n", sizeof ($6), $$6);
	printf("%s [%s]\n", $7, $8);
	printf("%d %s\n", $9 + 1, $$9);
	printf("%s %s\n", $0, $$0);
	printf("$1\n");
	exit(0);
}
