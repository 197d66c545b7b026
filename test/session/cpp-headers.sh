# -C with headers of the C library: types, constants and places.
# needs: cpp
# uses: gcc
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
for h in sys/types.h stdint.h netinet/in.h linux/tcp.h linux/signal.h signal.h sys/stat.h errno.h regex.h pthread.h \
	stdio.h stdlib.h elf.h linux/bpf.h; do
	[ -f /usr/include/$h ] || [ -f /usr/include/$(uname -m)-linux-gnu/$h ] || continue
	printf '#include <%s>\nBEGIN { exit(0); }\n' $h >h.d
	dt -Cqs h.d
	expect "0 " "$status $err" "<$h>"
done
cat >a.d <<'D'
#pragma D option quiet
#include <netinet/in.h>
#include <linux/tcp.h>
#include <signal.h>
#include <sys/stat.h>
BEGIN
{
	this->a = (struct sockaddr_in *)alloca(sizeof (struct sockaddr_in));
	this->a->sin_family = AF_INET6;
	this->a->sin_port = htons(80);
	printf("%d %x %d\n", this->a->sin_family, this->a->sin_port, IPPROTO_UDP);
	this->t = (struct tcphdr *)alloca(sizeof (struct tcphdr));
	this->t->syn = 1;
	this->t->doff = 5;
	printf("%d %d %d %x\n", this->t->syn, this->t->ack, this->t->doff, ((uint8_t *)this->t)[12]);
	printf("%d %d %o\n", SIGTERM, TCP_ESTABLISHED, S_IFDIR);
	exit(0);
}
D
dt -Cs a.d
expect "" "$err"
expect "10 5000 17
1 0 5 50
15 1 40000" "${out%$'\n\n'}"
# sizes are those of the C compiler
if command -v gcc >/dev/null; then
	types="struct stat|siginfo_t|struct sigaction|struct sockaddr_in6|struct tcp_info|sigset_t|union sigval|pthread_mutex_t"
	inc='#include <sys/stat.h>
#include <signal.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <pthread.h>'
	list() { tr '|' '\n' <<<"$types" | sed "s/.*/printf(\"%d \", (int)sizeof (&));/"; }
	printf '%s\n#include <stdio.h>\nint main() { %s }\n' "$inc" "$(list)" >s.c
	gcc -o s s.c || exit 1
	printf '%s\nBEGIN { %s exit(0); }\n' "$inc" "$(list)" >s.d
	dt -Cqs s.d
	expect "$(./s)" "${out%$'\n'}" "sizeof"
fi
# <errno.h> makes errno a macro; it stays D's variable
printf '#include <errno.h>\nBEGIN { printf("%%d %%d\\n", errno == 0, ENOENT); exit(0); }\n' >e.d
dt -Cqs e.d
expect "1 2" "$(echo $out)"
# mistakes in a header are reported there
printf '#include "bad.h"\nBEGIN { exit(0); }\n' >b.d
printf 'int good;\nstruct bad { no_such_t x; };\n' >bad.h
dt -C -x errtags -s b.d
expect_match '\[D_DECL_IDENT\] "bad.h", line 2: ' "$err"
