#!/usr/sbin/dtrace -s
// run: -e
/* The script's own types laid over memory of the traced program. */

typedef struct header {
	uint8_t version:4,
	    length:4;
	uint8_t kind;
	uint16_t total;
	union {
		uint32_t word;
		uint8_t byte[4];
	} id;
	struct header *next;
	char name[16];
} header_t;

enum kind { KIND_HELLO = 1, KIND_DATA, KIND_BYE = 0x7f };

this header_t *h;

syscall::sendto:entry
/arg2 >= sizeof (header_t)/
{
	this->h = (header_t *)copyin(arg1, sizeof (header_t));
	@[this->h->kind == KIND_HELLO ? "hello" : this->h->kind == KIND_DATA ? "data" : "bye",
	    this->h->version, this->h->id.byte[3]] = count();
	printf("%s at %d, total %hu", stringof(this->h->name), offsetof(header_t, id), this->h->total);
}
