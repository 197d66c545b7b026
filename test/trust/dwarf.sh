# timeout: 60
# needs: root nobody bpf gcc
# Debug information of a file that belongs to another user is read, not mapped: it has the same types; what needs other files, or is
# not what it seems to be, is refused in one line.
. ./lib.bash
cat >"$TMP/t.c" <<'END'
#include <unistd.h>
struct mine { int a; char b[12]; } m;
int main(void) { sleep(1); return m.a; }
END
ask() { dt -q -c "$1" -n 'BEGIN { printf("%d", sizeof (pid$target`a.out`struct mine)); exit(0); }'; }
gcc -g -o "$TMP/t" "$TMP/t.c"
chown nobody "$TMP/t"
ask "$TMP/t"
expect "0 16" "$status $(echo $out)$err"
gcc -g -gz=zlib -o "$TMP/z" "$TMP/t.c"
chown nobody "$TMP/z"
ask "$TMP/z"
expect_match 'it belongs to another user and is too large, or compressed' "$err"
chown root "$TMP/z"
ask "$TMP/z"
expect "0 16" "$status $(echo $out)$err"
