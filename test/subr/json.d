// json(): an element of a document, as text.
// run: -q
BEGIN
{
	this->d = "{\"a\": 1, \"b\": {\"c\": [10, \"x y\", {\"deep\": true}]}, \"e\": \"q\\\"r\", \"n\": null, \"f\": -1.5e3}";
	printf("%s\n", json(this->d, "a"));
	printf("%s\n", json(this->d, "b.c[0]"));
	printf("%s\n", json(this->d, "b.c[1]"));
	printf("%s\n", json(this->d, "b.c[2].deep"));
	printf("%s\n", json(this->d, "n"));
	printf("%s\n", json(this->d, "f"));
	printf("%d %d %d\n", json(this->d, "zzz") == NULL, json(this->d, "b.c[9]") == NULL, json(this->d, "a.b") == NULL);
	printf("%d\n", json("not json", "a") == NULL);
	printf("%s\n", json("[1, [2, 3]]", "[1][0]"));
	exit(0);
}
