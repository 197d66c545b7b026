// %p prints hexadecimal without 0x.
// run: -q
BEGIN
{
	printf("%p\n", (void *)0x1234);
	printf("%p\n", 255);
	printf("%p\n", NULL);
	exit(0);
}
