# -x dtypes, -x ctypes: the types of the program in a file.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
dt -e -x dtypes=d -n 'struct foo { int a; char b[3]; }; typedef struct foo foo_t; BEGIN { exit(0); }'
expect 'struct foo { /* 8 bytes */
	int a; /* +0 */
	char b[3]; /* +4 */
};
typedef struct foo foo_t;' "$(cat d)"
dt -qe -x dtypes=/nosuch/file -n BEGIN
expect "dtrace: failed to create /nosuch/file: No such file or directory" "$err"
dt -qe -x dtypes=/dev/full -n 'struct foo { int a; }; BEGIN { exit(0); }'
expect "dtrace: failed to create /dev/full: No space left on device" "$err"
command -v cpp >/dev/null || exit 0
echo 'struct bar { long c; };' >h.h
printf '#include "h.h"\nstruct bar *p;\nBEGIN { exit(0); }\n' >s.d
dt -e -C -I . -x ctypes=c -s s.d
expect "0 " "$status $err"
expect_match 'struct bar \{ /\* 8 bytes \*/' "$(cat c)"
