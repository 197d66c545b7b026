# timeout: 300
# C++ and Rust: demangled and mangled names; exceptions and panics pass through traced functions unharmed.
# needs: root bpf g++
# uses: rustc
. "$SRC/test/lib.bash"
cat >"$TMP/shapes.cc" <<'EOT'
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#define KEEP __attribute__((noinline, noclone, used))
namespace shapes {
struct Square {
	int side;
	KEEP explicit Square(int s) : side(s) { asm volatile("" ::: "memory"); }
	KEEP virtual int area() const { asm volatile("" ::: "memory"); return side * side; }
	KEEP int scaled(int by) const { asm volatile("" ::: "memory"); return side * by; }
	KEEP int scaled(double by) const { asm volatile("" ::: "memory"); return (int)(side * by); }
	KEEP bool operator==(const Square &o) const { asm volatile("" ::: "memory"); return side == o.side; }
	virtual ~Square() = default;
};
template <typename T> KEEP T twice(T x) { asm volatile("" ::: "memory"); return x + x; }
KEEP int risky(int n)
{
	asm volatile("" ::: "memory");
	if (n % 2)
		throw std::runtime_error("odd");
	return n;
}
KEEP int middle(int n)
{
	int r = risky(n);
	asm volatile("" ::: "memory");
	return r + 1;
}
}
int main()
{
	int caught = 0, sum = 0;
	for (int i = 0; i < 10; i++) {
		shapes::Square s(i);
		sum += s.area() + s.scaled(2) + s.scaled(2.5) + (s == s) + shapes::twice(i) + (int)shapes::twice(1.5);
		try {
			sum += shapes::middle(i);
		} catch (const std::exception &e) {
			caught++;
		}
	}
	printf("caught %d\n", caught);
	return sum == -1;
}
EOT
g++ -O2 -g -o "$TMP/shapes" "$TMP/shapes.cc" || exit 1

# called WANT DESCRIPTION: how often, on how many probes
called() {
	trace -qn "$2 { @ = count(); }" -c "$TMP/shapes"
	expect "caught 5 $1" "$(xargs <<<"$out")" "$2: $err"
}
called 10 'pid$target:a.out:shapes??middle:entry'
called 10 'pid$target:a.out:*middle:entry'
called 10 'pid$target:a.out:_ZN6shapes6middleEi:entry'
called 10 'pid$target:a.out:*Square??area:entry'
called 20 'pid$target:a.out:shapes??Square??scaled:entry'
called 10 'pid$target:a.out:shapes??Square??scaled(int)*:entry'
called 10 'pid$target:a.out:*scaled*double*)*:entry'
called 10 'pid$target:a.out:*operator==:entry'
called 20 'pid$target:a.out:*twice<*>:entry'
called 10 'pid$target:a.out:*twice<double>*:entry'
# returns: five of ten are by an exception, which is not an instruction of the function
called 5 'pid$target:a.out:*middle:return'
called 5 'pid$target:a.out:shapes??risky:return'
called 5 'pid$target:libstdc++.so.6:__cxa_throw:entry'
called 5 'pid$target:libstdc++:__cxa_throw:entry'

# shown demangled, without parameters
trace -qn 'pid$target:a.out:_ZN6shapes6middleEi:entry { printf("%s\n", probefunc); exit(0); }' -c "$TMP/shapes"
expect "shapes::middle" "$(grep shapes <<<"$out")" "$err"

# all functions of the program at once, and all returns
trace -qn 'pid$target:a.out:*shapes*:entry { @[probefunc] = count(); } pid$target:a.out:*shapes*:return { @r = count(); }' -c "$TMP/shapes"
expect_match 'caught 5' "$out"
expect 10 "$(awk '$1 == "shapes::risky" { print $2 }' <<<"$out")"

if rustc --version >/dev/null 2>&1; then
	cat >"$TMP/crab.rs" <<'EOT'
mod tank {
    #[inline(never)]
    pub fn feed(n: u64) -> u64 {
        (unsafe { std::ptr::read_volatile(&n) }) + 1
    }
    #[inline(never)]
    pub fn fight(n: u64) -> u64 {
        if (unsafe { std::ptr::read_volatile(&n) }) % 2 == 1 { panic!("odd"); }
        n
    }
}
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut sum = 0;
    let mut lost = 0;
    for i in 0..10 {
        sum += tank::feed(i);
        match std::panic::catch_unwind(|| tank::fight(i)) { Ok(n) => sum += n, Err(_) => lost += 1 }
    }
    println!("lost {} {}", lost, sum > 0);
}
EOT
	rustc -O -g -o "$TMP/crab" "$TMP/crab.rs" 2>"$TMP/err" || { cat "$TMP/err"; exit 1; }
	trace -qn 'pid$target:a.out:*tank??feed:entry { @e = count(); } pid$target:a.out:*tank??feed:return { @r = count(); }
		pid$target:a.out:crab??tank??fight:entry { @f = count(); } pid$target:a.out:crab??tank??fight:return { @g = count(); }' -c "$TMP/crab"
	expect "lost 5 true 10 10 10 5" "$(xargs <<<"$out")" "$err"
fi
