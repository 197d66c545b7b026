# A full disk is reported, whatever was to be written; an incomplete output file of -h or -G is not left behind.
. "$SRC/test/lib.bash"
[ -w /dev/full ] || skip "needs /dev/full"
cd "$TMP" || exit 1
echo 'provider p { probe q(int); };' >p.d
full() { # arguments; standard output is a full disk
	"$DTRACE" -x engine=vm "$@" >/dev/full 2>"$TMP/err" </dev/null
	expect 1 $? "status of $*"
	expect_match '^dtrace: .*(No space left on device|failed to write)' "$(cat "$TMP/err")"
}
full -V
full -l -n BEGIN
full -lv -n BEGIN
full -ev -n BEGIN
full -d -e -n 'BEGIN { if (1) trace(1); }'
full -qn 'BEGIN { printf("x\n"); exit(0); }'
full -qn 'BEGIN { exit(0); } END { printf("x\n"); }'
full -qn 'BEGIN { @ = count(); exit(0); }'
full -n 'BEGIN { exit(0); }'
full -q -o /dev/full -n 'BEGIN { printf("x\n"); exit(0); }'
full -l -o /dev/full -n BEGIN
full -h -o /dev/full -s p.d
full -G -o /dev/full -s p.d
full -qw -n 'BEGIN { freopen("/dev/full"); printf("x\n"); exit(0); }'
[ -c /dev/full ] || { echo "/dev/full is gone"; fails=1; }
echo 'provider p { probe f(double d); };' >f.d
dt -h -s f.d
expect "1 " "$status $(ls f.h 2>/dev/null)"
echo old >g.h
dt -h -s f.d -o g.h
expect "1 " "$status $(ls g.h 2>/dev/null)"
dt -G -s p.d -s f.d
expect "1 " "$status $(ls ./*.o 2>/dev/null)"
# standard output closed: nothing else may take its place
"$DTRACE" -x engine=vm -qn 'BEGIN { printf("x\n"); exit(5); }' >&-
expect 5 $?
"$DTRACE" -x engine=vm -qn 'BEGIN { printf("x\n"); exit(5); }' <&- >/dev/null 2>&-
expect 5 $?
