// Subroutines on text beyond DTrace's: comparing, replacing, fields, hexadecimal, hashes, sprintf().
// run: -q
BEGIN
{
	printf("%d %d %d %d\n", strcasecmp("Content-Length", "content-length"), strcasecmp("a", "B"), strcasecmp("b", "A"),
	    strcasecmp("ab", "ABC"));
	printf("%d %d %d %d\n", starts_with("/etc/passwd", "/etc/"), starts_with("/etc", "/etc/"), starts_with("x", ""),
	    starts_with("abc", "abd"));
	printf("[%s] [%s] [%s] [%s]\n", strreplace("a.b.c", ".", "::"), strreplace("aaaa", "aa", "b"), strreplace("abc", "", "x"),
	    strreplace("a-b-", "-", ""));
	printf("[%s] [%s] [%s] [%s]\n", strfield("root:x:0::/root", ":", 0), strfield("root:x:0::/root", ":", 3),
	    strfield("root:x:0::/root", ":", 4), strfield("a, b, c", ", ", 1));
	printf("%d %d %d\n", strfield("a:b", ":", 2) == NULL, strfield("a:b", ":", -1) == NULL, strfield("", ":", 0) == NULL);
	printf("[%s] [%s]\n", hexstr("Az\n", 3), hexstr("", 0));
	printf("%x %x\n", strhash(""), strhash("hello"));
	printf("%d %d %d %d\n", min(3, -4), max(3, -4), min(7, 7), max(-1, -2));
	printf("%s|%s|%s|%s\n", sprintf("pid %d of %s", 42, "init"), sprintf("%x %#x %x", 255, 255, -1), sprintf("100%%"),
	    sprintf("%d%s%d", 1, "", -2));
	@[sprintf("%s:%d", "port", 80)] = count();
	printa("%s %@d\n", @);
	exit(0);
}
