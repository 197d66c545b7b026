# -h: a header that needs no post-link step, compiles as C and C++, and leaves ELF notes.
# needs gcc, g++, readelf
# needs: gcc g++ readelf
# uses: clang
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
cat >my.d <<'D'
typedef struct conn { int fd; } conn_t;
provider my_serv {
	probe query__start(char *text, int client);
	probe query__done(uint64_t rows, conn_t *c, short s, unsigned char u);
	probe idle();
};
D
dt -h -s my.d
expect "0 " "$status $err"
[ -f my.h ] || { echo "no my.h"; exit 1; }
cat >a.c <<'C'
#include <stdio.h>
#include "my.h"
int fire(const char *text, int client);
int fire(const char *text, int client)
{
	int enabled = MY_SERV_QUERY_START_ENABLED();

	MY_SERV_QUERY_START(text, client);
	if (MY_SERV_QUERY_DONE_ENABLED())
		MY_SERV_QUERY_DONE(client * 2u, text, 3, 'x');
	MY_SERV_IDLE();
	return enabled;
}
C
cat >b.c <<'C'
#include <stdio.h>
#include "my.h"
#ifdef __cplusplus
extern "C" int fire2(void);
#else
int fire2(void);
#endif
int fire2(void)
{
	MY_SERV_IDLE();
	return MY_SERV_IDLE_ENABLED();
}
C
cat >main.c <<'C'
#include <stdio.h>
int fire(const char *text, int client);
int fire2(void);
int main(void)
{
	printf("%d %d\n", fire("select", 7), fire2());
	return 0;
}
C
W="-Wall -Wextra -Werror -pedantic"
for opt in -O0 -O2; do
	gcc $W $opt -c a.c main.c && g++ $W $opt -x c++ -c b.c && gcc -pie -o prog a.o b.o main.o || fails=1
	expect "0 0" "$(./prog)" "$opt"
	notes=$(readelf -n prog)
	expect 4 "$(grep -c 'Provider: my_serv' <<<"$notes")"
	expect_match 'Name: query__start' "$notes"
	expect_match 'Arguments: 8@[^ ]+ -4@[^ ]+$' "$notes"
	expect_match 'Arguments: 8@[^ ]+ 8@[^ ]+ -2@[^ ]+ 1@[^ ]+$' "$notes"
	# both objects share one semaphore per probe
	expect 3 "$(readelf -sW prog | grep -c '_semaphore$')"
done
# clang accepts it as well
! command -v clang >/dev/null || clang $W -O2 -c a.c -o clang.o || fails=1
# compiled out
gcc $W -O2 -D_DTRACE_VERSION=0 -c a.c -o none.o || fails=1
expect "" "$(readelf -n none.o | grep my_serv)"
# -o names the header; what cannot be passed is refused
dt -h -s my.d -o other.h
cmp my.h other.h || fails=1
echo 'provider p { probe f(double d); };' >f.d
dt -h -s f.d
expect 1 "$status"
expect_match 'failed to create header for f.d: .*integers and pointers' "$err"
