# timeout: 300
# Files of some kilobytes that claim to have gigabytes: reading the stack of a process that runs code of one costs
# neither memory nor time, and says in one line what is not read.
# needs: root nobody bpf gcc
. ./lib.bash
STACKS='syscall::getppid:entry /pid == $1/ { @[ustack()] = count(); } tick-2s { exit(0); }'

for kind in strtab symtab eh_frame shstrtab sections; do
	make_file $kind $kind.so
	start run "$THEIRS/$kind.so"
	trace -qn "$STACKS" "$pid"
	end_all
	cheap $kind
	expect_match "$kind.so\`" "$out"
	case $kind in
	strtab | symtab | eh_frame)
		expect_match "^dtrace: .*$kind.so: not read: .*\(3072 MB\)" "$err"
		expect 1 "$(grep -c "not read" "$TMP/err")" "$kind: one line"
		;;
	esac
done

# what is honest beside it still has its names
make_file plain plain.so my_function
start run "$THEIRS/plain.so"
trace -qn "$STACKS" "$pid"
end_all
cheap plain
expect_match 'plain.so`my_function\+'$BACK "$out"
expect "" "$err"
