// Words that only D reserves can be members and tags, as C headers and the kernel use them.
// run: -q
struct probe {
	int probe, provider, self, string, stringof, this, translator, userland, xlate, counter, import;
} x;

BEGIN
{
	x.probe = 1;
	x.self = 2;
	x.string = 3;
	x.xlate = 4;
	printf("%d %d %d %d\n", x.probe, x.self, x.string, x.xlate);
	printf("%d %d\n", offsetof(struct probe, string), sizeof (struct probe));
	exit(0);
}
