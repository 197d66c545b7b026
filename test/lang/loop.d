// while, do, for, break, continue: over aggregations, recording actions and other loops.
// run: -q
BEGIN
{
	for (this->i = 0; this->i < 10; this->i++) {
		if (this->i == 3)
			continue;
		if (this->i == 7)
			break;
		printf("%d ", this->i);
		@[this->i % 2 ? "odd" : "even"] = sum(this->i);
	}
	printf("after %d\n", this->i);
	while (this->i > 4)
		this->i--;
	do {
		printf("do %d\n", this->i);
	} while (this->i++ < 5);
	while (0)
		printf("never\n");
	for (;;) {
		if (this->i > 8)
			break;
		this->i++;
	}
	printf("%d\n", this->i);
}

/* Nested, three deep; break and continue are about the innermost loop. */
BEGIN
/this->i == 9/
{
	for (this->a = 1; this->a <= 3; this->a++) {
		for (this->b = 1; ; this->b++) {
			if (this->b > this->a)
				break;
			this->c = 0;
			do {
				if (this->c == 1)
					continue;
				printf("%d%d%d ", this->a, this->b, this->c);
			} while (++this->c < 3);
		}
		printf("\n");
	}
}

/* Finding a string, and strings in every round. */
BEGIN
{
	this->s = "a,bb,needle,c";
	for (this->n = 1, this->w = strtok(this->s, ","); this->w != NULL; this->w = strtok(NULL, ",")) {
		if (this->w == "needle") {
			printf("word %d\n", this->n);
			break;
		}
		this->n++;
	}
	for (this->n = 0; this->n < 600; this->n++)
		this->w = strjoin("round ", lltostr(this->n));
	printf("%s\n", this->w);
	exit(0);
}
