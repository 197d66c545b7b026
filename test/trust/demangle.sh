# timeout: 120
# needs: root nobody bpf gcc
# Mangled names of some hundred characters that stand for names of gigabytes, or that are searched for as long: they stay as they are.
. ./lib.bash
STACKS='syscall::getppid:entry /pid == $1/ { @[ustack()] = count(); } tick-1s { exit(0); }'
digits=({0..9} {A..Z})
explosive=_Z1f1AFS_S_E search=_Z1fIJEEvDpFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF1A
for d in "${digits[@]}"; do
	explosive+="FS${d}_S${d}_E"
	search+="S${d}_E"
done
search+=T_E
for name in "$explosive" "$search"; do
	make_file plain mangled.so "$name"
	start run "$THEIRS/mangled.so"
	trace -qn "$STACKS" "$pid"
	end_all
	cheap "${name:0:20}"
	grep -qF "mangled.so\`$name+$BACK" "$TMP/out" || { echo "no $name in: $out"; count_failure; }
	rm -f "$THEIRS/mangled.so"
done
make_file plain mangled.so _ZN3foo3barEi
start run "$THEIRS/mangled.so"
trace -qn "$STACKS" "$pid"
cheap plain
expect_match 'mangled.so`foo::bar\(int\)\+'$BACK "$out"
