# Options of Oracle's DTrace that mean nothing here are accepted wherever options can be set.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
names=$(sed -nE 's/^DT_IGNORED\("([a-z]+)"\)$/\1/p' "$SRC/src/base/options.def")
expect "bpflog bpflogsize cppargs ctfpath debugassert disasm dofstashpath linknommap lockmem modpath noresolve nusdtprobes preallocate printsize procfspath quietresize sysslice useruid" "$(echo $names)"
for name in $names; do
	dt -q -x $name -x $name=8k -n "BEGIN { setopt(\"$name\"); setopt(\"$name\", \"a b\"); exit(0); }"
	expect "0 " "$status $err" "$name"
done
{ for name in $names; do echo "#pragma D option $name=1"; done; echo 'BEGIN { trace("ran"); exit(0); }'; } >all.d
dt -qs all.d
expect "0 ran" "$status $(echo $out)" "$err"
dt -e -x bpflo -n BEGIN
expect_match 'there is no option "bpflo"' "$err"
