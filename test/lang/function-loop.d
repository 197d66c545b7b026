// Functions with loops: return from inside, values, calls in expressions, conditions and predicates.
#pragma D option quiet

inline int64_t total(int64_t n)
{
	int64_t s = 0;

	while (n)
		s += n--;
	return s;
}

inline int find(string text, int c)
{
	int i;

	for (i = 0; i < strlen(text); i++)
		if (text[i] == c)
			return i;
	return -1;
}

inline string size(int64_t n)
{
	switch (n) {
	case 0: return "none";
	case 1: return "one";
	default:
		if (n < 0)
			return "less";
	}
	return "many";
}

inline int primes(int below)
{
	int n, d, found = 0;

	for (n = 2; n < below; n++) {
		for (d = 2; d * d <= n; d++)
			if (n % d == 0)
				break;
		if (d * d > n)
			found++;
	}
	return found;
}

/* no loop of its own */
inline int64_t twice(int64_t n)
{
	return 2 * total(n);
}

inline void until(int c, string text)
{
	int i;

	for (i = 0; ; i++) {
		switch (text[i]) {
		case 0:
			return;
		default:
			if (text[i] == c)
				return;
		}
		printf("%c", text[i]);
	}
}

BEGIN
{
	printf("%d %d %d\n", total(3) + total(4), total(total(3)), twice(total(2)) - total(1));
	printf("%d %d %d\n", find("hello", 'l'), find("hello", 'z'), primes(30));
	printf("%s %s %s %s\n", size(0), size(1), size(7), size(-3));
	@[size(2)] = sum(total(4));
	until('l', "hello");
	until('!', " all of it");
	printf("|\n");
}

BEGIN /total(3) == 6/ { printf("the predicate holds\n"); }
BEGIN /total(3) == 7/ { printf("this one does not\n"); }

BEGIN
{
	if (total(2) > 5)
		printf("no\n");
	else if (total(3) > 5)
		printf("else if\n");
	for (this->i = 0; total(this->i) < 20; this->i++)
		this->last = this->i;
	printf("%d\n", this->last);
	do {
		if (this->i == 9)
			continue;
	} while (total(++this->i) < 60);
	printf("%d\n", this->i);
	this->n = 0;
	while (find("abc", 'a' + this->n) >= 0)
		this->n++;
	printf("%d\n", this->n);
	switch (primes(10)) {
	case 4: printf("four\n"); break;
	default: printf("other\n");
	}
	this->x = 1 ? 5 : 6;
	exit(total(1) - 1);
}
