# How values are written: sizes, rates, switches; and unknown names.
. "$SRC/test/lib.bash"
for v in yes no enable enabled disable disabled true false on off set unset YES Off 1 0; do
	dt -e -x quiet=$v -n BEGIN
	expect "0 " "$status $err" "quiet=$v"
done
for v in 8 64k 1M 1g 1T 0x100 010; do
	dt -e -x aggsize=$v -n BEGIN
	expect "0 " "$status $err" "aggsize=$v"
done
for v in 1000000 5ns 5nsec 5us 5usec 5ms 5msec 5s 5sec 5m 5min 5h 5hour 5d 5day 5hz 5HZ; do
	dt -e -x switchrate=$v -n BEGIN
	expect "0 " "$status $err" "switchrate=$v"
done
dt -e -x bufsise=4m -n BEGIN
expect 'dtrace: failed to set -x bufsise=4m: there is no option "bufsise"; did you mean "bufsize"?' "$err"
dt -e -x xyzzy -n BEGIN
expect 'dtrace: failed to set -x xyzzy: there is no option "xyzzy"' "$err"
dt -e -x bufsize=4 -n BEGIN
expect "0 " "$status $err" "a small bufsize matters only when something records"
dt -e -x strsize=0 -n BEGIN
expect 'dtrace: failed to set -x strsize=0: "0" is out of range for option "strsize"' "$err"
dt -e -x iregs=9 -n BEGIN
expect 'dtrace: failed to set -x iregs=9: "9" is out of range for option "iregs"' "$err"
dt -e -x version=9.9 -n BEGIN
expect 'dtrace: failed to set -x version=9.9: version 9.9 is newer than 1.14, the latest' "$err"
dt -e -x setenv=NAME -n BEGIN
expect 'dtrace: failed to set -x setenv=NAME: invalid value "NAME" for option "setenv": expected NAME=value' "$err"
# the last one counts; a pragma counts after -x
dt -x quiet -x quiet=no -x quiet -n 'BEGIN { printf("q\n"); exit(0); }'
expect "q" "$(echo $out)"
dt -x strsize=10 -n '#pragma D option strsize=20
#pragma D option quiet
BEGIN { printf("%d\n", sizeof(string)); exit(0); }'
expect 20 "$(echo $out)"
