# timeout: 400
# usym, ufunc, umod, uaddr and %A: names of addresses of every kind; as keys one row per name; the object in all its forms.
# needs: root bpf gcc
# uses: g++ rustc
. "$SRC/test/lib.bash"
build addresses processes/addresses.c
mine='syscall::getppid:entry /pid == $target/'

# names FLAGS PROGRAM MODES: usym of what the program shows
names() {
	trace -q -c "$2" $1 -n "$mine"' { printf("%A\n", arg0); }'
	expect 0 "$status" "$2: $err"
}

echo 'int library_function(int n) { return n + 2; }' | gcc -O2 -shared -fPIC -o "$TMP/liblater.so" -xc - || exit 1
trace -q -c "$TMP/addresses own libc lib $TMP/liblater.so vdso none" -n "$mine"' {
	usym(arg0); ufunc(arg0); umod(arg0); uaddr(arg0); printf("\n"); }'
expect '  addresses`global_function                           addresses`global_function                           addresses                                           addresses`global_function+0x4                     
  addresses`static_function                           addresses`static_function                           addresses                                           addresses`static_function+0x2                     
  addresses`global_data                               addresses`global_data                               addresses                                           addresses`global_data+0x8                         
  addresses`static_data                               addresses`static_data                               addresses                                           addresses`static_data                             
  libc.so.6`l64a                                      libc.so.6`l64a                                      libc.so.6                                           libc.so.6`l64a+0x3                                
  liblater.so`library_function                        liblater.so`library_function                        liblater.so                                         liblater.so`library_function+0x1                  ' "$(head -n 6 "$TMP/out")"
expect_match '^  \[vdso\]`0x[0-9a-f]+ +\[vdso\]`0x[0-9a-f]+ +\[vdso\] ' "$(sed -n 7p "$TMP/out")"
expect_match '^(  0x(7ff|ffff)[0-9a-f]+ +){4}$' "$(sed -n 8p "$TMP/out")" # the stack
expect "0x10 0x10 0x10 0x10" "$(sed -n 9p "$TMP/out" | xargs)"

# Keys: one row per function and per object, for all processes.
trace -q -c "$TMP/addresses own own fork 7 libc" -n 'syscall::getppid:entry /progenyof($target)/ {
	@s[usym(arg0)] = count(); @m[umod(arg0)] = count(); }
	syscall::getppid:entry /pid == $target/ { @a[uaddr(arg0)] = count(); }
	END { printa("s %A %@d\n", @s); printa("m %A %@d\n", @m); }'
expect 'm addresses 15
m libc.so.6 1
s addresses`global_data 2
s addresses`global_function 9
s addresses`static_data 2
s addresses`static_function 2
s libc.so.6`l64a 1' "$(grep '^[sm] ' "$TMP/out" | sort)" keys
expect_match '^  addresses`global_function\+0x4 +2$' "$out" # uaddr keeps offsets

# ---- forms of objects ----
own='addresses`global_function+0x4
addresses`static_function+0x2
addresses`global_data+0x8
addresses`static_data'
form() { # NAME FLAGS: the same program, built otherwise
	mkdir -p "$TMP/$1"
	build "$1/addresses" processes/addresses.c $2
	names "" "$TMP/$1/addresses own"
	expect "$own" "$(sed '/^$/d' "$TMP/out")" "$1"
}
form nopie '-no-pie -fno-pie'
form static '-static -DSTATIC'
form staticpie '-static-pie -DSTATIC'
form huge '-Wl,-z,max-page-size=0x200000'
form onesegment '-Wl,-z,noseparate-code'

# stripped: only the object is known; with its debug files all is
mkdir -p "$TMP/stripped" "$TMP/debug/.build-id"
build stripped/addresses processes/addresses.c -Wl,--build-id
id=$(readelf -n "$TMP/stripped/addresses" | sed -n 's/.*Build ID: //p')
mkdir -p "$TMP/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug "$TMP/stripped/addresses" "$TMP/debug/.build-id/${id:0:2}/${id:2}.debug"
strip "$TMP/stripped/addresses"
names "" "$TMP/stripped/addresses own"
expect 4 "$(grep -cE '^addresses`0x[0-9a-f]+$' "$TMP/out")" stripped
names "-x debugdir=$TMP/debug" "$TMP/stripped/addresses own"
expect "$own" "$(sed '/^$/d' "$TMP/out")" "debug file by build id"

# names of C++, demangled and mangled
if command -v g++ >/dev/null; then
	cat >"$TMP/cc.cc" <<-'EOT'
		#include <unistd.h>
		#include <sys/syscall.h>
		namespace shop {
		struct till { int sum; __attribute__((noinline)) int add(int n, const char *) { return sum += n; } };
		template <typename T> __attribute__((noinline)) T twice(T t) { return t + t; }
		}
		int main()
		{
			int (shop::till::*add)(int, const char *) = &shop::till::add;
			syscall(SYS_getppid, *(void **)&add);
			syscall(SYS_getppid, (void *)&shop::twice<long>);
		}
	EOT
	g++ -O1 -o "$TMP/cc" "$TMP/cc.cc" || exit 1
	names "" "$TMP/cc"
	expect 'cc`shop::till::add(int, char const*)
cc`long shop::twice<long>(long)' "$(sed '/^$/d' "$TMP/out")" "C++"
	names "-x mangled" "$TMP/cc"
	expect 'cc`_ZN4shop4till3addEiPKc
cc`_ZN4shop5twiceIlEET_S1_' "$(sed '/^$/d' "$TMP/out")" "-x mangled"
fi
if [ "${SLOW:-1}" = 1 ] && rustc=$(command -v rustc || ls /root/.cargo/bin/rustc 2>/dev/null); then
	cat >"$TMP/rust.rs" <<-'EOT'
		mod shop { #[inline(never)] pub fn add(n: u64) -> u64 { (unsafe { std::ptr::read_volatile(&n) }) + 1 } }
		extern "C" { fn syscall(n: i64, a: *const ()) -> i64; }
		fn main() { unsafe { syscall(110, shop::add as *const ()); } std::process::exit((shop::add(1) == 7) as i32); }
	EOT
	for mangling in legacy v0; do
		"$rustc" -C symbol-mangling-version=$mangling -o "$TMP/rust" "$TMP/rust.rs" 2>"$TMP/err" ||
			"$rustc" -Z unstable-options -C symbol-mangling-version=$mangling -o "$TMP/rust" "$TMP/rust.rs" 2>>"$TMP/err" || continue
		names "" "$TMP/rust"
		expect 'rust`rust::shop::add' "$(sed '/^$/d' "$TMP/out")" "Rust $mangling"
	done
fi

# a function that ends in a call that never returns: the caller is that function, not the next one
cat >"$TMP/last.c" <<'EOT'
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline, noreturn)) static void leave(int n) { syscall(SYS_getppid, n); exit(0); }
#ifdef __x86_64__
#define CALLS "push %rbp\n mov %rsp, %rbp\n call leave_now\n"
#else
#define CALLS "stp x29, x30, [sp, -16]!\n mov x29, sp\n bl leave_now\n"
#endif
__asm__(".globl last\n.type last, @function\nlast: " CALLS ".size last, . - last\n"
	".globl after\n.type after, @function\nafter: ret\n.size after, 1\n");
void leave_now(void); void leave_now(void) { leave(1); }
void last(void);
int main(void) { last(); return 0; }
EOT
gcc -O1 -fno-omit-frame-pointer -o "$TMP/last" "$TMP/last.c" || exit 1
trace -q -c "$TMP/last" -n "$mine { ustack(); }"
expect_match 'last`last\+0x[9c]$' "$out"
expect 0 "$(grep -c 'last`after' "$TMP/out")"
