# ustackdepth is the number of frames that ustack() walks, also of deep recursions.
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
build deep processes/deep.c -O2 -fno-optimize-sibling-calls -fomit-frame-pointer
for n in 100 400 3000; do
	ktrace -q -n 'syscall::getppid:entry /pid == $target && n++ == 0/ { printf("depth %d\n", ustackdepth); ustack(4000); }' -c "$TMP/deep $n"
	depth=$(value depth)
	expect "$n" "$(lines '`down')" "$n frames of down(): $err"
	expect "$(lines '^ +[^ ]*(`|0x)')" "$depth" "frames of ustack(4000) at a depth of $n"
done
