// Small integers are not promoted: an unsigned result wraps at its width before it is widened, shifted, divided or
// run: -q
// compared. A constant and a variable give the same.
uint8_t b;
uint16_t h;
int i;
int8_t c;

BEGIN
{
	b = 1;
	h = 127;
	i = 8;
	c = -1;
	printf("%x %x\n", ~(uint16_t)127 - (int)8, ~h - i);
	printf("%d %d\n", ~(uint16_t)127 > (int)8, ~h > i);
	printf("%d %d\n", -(uint8_t)1 < (int)0, -b < i - 8);
	printf("%x %x\n", (-(uint8_t)1 >> 4) + (int)8, (-b >> 4) + i);
	printf("%x %x\n", (-(uint8_t)1 / 5) + (int)8, (-b / 5) + i);
	printf("%x %x\n", (-(uint8_t)1 % 7) + (int)8, (-b % 7) + i);
	printf("%x %x\n", ((uint8_t)1 << 8) | (int)8, (b << 8) | i);
	printf("%x %x\n", (uint8_t)1 - (uint8_t)2 + (int)0, b - (uint8_t)2 + (i - 8));
	printf("%d %d\n", (int8_t)-1 - (int)8, c - i);
	i >>= b - (uint8_t)2 + 2;
	printf("%d\n", i);
	exit(0);
}
