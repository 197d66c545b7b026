#!/usr/sbin/dtrace -s
// run: -q 0x242 0 0x80001
/*
 * flagwords.d: numbers of flags as words: the flags of open(2) that are given as arguments.
 */
inline string both[string a, string b] = a == "" ? b : b == "" ? a : strjoin(a, strjoin("|", b));
inline string access[int f] = (f & O_ACCMODE) == O_RDWR ? "O_RDWR" : (f & O_ACCMODE) == O_WRONLY ? "O_WRONLY" : "O_RDONLY";
inline string words[int f] = both[both[both[access[f], f & O_CREAT ? "O_CREAT" : ""], f & O_TRUNC ? "O_TRUNC" : ""],
    f & O_CLOEXEC ? "O_CLOEXEC" : ""];

BEGIN
{
	printf("%6x %s\n", $1, words[$1]);
	printf("%6x %s\n", $2, words[$2]);
	printf("%6x %s\n", $3, words[$3]);
	exit(0);
}
