/* pass: a library that calls back (chain.c, "library"). */
long pass(long (*f)(long), long n);

long pass(long (*f)(long), long n)
{
	volatile long place[3];

	place[2] = n;
	return f(n) + place[2];
}
