// %Lf and others: a long double, whose format is the CPU's.
// needs: x86-64
// run: -q
BEGIN
{
	this->l = (uint64_t *)alloca(16);
	this->l[0] = 0xc000000000000000;
	this->l[1] = 0x4000;
	printf("%Lf %Le %Lg %LE %LG\n", *(long double *)this->l, *(long double *)this->l, *(long double *)this->l, *(long double *)this->l, *(long double *)this->l);
	print(*(long double *)this->l);
	exit(0);
}
