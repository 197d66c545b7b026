# One exit() wins: of the clauses that all CPUs run at the same moment one is printed, with its status.
# needs: root bpf
. "$SRC/test/lib.bash"
for try in 1 2 3 4 5 6 7 8 9 10; do
	ktrace -qn 'profile-997 { printf("%d\n", cpu + 1); exit(cpu + 1); } profile-997 { printf("no\n"); }'
	expect "$status" "$(sed '/^$/d' "$TMP/out")" "try $try"
done
