// Names of types that scripts from illumos and FreeBSD use: known without a header, as there. A program may repeat the definition.
// run: -q
typedef unsigned short in_port_t;
typedef unsigned long u_long;

BEGIN
{
	printf("%d %d %d %d %d\n", sizeof (uchar_t), sizeof (ushort_t), sizeof (uint_t), sizeof (ulong_t), sizeof (u_longlong_t));
	printf("%d %d %d %d\n", sizeof (u_char), sizeof (u_short), sizeof (u_int), sizeof (u_quad_t));
	printf("%d %d %d %d\n", sizeof (hrtime_t), sizeof (time_t), sizeof (quad_t), sizeof (daddr_t));
	printf("%d %d %d %d\n", sizeof (ipaddr_t), sizeof (in_addr_t), sizeof (in_port_t), sizeof (lwpid_t));
	printf("%d\n", (u_char)-1);
	printf("%d\n", sizeof (u_long));
	exit(0);
}
