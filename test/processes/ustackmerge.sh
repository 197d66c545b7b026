# needs: root bpf btf gcc
# timeout: 200
# -x ustackmerge: equal stacks of forked processes are one key; -x stackoffsets=no: of one function at several places too.
. "$SRC/test/lib.bash"
build chain processes/chain.c -fomit-frame-pointer -lpthread -ldl
# rows: how often each stack was counted, in one line
rows() { awk 'NF == 1 && /^ *[0-9]+$/ { print $1 }' "$TMP/out" | xargs; }
stacks() { # HOW N OPTION... : those of getppid()
	local how=$1 n=$2
	shift 2
	trace -q "$@" -n 'syscall::getppid:entry /progenyof($target)/ { @[ustack(60)] = count(); }' -c "$TMP/chain $how $n"
}

stacks fork 3
expect "1 1 1" "$(rows)" "without: $err"
stacks fork 3 -x ustackmerge
expect 3 "$(rows)" "merged: $err"
expect 1 "$(lines 'chain`link5\+0x')" "the stack, once, with offsets"
stacks fork 3 -x ustackmerge -x stackoffsets=no
expect 3 "$(rows)" "without offsets: $err"
# (a place without a name, as the C library has some, is a file and an offset)
expect "1 0" "$(lines 'chain`link5$') $(lines '`.*\+0x')" "no offsets"

# a frame without a symbol is a place in its file; without the option it is an address
strip -o "$TMP/bare" "$TMP/chain"
mv "$TMP/bare" "$TMP/chain"
stacks fork 2 -x ustackmerge
expect 2 "$(rows)" "stripped: $err"
[ "$(lines '^ *chain\+0x[0-9a-f]+$')" -ge 12 ] || { echo "not places: $out"; count_failure; } # main, once and the links; what runs before main differs
stacks plain 2
expect 0 "$(lines 'chain\+0x')" "addresses"

# as a pragma, and in folded: apart if asked
build chain processes/chain.c -fomit-frame-pointer -lpthread -ldl
stacks fork 3 -O folded
expect 3 "$(total .)" "folded"
expect 1 "$(lines .)" "folded: one line"
stacks fork 3 -O folded -x ustackmerge=no
expect "3 3" "$(lines '^pid [0-9]+;') $(lines ' 1$')" "folded, apart"

# two places in one function that call the kernel
cat >"$TMP/twice.c" <<'C'
#include <unistd.h>
int main(void) { getppid(); getppid(); return 0; }
C
gcc -O0 -o "$TMP/twice" "$TMP/twice.c"
for how in yes no; do
	trace -q -x stackoffsets=$how -n 'syscall::getppid:entry /pid == $target/ { @[ustack(4)] = count(); }' -c "$TMP/twice"
	expect "$([ $how = yes ] && echo 1 1 || echo 2)" "$(rows)" "stackoffsets=$how: $err"
done
