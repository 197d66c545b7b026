# -x scratchsize: what alloca() and copyin() of one clause may add up to, exactly.
# uses: root bpf
. "$SRC/test/lib.bash"
script='BEGIN { this->p = (char *)alloca(n); this->p[n - 1] = 65; this->q = (char *)alloca(m); printf("%c\n", this->p[n - 1]); }
BEGIN { this->r = alloca(n + m); printf("a clause of its own\n"); exit(0); }
ERROR { printf("fault %d\n", arg4); exit(1); }'
NOSCRATCH=5
check() { # engine
	run() { run_dtrace timeout 500 "$DTRACE" -x engine=$1 -q "${@:2}" -n "int n, m; BEGIN { n = $a; m = $b; } $script"; }
	a=32 b=8 run $1 -x scratchsize=40
	expect "A
a clause of its own" "$(grep . "$TMP/out")" "$1: exactly: $err"
	a=32 b=8 run $1 -x scratchsize=33
	expect "A
a clause of its own" "$(grep . "$TMP/out")" "$1: rounded up: $err"
	a=32 b=9 run $1 -x scratchsize=40
	expect "fault $NOSCRATCH" "$(grep . "$TMP/out")" "$1: a byte too many"
	expect_match 'out of scratch space in action #[34]' "$err"
	a=700000 b=300000 run $1 -x scratchsize=1000000 -x bufsize=4m
	expect "A
a clause of its own" "$(grep . "$TMP/out" | head -n 2)" "$1: large: $err"
	a=60000 b=9 run $1
	expect "A" "$(grep . "$TMP/out" | head -n 1)" "$1: not set: $err"
	# parts of a clause are one clause
	run_dtrace timeout 500 "$DTRACE" -x engine=$1 -q -x scratchsize=16 -n 'int n; BEGIN { n = 8; this->p = alloca(n); if (n > 0) { this->q = alloca(n); } printf("fits\n"); }
		BEGIN { this->p = alloca(n); if (n > 0) { this->q = alloca(n + 1); } printf("not reached\n"); } BEGIN { exit(0); }'
	expect "fits" "$(grep . "$TMP/out")" "$1: if: $err"
	expect_match "out of scratch space" "$err"
	# strings are not counted
	run_dtrace timeout 500 "$DTRACE" -x engine=$1 -q -x scratchsize=8 -n 'BEGIN { this->p = alloca(8); printf("%s\n", strjoin("not ", strjoin("cou", "nted"))); exit(0); }'
	expect "not counted" "$(grep . "$TMP/out")" "$1: strings: $err"
	# copyin() counts its bytes, not the NUL that it puts after them
	run_dtrace timeout 500 "$DTRACE" -x engine=$1 -q -x scratchsize=8 -n 'BEGIN { this->p = copyin(n, 8); exit(0); } ERROR { printf("fault %d\n", arg4); exit(0); } int n;'
	expect "" "$(grep -v 'fault 1$' "$TMP/out" | grep .)" "$1: copyin"
}
check vm
[ "$(id -u)" = 0 ] && "$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' >/dev/null 2>&1 && check bpf

# a constant that no clause can have
dt -e -x errtags -x scratchsize=16 -n 'BEGIN { alloca(17); }'
expect_match '\[D_ALLOCA_SIZE\] .*: alloca\( \) of 17 bytes: option scratchsize allows 16$' "$err"
dt -e -x errtags -n '#pragma D option scratchsize=9
BEGIN { copyin(arg0, 17); }'
expect_match '\[D_ALLOCA_SIZE\] .*: copyin\( \) of 17 bytes: option scratchsize allows 16$' "$err"
dt -e -x scratchsize=16 -n 'BEGIN { alloca(16); copyin(arg0, 16); copyinto(arg0, 32, alloca(8)); copyinstr(arg0, 99); }'
expect 0 "$status" "$err"
dt -e -n 'BEGIN { alloca(1000000); }'
expect 0 "$status" "$err"
dt -e -x scratchsize=2m -n BEGIN
expect 'dtrace: failed to set -x scratchsize=2m: "2m" is out of range for option "scratchsize"' "$err"
