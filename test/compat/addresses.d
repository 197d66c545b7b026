// inet_ntoa6() shows an embedded IPv4 address alone; link_ntop() a hardware address.
// run: -q
uint8_t *a;
BEGIN
{
	a = alloca(20);
	printf("%s", inet_ntoa6((void *)a));
	a[15] = 1;
	printf(" %s", inet_ntoa6((void *)a));
	a[15] = 2;
	printf(" %s %s %s\n", inet_ntoa6((void *)a), inet_ntoa6((void *)a, 1), inet_ntop(AF_INET6, a));
	a[12] = 10;
	printf("%s %s", inet_ntoa6((void *)a), inet_ntoa6((void *)a, 0));
	a[10] = 0xff; a[11] = 0xff;
	printf(" %s %s %s\n", inet_ntoa6((void *)a), inet_ntoa6((void *)a, 1), inet_ntop(AF_INET6, a));
	a[0] = 0x20;
	printf("%s\n", inet_ntoa6((void *)a));
	a[1] = 0xab; a[5] = 9;
	printf("%s %s\n", link_ntop(ARPHRD_ETHER, a), link_ntop(ARPHRD_INFINIBAND, a));
	exit(0);
}
