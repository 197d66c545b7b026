# -x srclines: frames of programs have their source file and line, in ndjson and in the typed API.
# needs: root bpf gcc jq
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
cat >prog.c <<'C'
#include <unistd.h>

__attribute__((noinline)) int inner(int n)
{
	return getppid() + n; /* line 5 */
}

int main(void)
{
	return inner(1) == 0; /* line 10 */
}
C
gcc -g -O1 -fno-optimize-sibling-calls -o prog prog.c || exit 1
trace -O ndjson -x srclines -c ./prog -n 'pid$target:a.out:inner:entry { ustack(); }'
expect 0 "$status" "$err"
expect 'inner prog.c:4
main prog.c:10' "$(jq -r 'select(.type == "record") | .output[0].value.frames[] | select(.file) | "\(.symbol) \(.file | split("/") | last):\(.line)"' out | head -n 2)"
# not asked for, or not known
trace -O ndjson -c ./prog -n 'pid$target:a.out:inner:entry { ustack(); }'
expect 0 "$(grep -c '"file"' out)"
strip prog
trace -O ndjson -x srclines -c ./prog -n 'syscall::getppid:entry /pid == $target/ { ustack(); }'
expect 0 "$(grep -c 'prog.c' out)"
