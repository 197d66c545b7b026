// print(): floating-point numbers in exponent form.
// run: -q
BEGIN
{
	this->d = (uint64_t *)alloca(16);
	this->d[0] = 0x400921fb54442d18;
	print(*(double *)this->d);
	*(uint32_t *)this->d = 0xbfc00000;
	print(*(float *)this->d);
	exit(0);
}
