// inet_ntoa, inet_ntoa6, inet_ntop: addresses as text.
// run: -q
struct in6 { uint8_t b[16]; };
uint32_t *v4;
uint8_t *v6;

BEGIN
{
	v4 = alloca(4);
	*v4 = htonl(0x7f000001);
	v6 = alloca(16);
	v6[0] = 0xfe;
	v6[1] = 0x80;
	v6[15] = 1;
	printf("%s %s\n", inet_ntoa(v4), inet_ntop(2, v4));
	printf("%s %s\n", inet_ntoa6((void *)v6), inet_ntop(10, v6));
	v6[0] = 0; v6[1] = 0; v6[15] = 0;
	printf("%s\n", inet_ntoa6((void *)v6));
	v6[10] = 0xff; v6[11] = 0xff; v6[12] = 10; v6[13] = 0; v6[14] = 0; v6[15] = 1;
	printf("%s\n", inet_ntoa6((void *)v6));
	v6[0] = 0x20; v6[1] = 1; v6[2] = 0xd; v6[3] = 0xb8; v6[10] = 0; v6[11] = 0; v6[12] = 0; v6[13] = 0;
	printf("%s\n", inet_ntoa6((void *)v6));
	exit(0);
}
