# needs: python3
# uses: go root bpf gcc
# -x oformat=pprof: a compressed profile.proto; every reference in it leads somewhere, keys are labels, aggregations are types.
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
read_profile() { python3 "$SRC/test/format/lib/pprof.py" "$TMP/profile"; }

dt -O pprof -o "$TMP/profile" -n 'BEGIN { @["cat", 1] = count(); @["cat", 1] = count(); @["dog", 2] = count(); exit(0); }'
expect "" "$err"
expect 'types: samples/count
[keys]`cat;[keys]`1 key1=cat key2=1 2
[keys]`dog;[keys]`2 key1=dog key2=2 1' "$(read_profile)"

dt -O pprof -o "$TMP/profile" -n 'BEGIN { @a[execname] = count(); @b["\377\n", probename] = sum(1 << 40); exit(0); }'
expect 'types: @a/count @b/count
[keys]`dtrace execname=dtrace 1 0
[keys]`???;[keys]`BEGIN key1=??? probename=BEGIN 0 1099511627776' "$(read_profile | sed 's/\xef\xbf\xbd/??/g')" "several"

dt -O pprof -o "$TMP/profile" -n 'BEGIN { exit(0); }'
expect 'types:' "$(read_profile | sed '/^$/d; s/ $//')" "nothing"

# the reader of the format: go tool pprof
lacks go >/dev/null && exit "$fails"
pprof() { HOME=$TMP PPROF_TMPDIR=$TMP go tool pprof "$@" "$TMP/profile" 2>&1; }
dt -O pprof -o "$TMP/profile" -n 'BEGIN { @a["cat", 1] = sum(2000); @a["dog", 2] = sum(10); @b["cat"] = count(); exit(0); }'
expect_match '^ *2000\.0 \(99\.50%\): cat$' "$(pprof -tags -sample_index=@a)"
expect_match '^ +1 +100% +100% +1 +100% +cat$' "$(pprof -top -sample_index=@b)"
{ lacks root || lacks bpf || lacks gcc; } >/dev/null && exit "$fails"
printf '#include <unistd.h>\n__attribute__((noinline)) int inner(void) { return getppid() + 1; }\nint main(void) { return inner() == 0; }\n' >"$TMP/calls.c"
gcc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$TMP/calls" "$TMP/calls.c" || exit 1
dt -x engine=bpf -O pprof -o "$TMP/profile" -n 'syscall::getppid:entry /pid == $target/ { @[ustack(), execname] = count(); }' -c "$TMP/calls"
expect "execname:  calls
1   getppid
inner
main" "$(pprof -traces | grep -A3 execname | sed 's/^ *//')" "stacks"
