# timeout: 300
# What a process of -p loads or executes after its probes were created and before tracing begins: it is seen when the process is
# held, so that no call after that is missed.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
! sanitized || skip "a sanitized build takes no LD_PRELOAD"
build held.so processes/held.c -shared -fPIC -ldl
cat >"$TMP/plug.c" <<'EOT'
int plugged(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }
EOT
cat >"$TMP/host.c" <<'EOT'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) int work(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }
static void await(const char *file) { while (access(file, F_OK) < 0) usleep(1000); }
static void tell(const char *file) { close(open(file, O_CREAT | O_WRONLY, 0600)); }
int main(int argc, char **argv)
{
	int (*call)(int) = work, n = 0;

	if (argc > 1 && strcmp(argv[1], "again") != 0) {
		await("change");
		if (strcmp(argv[1], "exec") == 0)
			execl("./other", "./other", "again", (char *)NULL);
		call = (int (*)(int))dlsym(dlopen("./libplug.so", RTLD_NOW), "plugged");
	}
	tell("changed");
	await("go"); /* it comes while this process is held */
	for (int i = 0; i < 1000; i++)
		n = call(n);
	return n != 1000;
}
EOT
cd "$TMP" || exit 1
gcc -O2 -shared -fPIC -o libplug.so plug.c && gcc -O2 -o host host.c -ldl && cp host other || exit 1
cat >change.sh <<'EOT'
#!/bin/bash
unset LD_PRELOAD
touch change
for i in {1..1000}; do [ ! -e changed ] || exit 0; sleep 0.02; done
EOT
chmod +x change.sh

for how in load exec; do
	rm -f change changed go
	./host $how &
	host=$!
	at_end "kill $host 2>/dev/null"
	HELD_BEFORE=./change.sh HELD_DURING='touch go' HELD_NTH=2 LD_PRELOAD=./held.so ktrace -Zqp $host -n '
		pid$target:libplug.so:plugged:entry, pid$target:other:work:entry { @[probefunc] = count(); }
		pid$target:libplug.so:plugged:return, pid$target:other:work:return { @[probefunc] = count(); }
		END { printa("%s %@d\n", @); }'
	wait $host
	expect 0 $? "$how: its status"
	if [ $how = load ]; then expect "plugged 2000" "$(sorted)" "load: $err"; else expect "work 2000" "$(sorted)" "exec: $err"; fi
done
