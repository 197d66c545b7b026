# timeout: 180
# C++ and Rust: namespaces, base classes, references, objects passed by their address; enums of Rust.
# needs: root bpf
# uses: g++ rustc
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1

if command -v g++ >/dev/null; then
	cat >cxx.cpp <<'END'
#include <cstddef>
#include <cstdio>
#include <string>
struct Base { int base; virtual int f() { return base; } virtual ~Base() {} };
struct Plain { long plain; };
namespace shop { enum class Kind : unsigned char { none, fruit = 7 };
	struct Item { int price; Kind kind; };
	class Cart : public Base, public Plain { public: Item items[2]; const char *owner;
		int total(const Item &extra, int factor) const; }; }
__attribute__((noinline)) int shop::Cart::total(const Item &extra, int factor) const { return (items[0].price + extra.price) * factor; }
__attribute__((noinline)) size_t length(std::string s, int n, shop::Item &&i) { return s.size() + n + i.price; }
int main() {
	shop::Cart c;
	c.base = 11; c.plain = 22; c.owner = "somebody"; c.items[0] = {100, shop::Kind::fruit}; c.items[1] = {200, shop::Kind::none};
	printf("%zu %zu %zu\n", sizeof(shop::Cart), offsetof(shop::Cart, items), sizeof(shop::Item));
	fflush(stdout);
	return c.total(shop::Item{5, shop::Kind::none}, 3) + (int)length(c.owner, 1, {4, shop::Kind::none}) == 0;
}
END
	g++ -g -w -o cxx cxx.cpp || exit 1
	trace -q -c ./cxx -n 'BEGIN { printf("%d %d %d\n", sizeof (pid$target`a.out`shop::Cart), offsetof(pid$target`a.out`struct shop::Cart, items),
		sizeof (pid$target`a.out`struct Item)); }'
	expect "$(./cxx)" "$(grep '^[0-9]' out | sed -n 1p)" "layout, as the program says"
	expect "$(./cxx)" "$(grep '^[0-9]' out | sed -n 2p)" "layout"
	trace -q -c ./cxx -n 'pid$target:a.out:shop??Cart??total:entry {
		printf("%d %d %d %s %d %d\n", args[0]->base, args[0]->plain, args[0]->items[1].price, stringof(args[0]->owner), args[1]->price, args[2]);
		print(args[0]->items[0]); printf("\n"); }
	pid$target:a.out:length:entry { printf("%d %d\n", args[1], args[2]->price); }'
	expect '11 22 200 somebody 5 3
struct Item {
    int price = 0x64
    enum Kind kind = fruit
}
1 4' "$(said | sed 1d)" C++
	# templates: blanks do not matter, arguments that have defaults can be left out; elsewhere < is less than
	cat >tpl.cpp <<'END'
#include <vector>
#include <cstdio>
namespace ns {
template <class T, int N> struct box { T a; T b[N]; };
template <class T> struct outer { struct inner { T z; int q; } i; };
}
ns::box<long, 3> b{7};
ns::outer<ns::box<long, 3>> o;
std::vector<ns::box<long, 3>> v;
int limit = 3;
__attribute__((noinline)) int f(std::vector<int> *x, ns::box<long, 3> *y) { return (int)x->size() + (int)y->a; }
int main()
{
	std::vector<int> i(5);
	printf("%zu %zu %zu %zu\n", sizeof(i), sizeof(b), sizeof(o.i), sizeof(v));
	return f(&i, &b) != 12;
}
END
	g++ -g -O1 -w -o tpl tpl.cpp || exit 1
	trace -q -c ./tpl -n 'BEGIN { printf("%d %d %d %d\n", sizeof (pid$target`a.out`struct std::vector<int>), sizeof (pid$target`a.out`struct ns::box<long int,3>),
		sizeof (pid$target`a.out`struct outer<ns::box<long int,3>>::inner),
		sizeof (pid$target`a.out`struct vector<ns::box<long int, 3>, std::allocator<ns::box<long int, 3> > >)); }
	pid$target:a.out:f:entry { printf("a %d %d %d\n", ((pid$target`a.out`struct box<long int, 3> *)arg1)->a, pid$target`a.out`limit<4 && 5>2, pid$target`a.out`limit < 3); }'
	expect "$(./tpl)" "$(grep '^[0-9]' out | sed -n 1p)" "templates: $err"
	expect "$(./tpl)" "$(grep '^[0-9]' out | sed -n 2p)" "templates: $err"
	expect "a 7 1 0" "$(grep '^a' out)" "templates: $err"
	trace -q -c ./tpl -n 'BEGIN { trace(sizeof (pid$target`a.out`struct vector<shor>)); }'
	expect_match 'there is no struct vector<shor> in tpl' "$err"

	# a damaged file: a class that contains itself, three times over
	printf 'struct A { int a; };\nstruct B { A m1, m2, m3; };\n__attribute__((noinline)) int f(B b) { return b.m1.a; }\nint main() { return f(B{}); }\n' >in.cpp
	g++ -g -O1 -S -dA -o in.s in.cpp || exit 1
	die() { sed -n '/DIE (0x/{s/.*DIE (\(0x[0-9a-f]*\)).*/\1/;h;};/"'"$1"'\\0"/{x;p;q;}' in.s; }
	awk -v a="$(die A)" -v b="$(die B)" '/"m[123]\\0"/ { on = 1 } on && ($1 == ".long" || $1 == ".4byte") && $2 == a { $0 = "\t" $1 "\t" b; on = 0; n++ } 1; END { if (n != 3) exit 1 }' in.s >self.s &&
		g++ -o self self.s || { echo "cannot damage it"; exit 1; }
	trace -lvn 'pid$target:a.out:f*:entry' -c ./self
	expect "0 " "$status $err" "a class that contains itself"
	expect_match 'args\[0\]: struct B' "$out"
fi

if command -v rustc >/dev/null; then
	cat >rs.rs <<'END'
mod geo {
	pub struct Point { pub x: i32, pub y: i64 }
	pub enum Shape { Circle(Point), Square { side: u32 } }
	impl Point { #[inline(never)] pub fn scaled(&self, k: i32) -> i64 { (self.x as i64 + self.y) * k as i64 } }
}
#[inline(never)] fn area(s: &geo::Shape, k: u64) -> u64 {
	match s { geo::Shape::Circle(p) => p.scaled(2) as u64 * k, geo::Shape::Square { side } => *side as u64 * k }
}
fn main() {
	std::process::exit((area(&geo::Shape::Circle(geo::Point { x: 3, y: 4 }), 5) + area(&geo::Shape::Square { side: 6 }, 7) == 0) as i32)
}
END
	if rustc -g -o rs rs.rs 2>why; then
		trace -q -c ./rs -n 'pid$target:a.out:*scaled*:entry { printf("%d %d %d\n", args[0]->x, args[0]->y, args[1]); }
		pid$target:a.out:*scaled*:return { printf("%d\n", args[1]); }
		pid$target:a.out:rs??area*:entry { printf("%d %d\n", args[0]->Square.side, args[1]); }'
		expect_match '^3 4 2$' "$out"
		expect_match '^14$' "$out"
		expect_match '^6 7$' "$out"
		expect "" "$err" Rust
	else
		echo "Rust not checked: $(head -n 1 why)"
	fi
fi
exit $fails
