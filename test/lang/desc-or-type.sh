# Between clauses a word can be a type or a probe description: types are tried first, except on the
# command line and with -x pspec; a colon makes it a description.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
try() { printf '%s\n' "$1" >p.d; shift; dt -x errtags -e "$@" -s p.d; }
try 'int* x; BEGIN { trace(x); }'
expect "0 " "$status $err"
try 'int*:::entry { trace(1); }' -Z
expect "0 " "$status $err"
try 'int* { trace(1); }' -Z
expect_match 'D_SYNTAX' "$err"
try 'int* { trace(1); }' -Z -x pspec
expect "0 " "$status $err"
dt -x errtags -e -Z -n 'int* { trace(1); }'
expect "0 " "$status $err"
dt -x errtags -qn 'int x; BEGIN { x = 4; trace(x); exit(0); }'
expect "4" "$(echo $out)"
# words that are keywords inside clauses are allowed in descriptions
dt -e -n 'syscall::read:return { } syscall::*:entry,syscall::*:return { }'
expect "0 " "$status $err"
# a bare description is for the command line
try 'BEGIN'
expect_match 'D_SYNTAX' "$err"
dt -e -n BEGIN
expect "0 " "$status $err"
