// Integers: small ones are not promoted, constants get a type that holds them, undeclared variables the widest
// type that is assigned to them, declared ones are cut.
// run: -q
int8_t c;
uint32_t u;
unsigned char uc;
signed char sc;
BEGIN
{
	c = 300; u = 5000000000;
	x = 1 << 40; y = (uint32_t)1;
	y = 5000000000;
	printf("%d %d %d %d %d %d\n", c, u, x, y, y == 5000000000, sizeof (1 << 40));
	z = 1;
}
BEGIN { printf("%d ", z); z = 5000000000; }
BEGIN { printf("%d ", z); z = 2; self->q = 1; }
BEGIN { self->q = 1L << 40; printf("%d %d\n", z, self->q); }
/* The widest type counts in clauses before it too, also through other variables and compound assignment. */
BEGIN { w = 1; v = w; u8 = (char)1; a[1] = 1; self->n = (short)1; total = 0; @k[w] = count(); }
BEGIN { printf("%d %d %d %d %d %d ", sizeof (w), sizeof (v), sizeof (u8), sizeof (a[1]), sizeof (self->n), sizeof (total)); }
BEGIN { total += 5000000000; u8 += (short)1; self->n = 1; a[2] = 1L << 40; w = 1; w = 6000000000; v = w; @k[w] = count(); }
BEGIN { printf("%d %d %d\n", total, a[2], v); printa("%d ", @k); }
BEGIN
{
	uc = 254; sc = 3;
	printf("%d %d ", uc + sc, sizeof (uc + sc));
	uc = 2; sc = -3;
	n = uc + sc;
	printf("%d %d %d %d %d %x\n", uc + sc, n, sizeof (~uc), ~uc, uc + 300, '\'');
	exit(0);
}
