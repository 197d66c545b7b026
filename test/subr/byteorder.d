// htons and friends.
// run: -q
BEGIN
{
	printf("%x\n", htons(0x1234));
	printf("%x\n", htonl(0x12345678));
	printf("%x\n", htonll(0x123456789abcdef0));
	printf("%x\n", ntohs(htons(0x1234)));
	printf("%x\n", ntohl(htonl(0x12345678)));
	printf("%x\n", ntohll(htonll(0x123456789abcdef0)));
	printf("%x\n", htons((x = 0x56781234)));
	exit(0);
}
