# Aggregations with keys and values of the same size share a map: each has its own rows, also at a snapshot and after clear().
# needs: root
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
cat >many.d <<'EOF'
BEGIN
{
	for (this->i = 0; this->i < 100; this->i++) {
		@count[this->i % 7, this->i % 3] = count();
		@sum[this->i % 7, this->i % 3] = sum(this->i);
		@low[this->i % 7, this->i % 3] = min(this->i - 50);
		@high[this->i % 7, this->i % 3] = max(this->i);
		@pair[this->i % 7, this->i % 2] = count();
		@average[this->i % 7, this->i % 3] = avg(this->i);
		@deviation[this->i % 7, this->i % 3] = stddev(this->i);
		@other[this->i % 7, this->i % 3] = avg(this->i * this->i);
		@third[this->i % 7, this->i % 3] = avg(-this->i);
		@text[this->i % 2 ? "odd" : "even"] = count();
	}
	clear(@high);
	trunc(@pair);
	@pair[1, 2] = count();
	exit(0);
}
EOF
for engine in vm bpf; do
	dt -x engine=$engine -x aggsortkey -qs many.d
	expect 0 "$status" "$engine: $err"
	echo "$out" >"$engine"
done
expect "$(cat vm)" "$(cat bpf)"
expect 170 "$(grep -c '[0-9]' bpf)"
# rows of a hundred snapshots add up, for each
cat >loop.c <<'EOF'
#include <unistd.h>
#include <sys/syscall.h>
int main(void) { for (int i = 0; i < 30000; i++) syscall(SYS_getppid); }
EOF
cc -o loop loop.c || exit 1
ktrace -q -x aggrate=1ms -x switchrate=1ms -c ./loop -n 'self int n; syscall::getppid:entry /pid == $target/ {
	@a[self->n % 10] = count(); @b[self->n % 10] = sum(1); @c[self->n % 10] = max(self->n); @d[self->n % 5] = count(); self->n++; }
	END { printa("abc %d %@d %@d %@d\n", @a, @b, @c); printa("d %d %@d\n", @d); }'
expect 0 "$status" "$err"
expect "$(for i in 0 1 2 3 4 5 6 7 8 9; do echo "abc $i 3000 3000 $((29990 + i))"; done; for i in 0 1 2 3 4; do echo "d $i 6000"; done)" \
	"$(sort <<<"$out" | grep .)"
