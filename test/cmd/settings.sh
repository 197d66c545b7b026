# -x and the flags that set options: valid and invalid values, one message each, status 1.
. "$SRC/test/lib.bash"
good() {
	dt -e "$@" -n BEGIN
	expect "0  " "$status $out $err" "$*"
}
bad() { # expected message, arguments
	local want=$1
	shift
	dt -e "$@" -n BEGIN
	expect 1 "$status" "$*"
	expect_match "^dtrace: failed to set $want" "$err"
}
for size in 1k 64K 4m 4M 1g 4096 0x1000 010000; do good -b $size -x aggsize=$size -x dynvarsize=$size; done
for yes in yes no enable disable enabled disabled true false on off set unset 1 0; do good -x quiet=$yes; done
for rate in 10hz 100ms 1s 1sec 500us 500usec 1m 1min 1000000 1000000ns 1000000nsec; do good -x switchrate=$rate; done
for p in ring fill switch; do good -x bufpolicy=$p; done
good -x quiet -x flowindent -x zdefs -x destructive -x rawbytes
good -x bufresize=manual -x cpu=0 -x nspec=16 -x stackindent=4 -x strsize=1k -x cleanrate=50hz
good -x version=1.0 -x amin=Private/Private/Unknown -x stdc=c -x evaltime=main -x encoding=utf8
good -D A -D B=1 -U A -I /nosuch -H -X s -X t -C
good -32 -w -F -q
good -64 -x errtags -x droptags -x defaultargs -x argref -x pspec -x nolibs
good -b 0 # nothing is recorded; compat/bufsize.sh has what is
bad '-b -1: ' -b -1
bad '-b 1x: ' -b 1x
bad '-b : ' -b ''
bad '-x bufsize: .*needs a value' -x bufsize
bad '-x bufsize=: ' -x bufsize=
bad '-x bufsize=999999999999999999999: ' -x bufsize=999999999999999999999
bad '-x strsize=0: ' -x strsize=0
bad '-x quiet=maybe: .*yes or no' -x quiet=maybe
bad '-x bufpolicy=pink: .*ring\|fill\|switch' -x bufpolicy=pink
bad '-x switchrate=1parsec: .*rate' -x switchrate=1parsec
bad '-x version=9.9: .*newer than' -x version=9.9
bad '-x version=abc: ' -x version=abc
bad '-x amin=foo: .*stability' -x amin=foo
bad '-x engine=steam: ' -x engine=steam
bad '-x nosuch=1: there is no option "nosuch"$' -x nosuch=1
bad '-x : there is no option ""$' -x ''
bad '-X z: ' -X z
# a script's option overrides the command line's; one that comes too late is refused
cd "$TMP" || exit 1
printf '#pragma D option quiet\nBEGIN { printf("x\\n"); exit(0); }\n' >q.d
dt -x quiet=no -s q.d
expect "x" "$(echo $out)"
printf '#pragma D option nosuch=1\nBEGIN { }\n' >n.d
dt -x errtags -s n.d
expect_match '^dtrace: failed to compile script n.d: \[D_PRAGMA_OPTSET\] line 1: ' "$err"
dt -n 'BEGIN { setopt("bufsize", "1m"); exit(0); }'
expect_match 'bufsize' "$err"
